"""The picture of the mechanism shows the numbers of the memory, for tables of every shape and names of every kind."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import WORLDS
from georecall.errors import UnknownNameError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_functions
from georecall.figures.block_plan import COLOURS, GAP, LEFT, WIDTH, BlockPlan
from georecall.figures.mechanism import BAND, CLOSED, FAINT, HEIGHT, mechanism_figure, number
from georecall.figures.saving import save_figure
from georecall.memory import FactMemory
from georecall.memory.trace import trace

FAMILY = FactMemory.compile(WORLDS["family"].table)
AWKWARD = FactMemory.compile(WORLDS["awkward names"].table, hops=1)


def rows(figure, layer):
    """What one layer draws: boxes, lines and words, in this order."""
    spec = figure.to_dict()
    return spec["datasets"][spec["layer"][layer]["data"]["name"]]


def words(figure):
    return [row["text"] for row in rows(figure, 2)]


def cells(figure):
    """Rows of cells from top to bottom: their fill and opacity."""
    boxes = [row for row in rows(figure, 0) if row["y2"] - row["y"] == HEIGHT]
    tops = sorted({row["y"] for row in boxes})
    return [[(row["colour"], row["opacity"]) for row in boxes if row["y"] == top] for top in tops]


def digits(figure):
    """The numbers written in cells, from top to bottom and from left to right."""
    return [row["text"] for row in rows(figure, 2) if row["size"] == 11]


def saved(figure, folder):
    """The root of the SVG that is written."""
    save_figure(figure, folder / "figure.svg")
    return ElementTree.parse(folder / "figure.svg").getroot()  # noqa: S314 - a file of our own


def compiled(*facts, **options):
    return FactMemory.compile(FactTable.from_facts(facts), **options)


@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_every_number_in_a_cell_is_what_the_memory_holds(arch):
    memory = FactMemory.compile(WORLDS["three levels"].table, levels=3, arch=arch)
    subject, relation = memory.table.subjects[3], memory.table.relations[1]
    found = trace(memory, subject, relation)
    held = [found.embedded, found.carried, found.summed, found.hidden, found.written]
    assert digits(mechanism_figure(memory, subject, relation)) == [
        number(value) for part in held for value in part.ravel().tolist()
    ]


def test_a_cell_has_the_colour_of_its_relation_above_0_and_is_grey_below():
    embedded, carried, _, hidden, written = cells(mechanism_figure(FAMILY, "Alice", "mother"))
    found = trace(FAMILY, "Alice", "mother")
    symbols = FAMILY.chain.code.length
    colours = np.repeat(COLOURS[:5], symbols)
    assert embedded == [
        (colour, 1) if value else (FAINT, 1)
        for colour, value in zip(colours, found.embedded.ravel(), strict=True)
    ]
    assert [fill for fill, _ in carried] == [FAINT if 6 <= place < 12 else CLOSED for place in range(30)]
    assert {fill for fill, _ in hidden} == {COLOURS[1], FAINT}
    assert written == embedded[symbols : 2 * symbols]


def test_scores_and_their_lead_are_those_of_the_memory():
    texts = words(mechanism_figure(FAMILY, "Alice", "wife"))
    margin = FAMILY.ask("Alice", "wife").margins[0]
    start = texts.index("Scores")
    assert texts[start + 4 : start + 6] == ["Sarah", "12"]
    assert f"leads by {margin:g}" in texts
    assert "11 more, none above 8" in texts
    assert "by 2 or more." in texts
    bars = [row for row in rows(mechanism_figure(FAMILY, "Alice", "wife"), 0) if row["y2"] - row["y"] == 16]
    lengths = [row["x2"] - row["x"] for row in bars]
    np.testing.assert_allclose(np.divide(lengths, lengths[0]), np.divide([12, 8, 8, 8, 8, 4], 12), atol=1e-6)
    assert bars[-1]["opacity"] == BAND


def test_every_block_is_labelled_with_its_relation_and_the_answer_it_codes():
    texts = words(mechanism_figure(FAMILY, "Alice", "wife"))
    start = texts.index("wife", texts.index("Embedding of Alice"))
    assert texts[start : start + 2] == ["wife", "Sarah"]
    for relation, answer in (("mother", "Helen"), ("job", "doctor"), ("father", "unknown")):
        assert texts[texts.index(relation) + 1] == answer


def test_an_unknown_fact_is_drawn_as_unknown():
    figure = mechanism_figure(FAMILY, "Leo", "job")
    assert figure.to_dict()["title"]["text"] == "Leo –job→ unknown"
    assert "the code of unknown" in words(figure)


def test_one_relation_closes_nothing_and_is_drawn_alone():
    figure = mechanism_figure(compiled(("a", "is", "b")), "a", "is")
    assert "and there is no other." in words(figure)
    assert CLOSED not in {row["colour"] for row in rows(figure, 1)}
    assert figure.to_dict()["title"]["subtitle"].startswith("A memory of 1 fact,")


def test_of_many_relations_the_one_asked_for_is_drawn_and_the_rest_are_counted():
    memory = FactMemory.compile(WORLDS["many relations"].table)
    texts = words(mechanism_figure(memory, "x2", "r8"))
    assert "3 more are not drawn." in texts
    assert [name for name in texts if name in memory.table.relations] == [
        "r8",
        "r0",
        "r1",
        "r2",
        "r3",
        "r4",
        "r8",
    ]


def test_a_long_code_is_drawn_without_digits():
    memory = FactMemory.compile(random_functions(3000, 6, 3000, rng=np.random.default_rng(0)))
    figure = mechanism_figure(memory, memory.table.subjects[2], memory.table.relations[4])
    assert not digits(figure)
    assert len(cells(figure)[0]) == 6 * memory.chain.code.length


@pytest.mark.parametrize(
    ("subject", "text"),
    [
        ("\0starts with NUL", "\\x00starts with NUL"),
        ("line\nbreak", "line\\nbreak"),
        ("</s>", "</s>"),
        ('double "quotes"', 'double "quotes"'),
        ("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd"),
        ("None", "None"),
        ("1e5", "1e5"),
        ("007", "007"),
    ],
)
def test_names_of_every_kind_are_text_in_a_well_formed_svg(tmp_path, subject, text):
    figure = mechanism_figure(AWKWARD, subject, AWKWARD.table.relations[0])
    texts = [element.text for element in saved(figure, tmp_path).iter()]
    assert len([found for found in texts if found and found.startswith(text[:10])]) >= 2


@pytest.mark.parametrize("character", ["\uffff", "\ufffe", "\x1b", "\x85"])
def test_what_an_svg_cannot_hold_is_escaped(tmp_path, character):
    memory = compiled((f"a{character}b", "is", "c"))
    texts = [
        element.text for element in saved(mechanism_figure(memory, f"a{character}b", "is"), tmp_path).iter()
    ]
    assert repr(f"a{character}b")[1:-1] in texts


def test_a_long_name_is_cut_and_stays_within_the_picture(tmp_path):
    name = "W" * 300
    memory = compiled((name, name, name), (name, "is", name), (name, "was", name))
    root = saved(mechanism_figure(memory, name, name), tmp_path)
    assert float(root.attrib["width"]) == WIDTH + 2 * 16
    assert max(len(element.text or "") for element in root.iter()) < 100


@given(st.integers(1, 40), st.integers(2, 40), st.data())
def test_blocks_never_overlap_and_stay_within_the_picture(relations, symbols, data):
    plan = BlockPlan(relations=relations, asked=data.draw(st.integers(0, relations - 1)), symbols=symbols)
    lefts = [left for _, left, _ in plan]
    assert plan.asked in plan.drawn
    assert len(plan.drawn) + plan.left_out == relations
    assert lefts[0] == LEFT
    assert all(after - before >= plan.block for before, after in pairwise(lefts))
    assert lefts[-1] - GAP / 2 + plan.pitch <= WIDTH + 1e-9
    assert (plan.asked, plan.left, plan.colour) in list(plan)


def test_a_name_that_is_not_in_the_table_is_refused():
    with pytest.raises(UnknownNameError, match="nearest: 'Alice'"):
        mechanism_figure(FAMILY, "Alise", "wife")
