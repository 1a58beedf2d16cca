"""`georecall ask`."""

from typing import Annotated

import typer

from georecall.cli.output import UNKNOWN_ANSWER, JsonOption, MemoryArgument, Styled, print_json, print_line


def run(
    memory: MemoryArgument,
    subject: Annotated[str, typer.Argument(help="Whom or what to ask about.", show_default=False)],
    relations: Annotated[
        list[str],
        typer.Argument(
            help="Relations, in the order followed; -- goes before names that begin with -.",
            show_default=False,
        ),
    ],
    json: JsonOption = False,
) -> None:
    """Ask a memory for a chain of relations, and show each step with its margin.

    Example: `georecall ask memory/ Alice wife mother`
    """
    from georecall.memory import FactMemory

    answer = FactMemory.open(memory).ask(subject, *relations)
    if json:
        print_json(answer.to_dict())
        return
    path = [Styled(name or UNKNOWN_ANSWER, "bold" if name else "italic") for name in answer.path]
    steps = [Styled(f" –{relation}→ ", "cyan") for relation in answer.relations]
    print_line(answer.subject, *(part for step in zip(steps, path, strict=True) for part in step))
    print_line(Styled(f"margins {', '.join(f'{margin:.2f}' for margin in answer.margins)}", "dim"))
