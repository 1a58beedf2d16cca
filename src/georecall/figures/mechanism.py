"""How a memory recalls one fact, as a picture: every number in it is what the stock model holds."""

from dataclasses import dataclass, field
from functools import cached_property

import altair as alt
import numpy as np
from jaxtyping import Float64

from georecall.figures.block_plan import GAP, LEFT, WIDTH, BlockPlan, ink_on
from georecall.figures.drawing import Drawing, Pixels
from georecall.figures.theme import INK, MUTED
from georecall.memory import FactMemory
from georecall.memory.trace import Trace, trace

CLOSED, FAINT, BAND = "#dfe3e7", "#f2f3f5", 0.12
"""Cells below 0 and at 0, and the opacity of what stands behind the way of the answer."""

PROMPT, EMBEDDING, ATTENTION, SUM, PASSED, OUTPUT, SCORES, BOTTOM = 0, 98, 182, 252, 288, 362, 428, 546
"""Where the stages begin, and where the last ends: in pixels."""

HEIGHT, LEAST_WITH_DIGITS = 24.0, 13.0
"""Of a cell, and the least width at which its number is written in it."""

CHIP, SMALL_CHIP = 120.0, 80.0
"""Widths of tokens."""

MOST_NAMES, BAR, BARS, FULL_BAR = 5, 22, 282.0, 644.0
"""Names with a bar, from bar to bar, and where bars begin and the longest ends."""

UNKNOWN = "unknown"
"""What is written for an answer that is not known."""


def mechanism_figure(memory: FactMemory, subject: str, relation: str) -> alt.LayerChart:
    """From the prompt to the scores, top to bottom, for one fact.

    With more relations than colours some blocks are left out, never that of the relation asked for, and it is
    said how many.

    Raises:
        UnknownNameError: the subject or the relation is not in the table.
    """
    return _Picture(memory, trace(memory, subject, relation)).draw()


@dataclass(frozen=True)
class _Picture:
    """The drawing as it grows, stage by stage."""

    memory: FactMemory
    found: Trace
    pad: Drawing = field(default_factory=Drawing)

    def draw(self) -> alt.LayerChart:
        """All stages, below the question and its answer."""
        self._band()
        self._prompt()
        self._embedding()
        self._attention()
        self._selection()
        self._output()
        self._scores()
        info, answer = self.memory.info(), self._ranked[0][0]
        question = f"{self.found.subject} –{self._relation(self.found.relation)}→ {answer}"
        facts = f"{info.facts:,} {'fact' if info.facts == 1 else 'facts'}"
        subtitle = f"A memory of {facts}, d = {info.dim:,}: every number is what the model holds"
        return self.pad.figure(
            WIDTH,
            BOTTOM,
            title=alt.Title(question, subtitle=subtitle, limit=WIDTH),
            description=f"How a transformer recalls {question}",
        )

    # Stages

    def _band(self) -> None:
        """The way of the answer, behind the block that is asked for."""
        left, top, plan = self.plan.left - GAP / 2, EMBEDDING - 12, self.plan
        self.pad.box(left, top, plan.pitch, PASSED + 30 - top, fill=plan.colour, opacity=BAND)

    def _prompt(self) -> None:
        self._heading(PROMPT, "Prompt", "The subject reads the", "relation, and no other.")
        hops, colour, x = self.memory.chain.hops, self.plan.colour, LEFT
        first = self._chip(x, CHIP, self._relation(self.found.relation), fill=colour, ink=ink_on(colour))
        x += CHIP + 8
        self._chip(x, SMALL_CHIP, "end" if hops == 1 else f"end × {hops}", fill=FAINT, ink=MUTED)
        x += SMALL_CHIP + 8
        last = self._chip(x, CHIP, self.found.subject, fill=CLOSED, ink=INK)
        top, chips = PROMPT + 18, PROMPT + 36
        self.pad.line(first, chips - 1, first, top, colour=colour)
        self.pad.line(first, top, last, top, colour=colour)
        self.pad.arrow(last, top, chips - 3, colour=colour)
        self.pad.text((first + last) / 2, top - 10, "attention", size=12, align="center", colour=MUTED)

    def _embedding(self) -> None:
        more = [f"{self.plan.left_out:,} more are not drawn."] if self.plan.left_out else []
        title = f"Embedding of {self.found.subject}"
        self._heading(EMBEDDING, title, "One block for each relation:", "the code of its answer.", *more)
        for relation, x, _ in self.plan:
            limit, answer = self.plan.pitch - GAP, self.found.answers[relation] or UNKNOWN
            self.pad.text(x, EMBEDDING, self._relation(relation), size=12, colour=MUTED, limit=limit)
            self.pad.text(x, EMBEDDING + 17, answer, bold=True, limit=limit)
        self._blocks(EMBEDDING + 30, self.found.embedded)

    def _attention(self) -> None:
        opened, closed = self.found.carried[self.found.relation, 0], self.found.carried.min()
        others = f"{number(closed)} to all others." if self.plan.relations > 1 else "and there is no other."
        self._heading(ATTENTION, "Attention brings", f"{number(opened)} to the block asked for,", others)
        self._label(ATTENTION, "+")
        self._blocks(ATTENTION, self.found.carried)

    def _selection(self) -> None:
        activation = self.memory.architecture.units.activation
        self._heading(SUM, f"Sum, then {activation}", "Only the block that is", "asked for passes.")
        self._label(SUM, "=")
        self._blocks(SUM, self.found.summed)
        self._label(PASSED, activation)
        self._blocks(PASSED, self.found.hidden)

    def _output(self) -> None:
        self._heading(OUTPUT, "Output", "All blocks added up.")
        plan, half, bus = self.plan, self.plan.block / 2, OUTPUT - 26
        for relation, x, _ in plan:
            if relation != self.found.relation:
                self.pad.line(x + half, PASSED + 28, x + half, bus, colour=CLOSED)
                self.pad.line(x + half, bus, plan.left + half, bus, colour=CLOSED)
        self.pad.arrow(plan.left + half, PASSED + 30, OUTPUT - 6, colour=plan.colour, thickness=2.5)
        self._cells(plan.left, OUTPUT, self.found.written, plan.colour)
        before, after = plan.left - 10, plan.left + plan.block + 10
        code = f"the code of {self._ranked[0][0]}"
        if before - LEFT < WIDTH - after:
            self.pad.text(after, OUTPUT + 13, code, limit=WIDTH - after)
        else:
            self.pad.text(before, OUTPUT + 13, code, align="right", limit=before - LEFT)

    def _scores(self) -> None:
        proved = f"by {self.memory.certificate.margin:.3g} or more."
        self._heading(SCORES, "Scores", "How well each code fits.", "Proved: every fact leads", proved)
        (_, best), (_, second), *_ = self._ranked
        unit = (FULL_BAR - BARS) / best
        for place, (name, score) in enumerate(self._ranked[:MOST_NAMES]):
            y, first = SCORES + BAR * place, place == 0
            self.pad.text(BARS - 8, y, name, bold=first, align="right", limit=BARS - LEFT - 8)
            fill = self.plan.colour if first else CLOSED
            self.pad.box(BARS, y - 8, unit * max(0.0, score), 16, fill=fill)
            self.pad.text(FULL_BAR + 28, y, number(score), bold=first, align="right")
        margin = unit * (best - second)
        self.pad.box(FULL_BAR - margin, SCORES + BAR - 8, margin, 16, fill=self.plan.colour, opacity=BAND)
        self.pad.text(FULL_BAR + 38, SCORES, f"leads by {number(best - second)}", bold=True)
        if others := self._ranked[MOST_NAMES:]:
            rest = f"{len(others):,} more, none above {number(others[0][1])}"
            self.pad.text(BARS, SCORES + BAR * MOST_NAMES, rest, size=12, colour=MUTED)

    # Parts

    def _heading(self, y: Pixels, title: str, *words: str) -> None:
        self.pad.text(0, y, title, size=15, bold=True, limit=LEFT - 20)
        for line, text in enumerate(words):
            self.pad.text(0, y + 20 + 16 * line, text, size=12, colour=MUTED)

    def _label(self, y: Pixels, text: str) -> None:
        """What a row of blocks is, before it."""
        self.pad.text(LEFT - 10, y + 12, text, size=12, align="right", colour=MUTED)

    def _chip(self, x: Pixels, width: Pixels, text: str, *, fill: str, ink: str) -> Pixels:
        """A token of the prompt; where its middle is."""
        middle = x + width / 2
        self.pad.box(x, PROMPT + 36, width, 30, fill=fill)
        self.pad.text(middle, PROMPT + 52, text, bold=True, align="center", colour=ink, limit=width - 12)
        return middle

    def _blocks(self, y: Pixels, values: Float64[np.ndarray, "relations symbols"]) -> None:
        for relation, x, colour in self.plan:
            self._cells(x, y, values[relation], colour)

    def _cells(self, x: Pixels, y: Pixels, values: Float64[np.ndarray, " symbols"], colour: str) -> None:
        """A strip of numbers: in colour above 0, the stronger the higher, and grey below."""
        width, highest = self.plan.cell - 1, self.memory.chain.codewords.max()
        for place, value in enumerate(values.tolist()):
            left, share = x + place * self.plan.cell, min(1.0, round(value, 1) / highest)
            fill, strength = (colour, share) if share > 0 else (CLOSED if share < 0 else FAINT, 1.0)
            self.pad.box(left, y, width, HEIGHT, fill=fill, opacity=strength)
            if self.plan.cell >= LEAST_WITH_DIGITS:
                ink = ink_on(colour) if share > 0.7 else INK if share > 0 else MUTED
                self.pad.text(left + width / 2, y + 13, number(value), size=11, align="center", colour=ink)

    # What is drawn

    @cached_property
    def plan(self) -> BlockPlan:
        """Where the blocks are."""
        relations, symbols = self.found.embedded.shape
        return BlockPlan(relations=relations, asked=self.found.relation, symbols=symbols)

    @cached_property
    def _ranked(self) -> list[tuple[str, float]]:
        """All names, the unknown and the end with their scores, best first."""
        names = (UNKNOWN, "end", *self.memory.table.entities)
        scores = np.delete(self.found.scores, self.memory.chain.vocabulary.relations)
        best = np.argsort(-scores, kind="stable")
        return [(names[place], float(scores[place])) for place in best.tolist()]

    def _relation(self, relation: int) -> str:
        return self.memory.table.relations[relation]


def number(value: float) -> str:
    """A number with one decimal at most, and a real minus sign."""
    return f"{round(value, 1) + 0.0:g}".replace("-", "−")
