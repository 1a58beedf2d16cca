"""Where the blocks of a memory stand in its picture, and in which colours."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from georecall.figures.theme import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, VERMILION

COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
"""From the palette of Okabe and Ito: one for each block that is drawn."""

LEFT, WIDTH, GAP = 186.0, 768, 14.0
"""Where the blocks begin, the width of the picture, and what is between two blocks: in pixels."""

RIGHT = WIDTH - GAP / 2
"""Where the blocks end: half a gap belongs to each side of a block."""

WIDEST_CELL, NAMED_BLOCK = 26.0, 130.0
"""What a cell takes at most, and a block with the name of its answer if there is room for it."""


@dataclass(frozen=True, kw_only=True)
class BlockPlan:
    """A row of blocks, each of a cell for every symbol of a code.

    If there are more relations than colours, only the block that is asked for and the first of the others are
    drawn, in the order of the table.
    """

    relations: int
    asked: int
    symbols: int

    @cached_property
    def drawn(self) -> tuple[int, ...]:
        """The relations whose blocks are drawn."""
        others = [relation for relation in range(self.relations) if relation != self.asked]
        return tuple(sorted([self.asked, *others[: len(COLOURS) - 1]]))

    @property
    def left_out(self) -> int:
        """Number of relations whose blocks are not drawn."""
        return self.relations - len(self.drawn)

    def __iter__(self) -> Iterator[tuple[int, float, str]]:
        """Relation, left edge and colour of every block that is drawn."""
        for place, relation in enumerate(self.drawn):
            yield relation, LEFT + place * self.pitch, COLOURS[place]

    @property
    def colour(self) -> str:
        """Colour of the block that is asked for."""
        return COLOURS[self.drawn.index(self.asked)]

    @property
    def left(self) -> float:
        """Left edge of the block that is asked for."""
        return LEFT + self.drawn.index(self.asked) * self.pitch

    @property
    def cell(self) -> float:
        """Width of a cell and of the line of white after it; no block takes more than half of the room."""
        room = (RIGHT - LEFT + GAP) / max(len(self.drawn), 2) - GAP
        return min(WIDEST_CELL, room / self.symbols)

    @property
    def block(self) -> float:
        """Width of a block."""
        return self.cell * self.symbols - 1

    @property
    def pitch(self) -> float:
        """From the left edge of one block to that of the next."""
        return max(self.block + GAP, min(NAMED_BLOCK, (RIGHT - LEFT + GAP) / len(self.drawn)))


def ink_on(colour: str) -> str:
    """The colour of words that can be read on a box."""
    return "white" if colour == BLUE else INK
