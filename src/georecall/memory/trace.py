"""One fact on its way through the stock model: what every part of the layer holds when a question is asked."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Float64
from torch import Tensor

from georecall.models.stock_model import stock_model
from georecall.models.tokenizer import prompt_ids

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """What the model holds after the prompt of one hop, in the directions of the ground truth.

    `answers` are those of the subject for every relation, None where unknown. In each block, `embedded` is what
    the subject's embedding holds, `carried` what attention adds, and `hidden` what passes the activation;
    `written` is the sum of the blocks, in the output slice. `scores` are in the order of the vocabulary.
    """

    subject: str
    relation: int
    answers: tuple[str | None, ...]
    embedded: Float64[np.ndarray, "relations places"]
    carried: Float64[np.ndarray, "relations places"]
    hidden: Float64[np.ndarray, "relations places"]
    written: Float64[np.ndarray, " places"]
    scores: Float64[np.ndarray, " vocabulary"]

    @property
    def summed(self) -> Float64[np.ndarray, "relations places"]:
        """Embedding and attention together: what the hidden units read."""
        return self.embedded + self.carried


def trace(memory: "FactMemory", subject: str, relation: str) -> Trace:
    """Ask one fact of the stock model, and listen.

    Raises:
        UnknownNameError: the subject or the relation is not in the table.
    """
    table, chain, truth = memory.table, memory.chain, memory.ground_truth()
    entity, asked = table.resolve_entity(subject), table.resolve_relation(relation)
    tokens = prompt_ids(chain.vocabulary, np.array([entity]), np.array([[asked]]), hops=chain.hops)
    carried, hidden, state = _listened(memory, torch.from_numpy(tokens))
    embedding = memory.tensors[memory.architecture.embedding][chain.vocabulary.entities.start + entity]
    unembedding = memory.tensors[memory.architecture.unembedding]
    names = (None, *table.entities)
    return Trace(
        subject=table.entities[entity],
        relation=asked,
        answers=tuple(names[answer] for answer in truth.answers[entity].tolist()),
        embedded=embedding.double().numpy() @ truth.blocks,
        carried=carried @ truth.blocks,
        hidden=hidden.reshape(chain.n_relations, -1),
        written=state @ truth.output,
        scores=unembedding.double().numpy() @ state,
    )


def _listened(memory: "FactMemory", tokens: Tensor) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What attention brings to the last token, its hidden units, and its state after the layer."""
    architecture, heard = memory.architecture, dict[str, Tensor]()
    model = stock_model(architecture, memory.chain, memory.tensors)
    attention, writes = (
        model.get_submodule(name) for name in (architecture.attention, architecture.units.writes)
    )
    attention.register_forward_hook(lambda *held: heard.update(carried=held[2][0]))
    writes.register_forward_pre_hook(lambda *held: heard.update(hidden=held[1][0]))
    with torch.inference_mode():
        state = model.base_model(tokens).last_hidden_state
    carried, hidden, last = (
        found.flatten(end_dim=-2)[-1].double().numpy() for found in (heard["carried"], heard["hidden"], state)
    )
    return carried, hidden, last
