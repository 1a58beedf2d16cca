"""What a judge returns: a verdict, and what was measured in each world, as named quantities."""

from collections.abc import Iterable, Sequence
from typing import Literal

from georecall.records import Record
from georecall.statistics.quantities import Quantity

Verdict = Literal["holds", "fails", "undecided", "skipped", "not measured"]
VERDICTS: tuple[Verdict, ...] = ("holds", "fails", "undecided", "skipped", "not measured")


class Finding(Record):
    """What was measured in one world, or in all of them together, and whether it meets the criterion there.

    `met` is None where it cannot be said. A world that is not `judged` is stated beside the others.
    """

    world: str = ""
    met: bool | None = None
    judged: bool = True
    quantities: tuple[Quantity, ...] = ()
    note: str = ""

    @property
    def statements(self) -> tuple[str, ...]:
        """Each quantity in words, and the note."""
        words = tuple(quantity.words for quantity in self.quantities)
        return (*words, self.note) if self.note else words


class Judgement(Record):
    """A verdict, the figure that a summary shows, and everything that was measured."""

    verdict: Verdict
    key: str
    findings: tuple[Finding, ...]

    @classmethod
    def of(cls, findings: Sequence[Finding], *, key: str) -> "Judgement":
        """With the verdict that the worlds give."""
        return cls(verdict=verdict_of(findings), key=key, findings=tuple(findings))

    @classmethod
    def saying(cls, verdict: Verdict, key: str, *more: str) -> "Judgement":
        """One in words alone, where there is nothing to judge."""
        return cls(verdict=verdict, key=key, findings=tuple(Finding(note=note) for note in (key, *more)))

    @property
    def measured(self) -> str:
        """Everything in words: the worlds in brackets, each followed by its statements."""
        said = []
        for finding in self.findings:
            statements = "; ".join(finding.statements)
            said.append(f"[{finding.world}] {statements}" if finding.world else statements)
        return "; ".join(said)


def verdict_of(findings: Iterable[Finding]) -> Verdict:
    """Holds if every judged world meets the criterion, fails if one does not; undecided if none can say."""
    decided = [finding.met for finding in findings if finding.judged and finding.met is not None]
    if not decided:
        return "undecided"
    return "holds" if all(decided) else "fails"
