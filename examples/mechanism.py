"""Draw the picture of the mechanism in the README: how a memory of the family recalls the wife of Alice.

    python examples/mechanism.py

It writes `mechanism.svg` and `mechanism.png` to docs/figures.
"""

from pathlib import Path

from georecall import FactMemory, read_table
from georecall.figures.mechanism import mechanism_figure
from georecall.figures.saving import save_figure

ROOT = Path(__file__).parents[1]


def draw(folder: Path) -> None:
    """Write both files to a folder."""
    memory = FactMemory.compile(read_table(ROOT / "examples" / "family.csv"))
    figure = mechanism_figure(memory, "Alice", "wife")
    for suffix in (".svg", ".png"):
        save_figure(figure, folder / f"mechanism{suffix}")


if __name__ == "__main__":
    draw(ROOT / "docs" / "figures")
