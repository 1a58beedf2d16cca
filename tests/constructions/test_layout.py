"""Named slices of the residual stream."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from georecall.constructions.layout import ResidualLayout
from georecall.errors import ConstructionError


@given(st.dictionaries(st.sampled_from(["blocks", "output", "gate", "positions"]), st.integers(0, 9)))
def test_slices_have_their_sizes_and_cover_the_stream_once_in_order(sizes):
    layout = ResidualLayout.of(**sizes)
    covered = [place for name in sizes for place in range(layout.dim)[layout[name]]]
    assert covered == list(range(sum(sizes.values())))
    assert {name: layout[name].stop - layout[name].start for name in sizes} == sizes
    assert layout.to_dict() == {name: [layout[name].start, layout[name].stop] for name in sizes}


def test_a_negative_size_is_refused_by_name():
    with pytest.raises(ConstructionError, match="'output' must have size 0 or more, got -1"):
        ResidualLayout.of(blocks=2, output=-1)


def test_a_layout_cannot_be_changed():
    with pytest.raises(TypeError):
        ResidualLayout.of(blocks=2).slices["blocks"] = slice(0, 1)
