"""What `edit` and `forget` share: change one fact of a folder and say what became of it."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from georecall.cli.output import UNKNOWN_ANSWER, Styled, print_json, print_line

if TYPE_CHECKING:
    from georecall.memory import FactMemory

SubjectArgument = Annotated[str, typer.Argument(help="Whom or what the fact is about.", show_default=False)]
RelationArgument = Annotated[str, typer.Argument(help="Which of its facts.", show_default=False)]


def rewrite(
    memory: Path,
    change: Callable[["FactMemory"], "FactMemory"],
    subject: str,
    relation: str,
    output: Path | None,
    force: bool,
    json: bool,
) -> None:
    """Load, change, write (in place unless an output is given), and print the answer before and after."""
    from georecall.memory import FactMemory
    from georecall.memory.folder import check_is_folder, check_output
    from georecall.storage.folders import claimed

    target = output or memory
    if output is not None:
        check_output(output, replace=force)
    check_is_folder(memory)
    in_place = target.resolve() == memory.resolve()
    with claimed(memory) if in_place else nullcontext():  # else an edit made meanwhile would be lost
        old = FactMemory.load(memory)
        new = change(old)
        before, after = old.ask(subject, relation), new.ask(subject, relation)
        new.save(target, replace=force or in_place)
    if json:
        print_json(
            {
                "subject": after.subject,
                "relation": after.relations[0],
                "before": before.answer,
                "after": after.answer,
                "folder": str(target),
            }
        )
        return
    print_line(
        f"{after.subject} –{after.relations[0]}→ ",
        Styled(after.answer or UNKNOWN_ANSWER, "bold"),
        Styled(f" (was {before.answer or UNKNOWN_ANSWER})", "dim"),
    )
