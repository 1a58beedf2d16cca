"""What `edit` and `forget` share: change one fact of a folder and say what became of it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from georecall.cli.output import out, print_json
from georecall.facts.names import shown

if TYPE_CHECKING:
    from georecall.memory import FactMemory


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
    from georecall.memory.folder import check_output

    target = output or memory
    replace = force or output is None
    check_output(target, replace=replace)
    old = FactMemory.load(memory)
    new = change(old)
    before, after = old.ask(subject, relation), new.ask(subject, relation)
    new.save(target, replace=replace)
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
    line = Text(f"{shown(after.subject)} –{shown(after.relations[0])}→ ")
    line.append(shown(after.answer), style="bold")
    line.append(f" (was {shown(before.answer)})", style="dim")
    out.print(line)
