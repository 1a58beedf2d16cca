"""Statements of docs/theory.md that no other test checks, each by its number there."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn.functional import layer_norm, silu

from cases import chains, tables
from georecall.constructions.certificate import Errors, certified_margin
from georecall.constructions.chain import Chain
from georecall.constructions.chain_of_thought import ChainOfThought
from georecall.constructions.one_hop import OneHop
from georecall.constructions.rotary import RotaryChain
from georecall.constructions.rotation import random_rotation
from georecall.facts.queries import all_queries
from georecall.facts.worlds import random_functions
from georecall.models.architecture import Architecture
from georecall.models.architectures.llama import GATE, LLAMA, RMS_EPSILON, best_rotary_angles, rotary_gap
from georecall.models.architectures.opt import LAYER_NORM_EPSILON, OPT
from georecall.models.dtypes import DTYPES
from georecall.models.recall import RecallTransformer
from georecall.models.stock_model import stock_model
from georecall.theory.codes import CompositionCode

names = st.integers(1, 10**9)
alphabets = st.integers(2, 127)
seeds = st.integers(0, 2**32 - 1)

LENGTHS = [*range(2, 17), 23, 33, 64, 127, 500]
ALPHABETS = [2, 3, 4, 5, 8, 16, 127]
RELATIONS = [1, 2, 3, 5, 16, 10_000]
HOPS = [1, 2, 8, 100]


# Codes: section 2


@given(names, alphabets, st.data())
def test_two_codewords_differ_less_in_sum_than_in_square_and_evenly(size, levels, data):
    code = CompositionCode.shortest(size, levels)
    number = st.integers(0, code.capacity - 1)
    a, b = code.unrank(np.array([data.draw(number), data.draw(number)])).astype(np.int64)
    square = (a - b) @ (a - b)
    assert np.abs(a - b).sum() <= square
    assert square % 2 == 0
    assert square >= 2 or np.array_equal(a, b)


@given(st.integers(3, 10**12), alphabets)
def test_the_shortest_code_takes_little_more_than_log2_of_the_names(size, levels):
    symbols = CompositionCode.shortest(size, levels).length
    slack = math.log2(levels) + math.log2(math.comb(symbols + levels - 2, levels - 1))
    assert math.log2(size) <= symbols * math.log2(levels) < math.log2(size) + slack or symbols == 2


@given(names, alphabets)
def test_a_balanced_code_is_light_but_for_half_of_its_places(size, levels):
    code = CompositionCode.shortest(size, levels)
    assert 2 * code.level_sum <= code.length * (levels - 1)
    assert code.level_sum <= code.squared_norm
    short = code.length - 2 * code.level_sum
    assert short <= 1
    assert (short == 1) == (levels == 2 and code.length % 2 == 1)


# Number formats and softmax: sections 3 and 4


@settings(max_examples=30)
@given(st.integers(1, 30), st.integers(1, 4), st.integers(2, 8), st.sampled_from([*DTYPES]), seeds)
def test_one_hop_makes_no_rounding_error_in_any_number_format(n_subjects, n_relations, levels, dtype, seed):
    rng = np.random.default_rng(seed)
    construction = OneHop(random_functions(n_subjects, n_relations, n_subjects, rng=rng), levels=levels)
    assert construction.code.squared_norm <= 256
    weights, prompts = construction.weights(), construction.prompts(all_queries(construction.table, 1))
    with torch.inference_mode():
        found = RecallTransformer.from_weights(weights, dtype=DTYPES[dtype])(torch.from_numpy(prompts))[0]
    np.testing.assert_array_equal(found.double().numpy(), weights.scores(prompts))


@given(st.floats(104, 1e4), st.integers(2, 40), st.data())
def test_softmax_in_float32_forgets_whatever_lies_104_below(gap, length, data):
    scores = torch.full((length,), -gap)
    place = data.draw(st.integers(0, length - 1))
    scores[place] = 0
    weights = torch.softmax(scores, 0)
    assert weights[place] == 1
    assert weights.count_nonzero() == 1


@given(st.floats(0, 103), st.integers(2, 40))
def test_softmax_leaves_less_than_the_exponential_of_the_gap_to_each_other_place(gap, length):
    scores = np.r_[0.0, np.full(length - 1, -gap)]
    weights = np.exp(scores) / np.exp(scores).sum()
    assert 1 - weights[0] <= (length - 1) * math.exp(-gap) * (1 + 1e-12) + 1e-15


# The certificate: section 4


@settings(max_examples=30)
@given(chains(), st.floats(0, 0.7), st.floats(0, 0.3), st.floats(0.5, 1.5), seeds)
def test_no_state_within_the_measured_errors_leads_by_less_than_the_certified_margin(
    chain, deviation, leak, constant, seed
):
    rng = np.random.default_rng(seed)
    errors = Errors(deviation=deviation, leak=leak, constant_read=constant, constant_end=constant)
    margin = certified_margin(chain, errors, epsilon=0.0)
    codewords = chain.codewords.astype(np.float64)
    right, end = rng.integers(len(codewords)), 2 * constant
    differences = codewords[right] - np.delete(codewords, right, axis=0)
    worst = 2 * (differences**2).sum(axis=1) - 4 * deviation * np.abs(differences).sum(axis=1)
    name = 4 * (chain.code.squared_norm - deviation * chain.code.level_sum)
    silent = end - 4 * leak * chain.code.level_sum
    least = min(worst.min(initial=np.inf), name - end, silent)
    assert margin <= 0 or margin <= least + 1e-9


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 6), min_size=2, max_size=12),
    st.floats(0, 0.3),
    st.sampled_from(list(DTYPES.values())),
    seeds,
)
def test_scores_rounded_to_a_format_lead_by_the_certified_margin(counts, deviation, dtype, seed):
    """For codes of any size, and so for scores of any size: names are scored in float32 and rounded once."""
    code, rng = CompositionCode(tuple(counts)), np.random.default_rng(seed)
    chain = ChainOfThought(random_functions(3, 2, 3, rng=rng), 2)
    vars(chain)["code"] = code
    errors = Errors(deviation=deviation, leak=0.0, constant_read=1.0, constant_end=1.0)
    margin = certified_margin(chain, errors, epsilon=torch.finfo(dtype).eps)
    words = np.unique([rng.permutation(np.repeat(np.arange(len(counts)), counts)) for _ in range(20)], axis=0)
    neighbour = words[0].copy()
    first, second = np.flatnonzero(words[0] == 0)[0], np.flatnonzero(words[0] == 1)[0]
    neighbour[[first, second]] = 1, 0
    found = torch.from_numpy(words[0] + deviation * np.sign(neighbour - words[0] + 0.0)).to(dtype)
    names = torch.from_numpy(4 * np.stack([words[0], neighbour])).to(dtype)
    right, wrong = (found.float() @ names.float().T).to(dtype).double().tolist()
    assert margin <= 0 or right - wrong >= min(margin, 4 * (1 - 2 * deviation)) - 1e-6


def hidden_units(chain: ChainOfThought, tensors: dict[str, Tensor], tokens: np.ndarray) -> np.ndarray:
    """The hidden units of the stock model at the steps, [prompts, steps, relations, symbols]."""
    model, found = stock_model(OPT, chain, tensors), []
    activation = model.model.decoder.layers[0].activation_fn
    activation.register_forward_hook(lambda _module, _inputs, output: found.append(output))
    with torch.inference_mode():
        model(torch.from_numpy(tokens))
    units = found[0].reshape(*tokens.shape, chain.n_relations, chain.code.length)
    return units[:, chain.relation_positions :].numpy()


def exact_tensors(chain: Chain, architecture: Architecture) -> dict[str, Tensor]:
    return {name: source.tensor(torch.float64) for name, source in architecture.tensors(chain).items()}


@settings(max_examples=15)
@given(chains(), st.floats(0.9, 1.1), st.floats(-0.1, 0.1))
def test_a_unit_sees_the_subject_through_one_place(chain, gain, bias):
    """Also where the layer is not quite the construction's: its normalisations are a little off."""
    tensors = exact_tensors(chain, OPT)
    for name in ("self_attn_layer_norm", "final_layer_norm"):
        tensors[f"model.decoder.layers.0.{name}.weight"] *= gain
        tensors[f"model.decoder.layers.0.{name}.bias"] += bias
    subjects, asked = np.arange(chain.n_entities), chain.n_relations + 1
    relations = np.repeat(np.append(np.arange(chain.n_relations), -1), len(subjects))[:, None]
    entities = chain.vocabulary.entity_ids(np.tile(subjects, asked)[:, None])
    shape = (asked * len(subjects), chain.relation_positions)
    prompts = [
        chain.vocabulary.relation_ids(np.broadcast_to(relations, shape)),
        np.broadcast_to(entities, shape),
    ]
    units = hidden_units(chain, tensors, np.concatenate(prompts, axis=1))
    units = units.reshape(asked, len(subjects), *units.shape[1:])
    held = chain.codewords[chain.names_of(slice(None))][None, :, None]
    for level in range(chain.levels):
        mask = np.broadcast_to(held == level, units.shape)
        most = np.where(mask, units, -np.inf).max(axis=(1, 4))
        least = np.where(mask, units, np.inf).min(axis=(1, 4))
        np.testing.assert_array_less(most - least, 1e-9)


# Layer normalisation: section 6


@dataclass(frozen=True)
class ReadState:
    """Sum and squared norm of the states in which a relation is read, and of those in which the end is."""

    code: CompositionCode
    n_relations: int
    dim: int
    inhibition: float

    @classmethod
    def of(cls, symbols: int, levels: int, n_relations: int, hops: int, inhibition: float) -> "ReadState":
        each, surplus = divmod(symbols, levels)
        code = CompositionCode(tuple(each + (level < surplus) for level in range(levels)))
        return cls(code, n_relations, (n_relations + 1) * symbols + 2 * (hops + 1), inhibition)

    def moments(self, closed: int) -> tuple[float, float]:
        """Mean and variance where that many blocks are closed."""
        total, symbols, inhibition = self.code.level_sum, self.code.length, self.inhibition
        mean = (self.n_relations * total + 1 - closed * inhibition * symbols) / self.dim
        square = self.n_relations * self.code.squared_norm + 1
        square += closed * (inhibition**2 * symbols - 2 * inhibition * total)
        return mean, square / self.dim - mean**2

    def highest_closed_symbol(self) -> float:
        """A closed place of the highest level after layer normalisation, where the end is read."""
        (mean, variance), (mean_end, variance_end) = map(
            self.moments, (self.n_relations - 1, self.n_relations)
        )
        scale = math.sqrt((variance + LAYER_NORM_EPSILON) / (variance_end + LAYER_NORM_EPSILON))
        highest = int(np.flatnonzero(self.code.composition).max())
        return mean + scale * (highest - self.inhibition - mean_end)

    def criterion(self) -> bool:
        """(6.1), without epsilon, for one relation."""
        symbols, inhibition = self.code.length, self.inhibition
        mean, square, ratio = (
            self.code.level_sum / symbols,
            self.code.squared_norm / symbols,
            self.dim / symbols,
        )
        h, x = mean + 1 / symbols, square + 1 / symbols
        t = (inhibition - int(np.flatnonzero(self.code.composition).max())) * ratio - inhibition + h
        closed = (x - 2 * inhibition * mean + inhibition**2) * ratio - (inhibition - h) ** 2
        return (x * ratio - h**2) * t**2 >= h**2 * closed


@settings(max_examples=25)
@given(chains(), seeds)
def test_layer_normalisation_is_the_identity_on_superpositions_of_codewords(chain, seed):
    rng = np.random.default_rng(seed)
    names = rng.integers(chain.n_entities + 1, size=(20, chain.n_relations))
    inhibited = rng.integers(2, size=chain.n_relations)
    states = chain.superpose(chain.codewords[names]) + chain.inhibition() @ inhibited
    states += rng.permutation(chain.positions())[:1]
    example, rows = states[0], torch.from_numpy(states)
    gain = torch.full(rows.shape[1:], math.sqrt(example.var() + LAYER_NORM_EPSILON), dtype=torch.float64)
    normalised = layer_norm(
        rows, rows.shape[1:], gain, torch.full_like(gain, example.mean()), LAYER_NORM_EPSILON
    )
    torch.testing.assert_close(normalised, rows, rtol=0, atol=1e-9)


@pytest.mark.parametrize("factor", [2, 2.5, 4, 16])
@pytest.mark.parametrize("levels", ALPHABETS)
def test_every_block_stays_closed_where_the_end_is_read_if_there_are_two_relations(levels, factor):
    for symbols in LENGTHS:
        for n_relations in RELATIONS[1:]:
            for hops in HOPS:
                state = ReadState.of(symbols, levels, n_relations, hops, factor * levels)
                assert state.highest_closed_symbol() < 0


def test_one_relation_of_two_levels_stays_closed_where_the_end_is_read():
    for symbols in [*range(2, 60), 127, 500, 5000]:
        for hops in HOPS:
            state = ReadState.of(symbols, 2, 1, hops, 4)
            assert state.criterion()
            assert state.highest_closed_symbol() < 0


@pytest.mark.parametrize("factor", [2, 3, 8])
@pytest.mark.parametrize("levels", ALPHABETS)
def test_one_relation_stays_closed_exactly_where_the_criterion_says(levels, factor):
    for symbols in LENGTHS:
        for hops in HOPS:
            state = ReadState.of(symbols, levels, 1, hops, factor * levels)
            highest = state.highest_closed_symbol()
            assert state.criterion() == (highest <= 0) or abs(highest) < 1e-3


def test_the_criterion_for_one_relation_can_fail_with_many_levels():
    assert not ReadState.of(8, 8, 1, 1, 16).criterion()
    assert not ReadState.of(14, 4, 1, 1, 8).criterion()
    assert not ReadState.of(32, 3, 1, 1, 6).criterion()
    assert all(ReadState.of(symbols, 3, 1, 1, 6).criterion() for symbols in range(2, 32))


@settings(max_examples=25)
@given(chains(), seeds)
def test_a_rotation_that_fixes_the_mean_commutes_with_both_normalisations(chain, seed):
    dim = chain.layout.dim
    rotation = torch.from_numpy(random_rotation(dim, seed))
    ones = torch.ones(dim, dtype=torch.float64)
    torch.testing.assert_close(rotation @ rotation.T, torch.eye(dim, dtype=torch.float64))
    torch.testing.assert_close(rotation @ ones, ones)
    rows = torch.from_numpy(np.random.default_rng(seed).normal(size=(5, dim)))
    for normalise in (
        lambda x: layer_norm(x, (dim,), 3 * ones, 0.5 * ones),
        lambda x: torch.nn.functional.rms_norm(x, (dim,), 3 * ones, RMS_EPSILON),
    ):
        torch.testing.assert_close(normalise(rows @ rotation.T), normalise(rows) @ rotation.T)


# Llama: section 6


@given(st.floats(1, 700), st.floats(-127, 127))
def test_a_gate_of_m_passes_a_number_or_silences_it_to_within_e_to_the_minus_m(gate, number):
    m, bound = torch.tensor(gate, dtype=torch.float64), abs(number) * math.exp(-gate)
    rounding = abs(number) * 1e-15
    assert abs(silu(m).item() * number / gate - number) <= bound + rounding
    assert abs(silu(-m).item() * number / gate) <= bound * (1 + 1e-12)


@pytest.mark.parametrize("dtype", DTYPES.values())
def test_the_gate_of_the_model_passes_every_level_unchanged(dtype):
    levels = torch.arange(127, dtype=dtype)
    assert torch.equal(silu(torch.tensor(GATE, dtype=dtype)) * (levels * (1 / GATE)), levels)


@pytest.mark.parametrize("hops", [*range(1, 40), 100, 128])
@pytest.mark.parametrize("pairs", [4, 5, 32, 100])
def test_rotary_scores_prefer_the_right_place_by_the_gap(hops, pairs):
    angles = np.array(best_rotary_angles(pairs, hops))
    np.testing.assert_allclose(angles, angles[-1] ** (np.arange(pairs) / (pairs - 1)))
    gap = rotary_gap(angles, hops)
    away = np.r_[-hops:0, 1 : hops + 1]
    others = np.cos(np.outer(away, angles)).sum(axis=1)
    assert pairs - max(0, others.max()) >= gap - 1e-9
    assert gap >= 0.28 * pairs


@pytest.mark.parametrize(("hops", "n_relations"), [(1, 1), (2, 3), (5, 2), (7, 9)])
def test_the_stock_rotary_attention_reads_one_place(hops, n_relations):
    table = random_functions(5, n_relations, 7, rng=np.random.default_rng(hops))
    chain = RotaryChain(table, hops)
    model = stock_model(
        LLAMA, chain, {name: part.float() for name, part in exact_tensors(chain, LLAMA).items()}
    )
    model.set_attn_implementation("eager")
    frequencies = model.model.rotary_emb.inv_freq
    expected = best_rotary_angles(len(frequencies), hops)
    np.testing.assert_allclose(frequencies.numpy(), expected, rtol=1e-6)
    prompts = np.full((2, chain.context), chain.vocabulary.end)
    prompts[1, : chain.relation_positions] = chain.vocabulary.relations.start
    prompts[:, chain.relation_positions :] = [[chain.vocabulary.entities.start], [chain.vocabulary.unknown]]
    with torch.inference_mode():
        (attention,) = model(torch.from_numpy(prompts), output_attentions=True).attentions
    asked = attention[:, 0, chain.relation_positions :]
    torch.testing.assert_close(asked, torch.eye(chain.relation_positions, chain.context).expand_as(asked))


def end_scales(code: CompositionCode, n_relations: int, dim: int) -> tuple[float, float]:
    """ρ and ρ_f: what the second and the last RMS normalisation do where the end is read."""
    norm, symbols = code.squared_norm, code.length
    closed = norm - 2 * code.level_sum + symbols
    read, end = norm + (n_relations - 1) * closed + 1, n_relations * closed + 1
    epsilon = dim * RMS_EPSILON
    return math.sqrt((read + epsilon) / (end + epsilon)), math.sqrt((read + norm + epsilon) / (end + epsilon))


@pytest.mark.parametrize("levels", ALPHABETS)
def test_rms_normalisation_keeps_gates_closed_and_raises_the_end_where_the_end_is_read(levels):
    for symbols in LENGTHS:
        code = ReadState.of(symbols, levels, 1, 1, 0).code
        for n_relations in RELATIONS:
            before, after = end_scales(code, n_relations, (n_relations + 1) * symbols + 2)
            assert before**2 >= 2 / 3
            assert after >= 1


@settings(max_examples=20)
@given(tables(), st.integers(1, 4), st.integers(2, 5))
def test_the_stock_llama_in_float64_is_silent_where_the_end_is_read(table, hops, levels):
    chain = RotaryChain(table, hops, levels=levels)
    model = stock_model(LLAMA, chain, exact_tensors(chain, LLAMA))
    entities = chain.vocabulary.entity_ids(np.arange(-1, chain.n_entities))
    ends = np.full((len(entities), chain.relation_positions), chain.vocabulary.end)
    prompts = torch.from_numpy(np.concatenate([ends, entities[:, None]], axis=1))
    with torch.inference_mode():
        scores = model(prompts).logits[:, -1]
    _, scale = end_scales(chain.code, chain.n_relations, chain.layout.dim)
    expected = torch.zeros_like(scores)
    expected[:, chain.vocabulary.end] = 2 * scale
    torch.testing.assert_close(scores, expected, rtol=1e-6, atol=1e-15)  # the stock norm works in float32
