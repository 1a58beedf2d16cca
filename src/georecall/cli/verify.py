"""`georecall verify`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.output import (
    LISTED,
    UNKNOWN_ANSWER,
    JsonOption,
    MemoryArgument,
    print_heading,
    print_json,
    print_pairs,
    print_table,
)
from georecall.cli.progress import progress_bars

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
    right = "every fact and chain is exact" if certificate.exact else "no step that was asked is wrong"
    return {
        "verdict": right if result.ok else "FAILED",
        **_known(result),
        "asked": f"{result.asked:,} cells of the table; least margin {result.least_margin:.3f}",
        "generated": f"{result.chains:,} chains",
    }


def _known(result: "Verification") -> dict[str, str]:
    """What the certificate says of the stored weights."""
    certificate = result.certificate
    bound = f"margin at least {certificate.margin:.3f} in {certificate.dtype}"
    if certificate.basis != "proved":
        share = f"{certificate.asked:,} of {certificate.steps:,} steps, under both attention kernels"
        return {"steps": f"{share}; {bound}" if certificate.holds else f"{share}; FAILED, {bound}"}
    if result.altered_rows:
        return {"proved": "nothing: weights were altered"}
    return {"proved": f"{result.facts:,} facts; {bound}" if certificate.exact else f"nothing: {bound}"}


def _wrong(result: "Verification") -> list[tuple[str, ...]]:
    return [
        (failed.subject, _chain(failed.relations), _chain(failed.expected), _chain(failed.found))
        for failed in result.failures
    ]


def _list(title: str, columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    if rows:
        limit = f", the first {LISTED} of them" if len(rows) > LISTED else ""
        print_heading(f"{len(rows):,} {title}{limit}")
        print_table(columns, rows[:LISTED])


def _chain(path: Sequence[str | None]) -> str:
    return " → ".join(name or UNKNOWN_ANSWER for name in path)
