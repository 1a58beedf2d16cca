"""The recipe study of docs/transfer.md: which way of training lets new facts be swapped in.

    python examples/transfer_recipes.py study/ [--small]

A cell trains an ensemble on one world and swaps five others into it, by both solvers. The sweep resumes; at the end
it prints a table and draws `recipes.html` and `recipes.png` in the folder. `--small` is a trial of a minute.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from joblib import cpu_count

from georecall.claims.recipes import coded, plain
from georecall.cli.output import progress_bars
from georecall.figures.saving import save_figure
from georecall.figures.transfer import recipe_figure, transfer_rows
from georecall.sweeps import ProcessEngine, run_sweep
from georecall.training.config import TrainConfig
from georecall.transfer.transfer_cell import TransferCell


def cell(n: int, r: int, recipe: str, training: TrainConfig, **changes: Any) -> TransferCell:
    """A recipe with some settings changed; the width stays 4d."""
    if "dim" in changes:
        changes["width"] = 4 * changes["dim"]
    settings = TrainConfig(**training.model_dump() | changes)
    return TransferCell(n_subjects=n, n_relations=r, recipe=recipe, training=settings)


def study(n: int, relations: tuple[int, ...], seeds: int) -> Iterator[TransferCell]:
    """All cells: the two recipes, each ingredient alone and left out, the attribute dimension, and d at full rank."""
    for r in relations:
        yield cell(n, r, "plain", plain(r, preset="quick", seeds=seeds))
        yield cell(n, r, "coded", coded(r, preset="quick", seeds=seeds))
    r = 4
    bare, code = plain(r, preset="quick", seeds=seeds), coded(r, preset="quick", seeds=seeds)
    for name in ("attribute_dim", "embedding_noise", "label_smoothing", "weight_decay"):
        yield cell(n, r, f"plain, with {name}", bare, **{name: getattr(code, name)})
        yield cell(n, r, f"coded, without {name}", code, **{name: getattr(bare, name)})
    for a in (4, 6, 12, 16, 24, 32):
        yield cell(n, r, f"coded, a = {a}", code, attribute_dim=a)
    for dim in (24, 32, 48, 128):
        yield cell(n, r, f"coded, d = {dim}", code, dim=dim)
    yield cell(n, r, "coded, learned attention", code, attention="learned")
    yield cell(n, r, "coded, residual", code, attention="learned", residual=True, attribute_dim=None)
    for r in relations[:3]:
        bare = plain(r, preset="quick", seeds=seeds)
        yield cell(n, r, "plain, d doubled", bare, dim=2 * bare.dim)


def markdown(found: list[dict[str, Any]]) -> str:
    """The table of docs/transfer.md."""
    lines = ["| R | recipe | d | a | ridge | selector | random | R·rank/d |", "|---" * 8 + "|"]
    for ridge, selector in zip(found[::2], found[1::2], strict=True):
        lines.append(
            f"| {ridge['n_relations']} | {ridge['recipe']} | {ridge['dim']} | {ridge['attribute_dim']} "
            f"| {shown(ridge)} | {shown(selector)} | {ridge['random']:.4f} | {ridge['interference']:.2f} |"
        )
    return "\n".join(lines)


def shown(row: dict[str, Any]) -> str:
    """Accuracy with its interval over seeds."""
    return f"{row['accuracy']:.3f} ({row['low']:.3f} … {row['high']:.3f})"


def main() -> None:
    """Run the study, or take it over, and show it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--small", action="store_true", help="N = 64, R = 2, 4, one seed")
    arguments = parser.parse_args()
    size: tuple[int, tuple[int, ...], int] = (64, (2, 4), 1) if arguments.small else (1024, (2, 4, 8, 16), 3)
    cells = list(study(*size))
    with progress_bars() as progress:
        run_sweep(cells, arguments.folder, engine=ProcessEngine(cpu_count()), progress=progress)
    found = transfer_rows(one.measured_in(arguments.folder) for one in cells)
    print(markdown(found))
    for suffix in (".html", ".png"):
        save_figure(recipe_figure(found), arguments.folder / f"recipes{suffix}")


if __name__ == "__main__":
    main()
