"""The tables of docs/codes.md are those of the code."""

from itertools import pairwise
from pathlib import Path

from georecall.theory.bounds import bits_per_fact_bound
from georecall.theory.code_tables import LEVELS, RELATIONS, SUBJECTS, code_tables
from georecall.theory.codes import CompositionCode

DOCS = Path(__file__).parents[2] / "docs"


def codes(n_subjects):
    """The codes of N attributes and the unknown, in the order of the columns."""
    return [CompositionCode.shortest(n_subjects + 1, levels) for levels in LEVELS]


def test_the_committed_page_holds_the_tables_as_they_are_made_now():
    assert code_tables() in (DOCS / "codes.md").read_text(encoding="utf-8")


def test_every_row_holds_the_lengths_dimensions_and_bits_of_the_codes():
    rows = [line.strip("| ").split(" | ") for line in code_tables().splitlines() if line.startswith("|")]
    lengths, bits = rows[2 : 2 + len(SUBJECTS)], rows[4 + len(SUBJECTS) :]
    for n_subjects, length_row, bit_row in zip(SUBJECTS, lengths, bits, strict=True):
        assert length_row[0] == bit_row[0] == f"{n_subjects:,}"
        assert length_row[1:] == [f"p = {c.length}, d = {RELATIONS * c.length}" for c in codes(n_subjects)]
        assert float(bit_row[1]) == round(bits_per_fact_bound(n_subjects), 2)
        assert bit_row[2:] == [f"{code.bits_per_codeword:.2f}" for code in codes(n_subjects)]


def test_more_levels_never_take_more_dimensions_and_always_take_more_bits():
    for n_subjects in SUBJECTS:
        for fewer, more in pairwise(codes(n_subjects)):
            assert more.length <= fewer.length
            assert more.bits_per_codeword > fewer.bits_per_codeword
        assert codes(n_subjects)[0].bits_per_codeword > bits_per_fact_bound(n_subjects)


def test_numbers_named_in_the_text_are_those_of_the_codes():
    text = " ".join((DOCS / "codes.md").read_text(encoding="utf-8").split())
    (few, *_, few16), (many, *_, many16) = codes(100), codes(10**9)
    d = {code: RELATIONS * code.length for code in (few, few16, many, many16)}
    bits = {code: f"{code.bits_per_codeword:.0f}" for code in d}
    assert f"{d[few16]} dimensions where 2 levels take {d[few]}" in text
    assert f"but {bits[few16]} bits a fact instead of {bits[few]};" in text
    assert (
        f"{d[many16]} dimensions instead of {d[many]}, but {bits[many16]} bits instead of {bits[many]}."
        in text
    )
    assert f"from {few.bits_per_codeword / bits_per_fact_bound(100):.2f} times the bound at `N = 100`" in text
    assert (
        f"to {many.bits_per_codeword / bits_per_fact_bound(10**9):.2f} times at `N = 1,000,000,000`" in text
    )


def test_sixteen_levels_save_no_place_over_eight_up_to_a_hundred_thousand_names():
    for n_subjects in (100, 1000, 10_000, 100_000):
        eight, sixteen = codes(n_subjects)[-2:]
        assert sixteen.length == eight.length <= 9
