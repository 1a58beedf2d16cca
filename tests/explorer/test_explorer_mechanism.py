"""The layer that a page computes is the layer of the model."""

import base64
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from cases import WORLDS, gold_sequences
from georecall.explorer import View, memory_view, run_view
from georecall.explorer.mechanism import sparse
from georecall.memory import FactMemory

MEMORIES = [
    ("family", "opt", None),
    ("family", "llama", None),
    ("family", "opt", 3),
    ("missing facts", "opt", None),
    ("three levels", "llama", None),
    ("seven levels", "opt", None),
    ("one fact", "opt", None),
]
TOLERANCE = 2e-3


def forward(view: View, row: np.ndarray, step: int, control: int) -> tuple[np.ndarray, np.ndarray]:
    """Hidden units and scores, as the docstring of `Mechanism` states them."""
    layer = view.mechanism
    x = layer.share * row + layer.position[step] + layer.carried[control]
    read = layer.w1 @ x + layer.b1
    gate = None if layer.gate is None else layer.gate @ x
    hidden = np.maximum(read, 0) if gate is None else gate / (1 + np.exp(-gate)) * read
    y = layer.w2 @ hidden + layer.b2 + (x if layer.residual else 0)
    return hidden, view.outputs @ y[slice(*layer.scored)]


def stock(memory: FactMemory, tokens: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Hidden units and scores of the stock model at every position."""
    model, heard = memory.model(), []
    writing = model.get_submodule(memory.architecture.units.writes)
    writing.register_forward_pre_hook(lambda _, inputs: heard.append(inputs[0]))
    logits = model(tokens).logits
    return heard[0].reshape(*tokens.shape, -1).numpy(), logits.numpy()


@pytest.fixture(scope="module", params=MEMORIES, ids=str)
def memory(request) -> FactMemory:
    name, arch, rotate = request.param
    world = WORLDS[name]
    return FactMemory.compile(world.table, hops=world.hops, levels=world.levels, arch=arch, rotate=rotate)


def steps(memory: FactMemory) -> Iterator[tuple[int, int, int, np.ndarray, np.ndarray]]:
    """Step, token, relation read, and what the stock model makes of it, along chains of full length."""
    chain = memory.chain
    (world,) = (world for world in WORLDS.values() if world.table == memory.table)
    queries = next(world.queries(chain.hops).split(40))
    prompts, emitted = gold_sequences(chain, queries)
    sequences = np.concatenate([prompts, emitted[:, :-1]], axis=1)
    hidden, logits = stock(memory, torch.from_numpy(sequences))
    for number, relations in enumerate(queries.relations):
        for step, control in enumerate([*relations, chain.n_relations]):
            at = chain.relation_positions + step
            yield step, sequences[number, at], control, hidden[number, at], logits[number, at]


def test_hidden_units_and_scores_are_those_of_the_stock_model_at_every_step(memory):
    view = memory_view(memory, title="")
    for step, token, control, hidden, logits in steps(memory):
        found, scores = forward(view, view.rows(slice(token, token + 1))[0], step, control)
        assert found == pytest.approx(hidden, abs=TOLERANCE)
        if control == memory.chain.n_relations and memory.architecture.name == "llama":
            scores *= (
                logits.max() / scores.max()
            )  # its last normalisation stretches a state that reads the end
        assert scores == pytest.approx(logits, abs=TOLERANCE)


def test_attention_reads_the_place_that_the_page_draws(memory):
    chain = memory.chain
    model = memory.model()
    model.set_attn_implementation("eager")
    tokens = torch.full((1, chain.context), chain.vocabulary.end)
    tokens[0, : chain.hops] = chain.vocabulary.relations.start
    tokens[0, chain.relation_positions :] = chain.vocabulary.entities.start
    (weights,) = model(tokens, output_attentions=True).attentions
    for step in range(chain.relation_positions):
        assert weights[0, 0, chain.relation_positions + step].argmax() == step
        assert weights[0, 0, chain.relation_positions + step, step] > 1 - 1e-6


def test_a_row_is_the_sum_of_the_components_of_its_answers(memory):
    view = memory_view(memory, title="")
    every = slice(view.subjects.first, view.n_rows)
    symbols = view.mechanism.components.shape[2]
    vectors = view.mechanism.code_scale * view.outputs[view.answers(every), :symbols]
    sums = view.mechanism.offset + np.einsum("rdo,sro->sd", view.mechanism.components, vectors)
    slack = 0 if memory.chain.rotation is None else 1e-5
    assert np.abs(view.rows(every) - sums).max() <= slack


def test_an_edit_of_a_memory_is_one_component_exchanged(family):
    before = memory_view(family, title="")
    after = memory_view(family.edit("Alice", "wife", "Grace"), title="")
    alice, grace = (before.subjects.first + family.table.entity_index[name] for name in ("Alice", "Grace"))
    rows = before.rows(slice(0, before.n_rows)).copy()
    old = before.subject(alice)["answers"][0]["vector"]
    change = np.subtract(before.attribute(grace)["vector"], old)
    rows[alice] += before.mechanism.components[0] @ change
    assert np.array_equal(rows, after.rows(slice(0, after.n_rows)))
    assert np.array_equal(before.outputs, after.outputs)


@pytest.mark.parametrize("member", [0, 1])
def test_a_run_is_computed_as_its_model_computes_it(run, member):
    view = run_view(run, title="", member=member)
    n_subjects, n_relations = run.table.answers.shape
    prompts = [(n_subjects + r, s) for s in range(n_subjects) for r in range(n_relations)]
    found = run.model.trace(torch.tensor(prompts))
    scores = found.state[member] @ run.model.unembedding[member].T
    for number, (relation, subject) in enumerate(prompts):
        row = view.rows(slice(subject, subject + 1))[0]
        hidden, wanted = forward(view, row, 0, relation - n_subjects)
        assert hidden == pytest.approx(found.hidden[member, number].numpy(), abs=1e-4)
        assert wanted == pytest.approx(scores[number].numpy(), abs=1e-4)


def test_every_unit_of_a_run_belongs_to_the_relation_that_opens_it_most_often(run):
    owners = run_view(run, title="").mechanism.owners
    assert owners.shape == (run.config.width,)
    assert set(owners.tolist()) <= set(range(len(run.table.relations)))


matrices = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=5), elements=st.integers(-2, 2))


@given(matrices)
def test_a_sparse_matrix_holds_every_entry(matrix):
    packed = sparse(matrix)
    start, index, value = (
        np.frombuffer(base64.b64decode(packed[name]), dtype)
        for name, dtype in (("start", "<i4"), ("index", "<i4"), ("value", "<f4"))
    )
    found = np.zeros((len(start) - 1, packed["columns"]), np.float32)
    for row in range(len(found)):
        entries = slice(start[row], start[row + 1])
        found[row, index[entries]] = value[entries]
    assert np.array_equal(found, matrix)
