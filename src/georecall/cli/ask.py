"""`georecall ask`."""

from typing import Annotated

import typer
from rich.text import Text

from georecall.cli.output import JsonOption, MemoryArgument, out, print_json
from georecall.facts.names import shown


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

    answer = FactMemory.load(memory).ask(subject, *relations)
    if json:
        print_json(answer.to_dict())
        return
    line = Text(shown(answer.subject))
    for relation, entity in zip(answer.relations, answer.path, strict=True):
        line.append(f" –{shown(relation)}→ ", style="cyan")
        line.append(shown(entity), style="italic" if entity is None else "bold")
    out.print(line)
    out.print(Text(f"margins {', '.join(f'{margin:.2f}' for margin in answer.margins)}", style="dim"))
