"""`georecall verify`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from georecall.cli.output import (
    LISTED,
    JsonOption,
    MemoryArgument,
    out,
    print_json,
    print_pairs,
    print_table,
    progress_bars,
)
from georecall.facts.names import shown

if TYPE_CHECKING:
    from georecall.memory import Verification


def run(
    memory: MemoryArgument,
    chains: Annotated[int, typer.Option(min=0, help="Random chains to send through `generate`.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the chains.")] = 0,
    json: JsonOption = False,
) -> None:
    """Check every fact, and sampled chains up to the hop limit; exit code 1 and a list if any fails.

    Example: `georecall verify memory/ --chains 5000`
    """
    from georecall.memory import FactMemory

    loaded = FactMemory.load(memory)
    with progress_bars() as progress:
        result = loaded.verify(chains=chains, seed=seed, progress=progress)
    if json:
        print_json(result.to_dict())
    else:
        print_pairs(_summary(result))
        _list("altered rows", ("row",), [(row,) for row in result.altered_rows])
        _list("answers wrong or tied", ("subject", "relations", "expected", "found"), _wrong(result))
    if not result.ok:
        raise typer.Exit(1)


def _summary(result: "Verification") -> dict[str, str]:
    certificate = result.certificate
    bound = f"margin at least {certificate.margin:.3f} in {certificate.dtype}"
    proved = certificate.exact and not result.altered_rows
    return {
        "verdict": "every fact and chain is exact" if result.ok else "FAILED",
        "proved": f"{result.facts:,} facts; {bound}" if proved else "nothing: weights were altered",
        "asked": f"{result.asked:,} cells of the table; least margin {result.least_margin:.3f}",
        "generated": f"{result.chains:,} chains",
    }


def _wrong(result: "Verification") -> list[tuple[str, ...]]:
    return [
        (shown(failed.subject), _chain(failed.relations), _chain(failed.expected), _chain(failed.found))
        for failed in result.failures
    ]


def _list(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if rows:
        limit = f", the first {LISTED} of them" if len(rows) > LISTED else ""
        out.print(Text(f"\n{len(rows):,} {title}{limit}", style="bold"))
        print_table(columns, rows[:LISTED])


def _chain(path: Sequence[str | None]) -> str:
    return " → ".join(map(shown, path))
