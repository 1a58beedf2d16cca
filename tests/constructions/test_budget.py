"""What does not fit in memory is measured and refused before anything is allocated."""

import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest

from georecall.constructions.budget import memory_need, require_memory
from georecall.constructions.direct import Direct
from georecall.errors import ConstructionError
from georecall.facts.worlds import random_bijections


def test_a_weight_needs_eight_bytes_and_all_free_bytes_may_be_used(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(available=80_000))
    need = memory_need(1000)
    assert need.needed == 8000
    assert need.fits
    assert memory_need(10_000).fits
    assert not memory_need(10_001).fits
    assert need.to_dict() == {"needed": 8000, "available": need.available, "fits": True}


def test_what_is_too_large_is_refused_with_its_bytes_in_one_line():
    require_memory(1000, what="a construction")
    with pytest.raises(
        ConstructionError, match=r"a construction has .*000 weights and would need 8,000,"
    ) as refusal:
        require_memory(10**30, what="a construction")
    assert "\n" not in str(refusal.value)


def test_a_construction_that_cannot_be_is_refused_at_once():
    table = random_bijections(4, 9, rng=np.random.default_rng(0))
    started = time.perf_counter()
    with pytest.raises(ConstructionError, match="the direct construction for 9 hops"):
        Direct(table, hops=9).weights()
    assert time.perf_counter() - started < 1
