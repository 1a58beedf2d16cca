"""Embeddings in closed form for subjects that were never trained, from what the old subjects show."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from georecall.constructions.prompts import SUBJECT, question_tokens
from georecall.dissection.held_out_split import Member
from georecall.errors import AnalysisError
from georecall.facts.queries import Queries
from georecall.models.activations import Activations
from georecall.models.attention import RecallHeads
from georecall.models.recall import RecallLayer
from georecall.statistics.superposition import Regressors, SuperpositionMap

Method = Literal["ridge", "selector"]
METHODS: tuple[Method, ...] = ("ridge", "selector")
DAMPING = 0.01
"""λ of the selector solver, in units of the mean of the diagonal of H."""


@dataclass(frozen=True)
class EmbeddingSolver:
    """The superposition `e'_s = c + Σ_r A_r u_{g_r(s)}` for any facts g (docs/theory.md §7)."""

    member: Member
    superposition: SuperpositionMap

    def solve(self, answers: Int64[np.ndarray, "subjects relations"]) -> Float64[np.ndarray, "subjects dim"]:
        """One embedding for each row of answers, whatever the other rows; −1 stands for a fact not known."""
        return self.superposition.embed(_by_relation(attribute_vectors(self.member, answers)))


def embedding_solver(method: str, member: Member) -> EmbeddingSolver:
    """A solver made from the old world of a member.

    Raises:
        AnalysisError: the method is not known.
    """
    return EmbeddingSolver(member, _MAKERS[checked_method(method)](member))


def checked_method(name: str) -> Method:
    """The method of this name.

    Raises:
        AnalysisError: there is none.
    """
    known = next((method for method in METHODS if method == name), None)
    if known is None:
        raise AnalysisError(f"expected a method among {', '.join(METHODS)}, got {name!r}")
    return known


def attribute_vectors(
    member: Member, answers: Int64[np.ndarray, "subjects relations"]
) -> Float64[np.ndarray, "subjects relations out"]:
    """`u_{f_r(s)}`, and for a fact that is not known the mean of those that relation r has in the old world."""
    vectors = member.attributes[answers]
    for relation, old in enumerate(member.table.answers.T):
        vectors[answers[:, relation] < 0, relation] = member.attributes[old[old >= 0]].mean(axis=0)
    return vectors


def averaged_selectors(member: Member) -> Float64[np.ndarray, "relations out dim"]:
    """M_r, how the output follows a subject's embedding: the Jacobian averaged over the old facts of relation r.

        J_{s,r} = (W2 diag(gate) W1 [+ I]) (Σ_h w_h O_h V_h [+ I])

    w_h is the weight of head h on the subject, held fixed: ½, with O V = I, for uniform attention. A gate is 1
    where the pre-activation is positive. The terms in brackets are there in a residual stream.
    """
    return np.stack([_averaged_selector(member, relation) for relation in range(len(member.table.relations))])


def _ridge(member: Member) -> SuperpositionMap:
    """Ridge regression of the old embeddings, its strength chosen by leave-one-out among the old subjects."""
    old = attribute_vectors(member, member.table.answers)
    return Regressors(_by_relation(old)).fit(member.subjects)


def _selector(member: Member) -> SuperpositionMap:
    """The embedding that the averaged selectors together turn best into the attribute vectors asked for.

        min_e Σ_r ‖Ũ (M_r e − u_{g_r(s)})‖² + λ‖e‖²   at   e = (H + λI)⁻¹ Σ_r M_rᵀ G u_{g_r(s)}

    with Ũ the centred unembedding, G = ŨᵀŨ, H = Σ_r M_rᵀ G M_r: errors count by what they do to scores. The
    solutions are shifted and scaled so that those of the old facts have the mean and the spread of the old
    embeddings. The old facts are not looked at otherwise, so embeddings that went to the wrong subjects do no
    harm, and a model that was never trained takes some facts too: compare with one. Averaging is approximate where
    gates depend on the subject. In the one-hop construction half of a block is open; all new facts are recalled,
    unless rounding in a turned residual stream opens gates whose pre-activation should be 0.
    """
    maps = averaged_selectors(member)
    unembedding = member.attributes - member.attributes.mean(axis=0)
    metric = unembedding.T @ unembedding
    pulled = maps.swapaxes(1, 2) @ metric
    normal = (pulled @ maps).sum(axis=0)
    normal += DAMPING * np.trace(normal) / len(normal) * np.eye(len(normal))
    matrices = np.linalg.pinv(normal, hermitian=True) @ pulled
    unscaled = SuperpositionMap(offset=np.zeros(len(normal)), matrices=list(matrices))
    solved = unscaled.embed(_by_relation(attribute_vectors(member, member.table.answers)))
    mean, spread = member.subjects.mean(axis=0), _spread(solved)
    scale = _spread(member.subjects) / spread if spread else 0.0
    return SuperpositionMap(
        offset=mean - scale * solved.mean(axis=0), matrices=[scale * matrix for matrix in matrices]
    )


_MAKERS: dict[Method, Callable[[Member], SuperpositionMap]] = {"ridge": _ridge, "selector": _selector}


def _by_relation(
    vectors: Float64[np.ndarray, "subjects relations out"],
) -> list[Float64[np.ndarray, "subjects out"]]:
    return list(vectors.swapaxes(0, 1))


def _spread(embeddings: Float64[np.ndarray, "subjects dim"]) -> float:
    return float(np.linalg.norm(embeddings - embeddings.mean(axis=0)))


@torch.no_grad()
def _averaged_selector(member: Member, relation: int) -> Float64[np.ndarray, "out dim"]:
    layer = member.model.only_layer
    subjects = np.flatnonzero(member.table.answers[:, relation] >= 0)
    asked = Queries(subjects, np.full((len(subjects), 1), relation))
    prompts = torch.from_numpy(question_tokens(asked, len(member.table.subjects)))
    found = member.activations(prompts.to(member.model.unembedding.device))
    gates = (found.pre_activation[0] > 0).double()
    weights, paths = _subject_paths(layer, found)
    opened = gates.T @ weights / len(subjects)
    w1, w2 = layer.w1[0].double(), layer.w2[0].double()
    maps = torch.einsum("ow,wp,wi->poi", w2, opened, w1)
    if layer.residual:
        maps = maps + weights.mean(dim=0)[:, None, None] * torch.eye(len(w2)).to(maps)
    return (maps @ paths).sum(dim=0).cpu().numpy()


def _subject_paths(
    layer: RecallLayer, found: Activations
) -> tuple[Float64[Tensor, "batch paths"], Float64[Tensor, "paths dim dim"]]:
    """The linear maps from the subject's embedding to the MLP, and their weights in each prompt."""
    weights = found.attention[0, :, :, SUBJECT].double()
    identity = torch.eye(found.embedded.shape[-1]).to(weights)[None]
    paths = identity
    if isinstance(layer.attention, RecallHeads):
        paths = layer.attention.output[0].double() @ layer.attention.value[0].double()
    if layer.residual:
        weights = torch.cat([weights, torch.ones_like(weights[:, :1])], dim=1)
        paths = torch.cat([paths, identity])
    return weights, paths
