"""`georecall verify`."""

from typing import Annotated

import typer

from georecall.cli.output import (
    JsonOption,
    MemoryArgument,
    err,
    print_json,
    print_pairs,
    print_table,
    progress_bars,
)

LISTED = 20


def run(
    memory: MemoryArgument,
    chains: Annotated[int, typer.Option(min=0, help="Random chains to send through `generate`.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the chains.")] = 0,
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
        print_pairs(
            {
                "verdict": "every fact and chain is exact" if result.ok else "FAILED",
                "proved": f"{result.facts:,} facts; margin at least {result.certificate.margin:.3f} "
                f"in {result.certificate.dtype}",
                "asked": f"{result.asked:,} cells of the table; least margin {result.least_margin:.3f}",
                "generated": f"{result.chains:,} chains",
            }
        )
    for row in result.altered_rows[:LISTED]:
        err.print(f"altered: {row}", markup=False)
    if result.failures:
        print_table(
            ("subject", "relations", "expected", "found"),
            (
                (
                    failure.subject,
                    " ".join(failure.relations),
                    _chain(failure.expected),
                    _chain(failure.found),
                )
                for failure in result.failures
            ),
        )
    if not result.ok:
        raise typer.Exit(1)


def _chain(path: tuple[str | None, ...]) -> str:
    return " → ".join("unknown" if entity is None else entity for entity in path)
