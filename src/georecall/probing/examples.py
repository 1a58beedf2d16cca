"""Real tables that are shipped with the package, with their templates (`examples/probing` says where from)."""

from importlib.resources import as_file, files
from typing import Literal, get_args

from georecall.errors import ProbingError
from georecall.facts.readers import read_table
from georecall.facts.table import FactTable
from georecall.language_models.templates import Templates, read_templates

Example = Literal["countries", "elements", "cities"]
EXAMPLES: tuple[Example, ...] = get_args(Example)


def load_example(name: str) -> tuple[FactTable, Templates]:
    """The table and the templates of an example.

    Raises:
        ProbingError: there is no such example.
    """
    if name not in EXAMPLES:
        raise ProbingError(f"expected an example among {', '.join(EXAMPLES)}, got {name!r}")
    with as_file(files("georecall.probing") / "tables") as folder:
        table = read_table(folder / f"{name}.csv")
        return table, read_templates(folder / f"{name}.json", table.relations)
