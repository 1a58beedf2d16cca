"""What is certified answers everything, near the threshold too, in its own format and under both kernels."""

import numpy as np
import pytest
import torch

from georecall.constructions.certificate import KERNELS
from georecall.errors import ConstructionError
from georecall.facts.queries import all_queries, gold_entities, sample_queries
from georecall.facts.worlds import random_bijections
from georecall.memory import FactMemory
from georecall.models.architectures import ARCHITECTURES
from georecall.models.generation import generate_paths
from georecall.models.tokenizer import prompt_ids
from near_threshold import Candidate, tally

MANY_HOPS = 32


def test_a_certified_model_answers_everything_in_its_format_under_both_kernels():
    found = tally(range(60))
    assert found["plain, certified, wrong"] == found["rotated, certified, wrong"] == 0
    assert found["plain, certified, right"] > 20
    assert found["rotated, certified, right"] > 5
    assert sum(count for kind, count in found.items() if "refused" in kind) > 3


@pytest.mark.parametrize("n_relations", [1, 5, 64])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_a_llama_of_many_hops_is_certified_in_sixteen_bits_and_answers_under_both_kernels(dtype, n_relations):
    table = random_bijections(5, n_relations, rng=np.random.default_rng(0))
    memory = FactMemory.compile(table, hops=MANY_HOPS, dtype=dtype, arch="llama")
    assert memory.certificate.exact
    model = memory.model()
    chains = sample_queries(table, MANY_HOPS, 20, np.random.default_rng(1))
    for kernel in KERNELS:
        model.set_attn_implementation(kernel)
        paths, stops = generate_paths(memory.chain, model, chains)
        assert stops.all()
        np.testing.assert_array_equal(paths, gold_entities(table, chains))


@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_after_the_end_a_model_that_is_not_stopped_says_no_name(arch):
    """As after a generation config that was lost."""
    table = random_bijections(30, 3, rng=np.random.default_rng(0))
    memory = FactMemory.compile(table, hops=3, arch=arch)
    model, vocabulary = memory.model(), memory.chain.vocabulary
    model.generation_config.eos_token_id = None
    queries = all_queries(table, 1)
    prompts = torch.from_numpy(prompt_ids(vocabulary, queries.subjects, queries.relations, hops=3))
    with torch.inference_mode():
        emitted = model.generate(
            prompts, attention_mask=torch.ones_like(prompts), max_new_tokens=3, eos_token_id=None
        )
    assert (emitted[:, prompts.shape[1] + 1 :] == vocabulary.end).all()


def test_a_rotated_model_in_which_one_step_is_wrong_is_refused():
    seeds = (seed for seed in range(0, 3000, 3))
    wrong = next(seed for seed in seeds if not Candidate.drawn(seed).certificate().holds)
    assert Candidate.drawn(wrong).certificate().basis == "asked"


def test_a_rotated_memory_is_asked_every_step_and_says_so():
    table = random_bijections(8, 3, rng=np.random.default_rng(0))
    memory = FactMemory.compile(table, hops=2, rotate=4, dtype="bfloat16")
    assert [proof.dtype for proof in memory.certificates] == ["bfloat16"]
    assert memory.certificate.basis == "asked"
    assert memory.certificate.asked == memory.certificate.steps == 9 * 4 * 3


def test_where_not_every_step_can_be_asked_nothing_is_said_to_be_exact(monkeypatch):
    monkeypatch.setattr("georecall.models.asking.SCORES_IN_ALL", 1000)
    table = random_bijections(8, 3, rng=np.random.default_rng(0))
    memory = FactMemory.compile(table, hops=2, rotate=4)
    assert memory.certificate.basis == "sampled"
    assert memory.certificate.holds
    assert not memory.certificate.exact
    assert memory.exact_dtypes == ()
    assert memory.verify(chains=5).ok


def test_an_edit_of_a_rotated_memory_asks_the_changed_row_again(monkeypatch):
    table = random_bijections(8, 3, rng=np.random.default_rng(0))
    memory = FactMemory.compile(table, hops=2, rotate=4)
    edited = memory.edit("x1", "r0", "x7")
    assert edited.certificate.margin <= memory.certificate.margin
    monkeypatch.setattr("georecall.models.asking._leads", lambda *_: torch.tensor([-1.0]))
    with pytest.raises(ConstructionError, match="'x1' would not be answered exactly in float32"):
        memory.edit("x1", "r0", "x7")


def test_what_is_done_to_a_model_leaves_its_memory_as_it_is():
    memory = FactMemory.compile(random_bijections(8, 3, rng=np.random.default_rng(0)))
    with torch.no_grad():
        for parameter in memory.model().parameters():
            parameter.zero_()
    assert memory.verify(chains=10).ok
