"""A stream is drawn by its seed and its purpose, and by nothing else."""

import numpy as np
import pytest

import known_models
from georecall.dissection import dissect, dissection
from georecall.statistics.random_streams import stream


def test_one_seed_and_purpose_give_one_stream():
    np.testing.assert_array_equal(stream(3, "swaps").random(5), stream(3, "swaps").random(5))


@pytest.mark.parametrize("other", [(4, "swaps"), (3, "folds"), (3, "swaps", 1), (3, "swap", "s")])
def test_another_seed_or_purpose_is_another_stream(other):
    assert not np.isin(stream(3, "swaps").random(5), stream(*other).random(5)).any()


def test_the_draws_of_an_analysis_do_not_depend_on_those_listed_before_it(monkeypatch):
    chosen = {"only": ("superposition", "readout", "ablation"), "seed": 1}
    before = dissect(known_models.one_hop(), known_models.TABLE, **chosen)
    monkeypatch.setattr(dissection, "ANALYSES", dict(reversed(dissection.ANALYSES.items())))
    after = dissect(known_models.one_hop(), known_models.TABLE, **chosen)
    for name in chosen["only"]:
        assert getattr(after, name).to_dict() == getattr(before, name).to_dict()
