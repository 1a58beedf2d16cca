"""Documents as they are written: their fenced blocks, and whether a program prints what they show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]

PART = re.compile(
    r'^## (?P<section>[^\n]*)\n|^```(?P<language>\w+)(?: title="(?P<title>[^"\n]*)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?(?:e[-+]\d+)?")

VARIES = "the numbers vary from machine to machine"
"""Title of an output in which only the words count: training gives the same bits again on one machine only."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its title, its text, and the section it stands in."""

    language: str
    title: str
    text: str
    section: str


def blocks(document: Path, *languages: str) -> list[Block]:
    """The blocks of a document in order: all of them, or those in the languages named."""
    found, section = [], ""
    for part in PART.finditer(document.read_text(encoding="utf-8")):
        if part["language"] is None:
            section = part["section"]
        else:
            found.append(Block(part["language"], part["title"] or "", part["text"], section))
    return [block for block in found if not languages or block.language in languages]


def with_outputs(found: list[Block]) -> Iterator[tuple[Block, Block]]:
    """Every block that is no `text`, and the `text` block after it, which is what it prints: empty if there is none."""
    nothing = Block("text", "", "", "")
    for block, following in pairwise([*found, nothing]):
        if block.language != "text":
            yield block, following if following.language == "text" else nothing


def commands(text: str) -> list[tuple[str, str]]:
    """Every `$ command` of a text, and the output below it; a line that ends in a backslash goes on."""
    parts = re.split(r"^\$ ", text.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    return [(command, output) for command, _, output in (part.partition("\n") for part in parts)]


def agrees(shown: str, printed: str, *, title: str = "") -> bool:
    """Whether an output is what a document shows.

    White space at the ends of lines does not count, and a line `…` stands for any lines. Under the title `VARIES`
    any number stands for any other, and white space, whose width follows them, for one blank.
    """
    lines = _compared(shown, title).splitlines()
    pattern = "".join(r"(?:.*\n)*" if line == "…" else re.escape(line) + r"\n" for line in lines)
    return re.fullmatch(pattern, _compared(printed, title)) is not None


def _compared(text: str, title: str) -> str:
    if title == VARIES:
        text = re.sub(r"[ \t]+", " ", NUMBER.sub("#", text))
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE)
