"""What a language model is shown: a template with a subject, examples before it, an answer after it."""

from dataclasses import dataclass

from georecall.errors import ProbingError
from georecall.facts.names import WHITE_SPACE
from georecall.language_models.spans import Span

PLACE = "{subject}"


@dataclass(frozen=True)
class Template:
    """A text with one place for a subject; braces elsewhere are text like any other.

    Raises:
        ProbingError: `{subject}` is missing, or stands there more than once.
    """

    text: str

    def __post_init__(self) -> None:
        """Count the places."""
        found = self.text.count(PLACE)
        if found != 1:
            raise ProbingError(
                f"expected a template with {PLACE} exactly once, got {self.text!r} with {found}"
            )

    def render(self, subject: str, *, text_before: str = "") -> "Prompt":
        """The text with the subject in its place, after `text_before`."""
        before, _, after = self.text.partition(PLACE)
        start = len(text_before) + len(before)
        return Prompt(text=f"{text_before}{before}{subject}{after}", subject=(start, start + len(subject)))


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """A text, and where in it the subject stands: the place of the template, not any other mention of the name."""

    text: str
    subject: Span

    def answered(self, answer: str, *, answer_prefix: str = " ") -> "AnsweredPrompt":
        """The prompt without white space at its end, then the prefix and the answer.

        In running text the prefix is a space; compiled memories mark names by `␟` instead.
        """
        end = self.subject[1]
        text = self.text[:end] + self.text[end:].rstrip(WHITE_SPACE) + answer_prefix
        return AnsweredPrompt(
            text=text + answer, subject=self.subject, answer=(len(text), len(text) + len(answer))
        )


@dataclass(frozen=True, kw_only=True)
class AnsweredPrompt(Prompt):
    """A prompt that ends with an answer, and where that stands."""

    answer: Span
