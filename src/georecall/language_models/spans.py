"""Which tokens of a text stand for a stretch of it."""

from dataclasses import dataclass

from georecall.errors import ProbingError

Span = tuple[int, int]
"""Where characters begin and end in a text, the end excluded."""


@dataclass(frozen=True, kw_only=True)
class TokenisedText:
    """A text, its token ids, and the characters that each token stands for.

    Offsets point into the text as it was given, even where a tokenizer normalises it. Special tokens, and spaces that
    a tokenizer trims, stand for no character: their offsets begin where they end.
    """

    text: str
    ids: tuple[int, ...]
    offsets: tuple[Span, ...]

    def tokens_of(self, span: Span) -> range:
        """The tokens from the first to the last that have a character in common with `span`.

        A token may reach beyond the span on both sides, as ` "Chad` does for `Chad`. Tokens that are parts of one
        character all have its offsets, so the last of them counts.

        Raises:
            ProbingError: no token has a character of the span.
        """
        begin, end = span
        found = [
            token
            for token, (start, stop) in enumerate(self.offsets)
            if start < stop and start < end and begin < stop
        ]
        if not found:
            raise ProbingError(f"expected a token for {self.text[begin:end]!r} in {self.text!r}, found none")
        return range(found[0], found[-1] + 1)
