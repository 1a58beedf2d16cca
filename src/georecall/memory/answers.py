"""What a memory returns when it is asked or verified."""

from dataclasses import asdict, dataclass
from typing import Any

from georecall.constructions.certificate import Certificate


@dataclass(frozen=True, kw_only=True)
class Answer:
    """The chain of entities that a memory emitted: one entry for each hop, None where the fact is unknown.

    `margins` holds, for each hop, the lead of the emitted token's score over the second best.
    """

    subject: str
    relations: tuple[str, ...]
    path: tuple[str | None, ...]
    margins: tuple[float, ...]

    @property
    def answer(self) -> str | None:
        """The last entity of the path; None when unknown."""
        return self.path[-1]

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `answer`."""
        return asdict(self) | {"answer": self.answer}


@dataclass(frozen=True, kw_only=True)
class FailedQuery:
    """A question that was not answered as the table says."""

    subject: str
    relations: tuple[str, ...]
    expected: tuple[str | None, ...]
    found: tuple[str | None, ...]


@dataclass(frozen=True, kw_only=True)
class Verification:
    """The outcome of `FactMemory.verify`.

    `altered_rows` names the rows of the embedding and the unembedding that are not what the table says, and the
    other tensors that are not what the construction says; with none, and with a certificate that holds, all
    `facts` and all chains are proved; of a rotated memory every step was asked, or a sample, as the certificate
    says. `asked` facts were asked one by one with
    scores over the whole vocabulary, `chains` went through the stock model's `generate`; `failures` are the
    questions among them that were answered wrongly, or with a tie.
    """

    facts: int
    asked: int
    chains: int
    least_margin: float
    certificate: Certificate
    altered_rows: tuple[str, ...]
    failures: tuple[FailedQuery, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is altered, nothing failed, and the certificate holds."""
        return not self.altered_rows and not self.failures and self.certificate.holds

    def to_dict(self) -> dict[str, Any]:
        """The fields, with `ok`."""
        return asdict(self) | {"certificate": self.certificate.to_dict(), "ok": self.ok}
