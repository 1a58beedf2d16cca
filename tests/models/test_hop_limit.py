"""Eight hops through the stock models, in the formats that they are saved in."""

import numpy as np
import pytest

from georecall.facts.queries import gold_entities, sample_queries
from georecall.facts.worlds import random_functions
from georecall.memory import FactMemory
from georecall.models.generation import generate_paths

HOPS = 8


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_chains_of_every_length_up_to_eight_are_right_and_stop(arch, dtype):
    table = random_functions(40, 3, 45, rng=np.random.default_rng(0), missing=0.05)
    memory = FactMemory.compile(table, hops=HOPS, arch=arch, dtype=dtype)
    assert memory.certificate.margin > 1
    for length in range(1, HOPS + 1):
        queries = sample_queries(table, length, 60, np.random.default_rng(length))
        paths, stops = generate_paths(memory.chain, memory.model(), queries)
        assert stops.all()
        np.testing.assert_array_equal(paths, gold_entities(table, queries))
