"""Embeddings in closed form for subjects that were never trained, from what the old subjects show."""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import torch
from jaxtyping import Float64, Int64

from georecall.analysis.interventions import only_layer
from georecall.analysis.ridge import ridge
from georecall.analysis.specimen import SUBJECT, Member
from georecall.errors import AnalysisError
from georecall.models.recall import RecallHeads

Method = Literal["ridge", "selector"]
METHODS: tuple[Method, ...] = ("ridge", "selector")
DAMPING = 0.01
"""λ of the selector writer, in units of the mean of the diagonal of H."""


class Writer(Protocol):
    """Writes embeddings; −1 stands for a fact that is not known."""

    def write(self, answers: Int64[np.ndarray, "subjects relations"]) -> Float64[np.ndarray, "subjects dim"]:
        """One embedding for each row of answers."""


def writer(method: Method, member: Member) -> Writer:
    """A writer fitted to the old world of a member.

    Raises:
        AnalysisError: the method is not known.
    """
    if method == "ridge":
        return RidgeWriter.fitted(member)
    if method == "selector":
        return SelectorWriter.fitted(member)
    raise AnalysisError(f"expected a method among {', '.join(METHODS)}, got {method!r}")


def attribute_vectors(
    member: Member, answers: Int64[np.ndarray, "subjects relations"]
) -> Float64[np.ndarray, "subjects relations out"]:
    """`u_{f_r(s)}`, and for a fact that is not known the mean of those that relation r has in the old world."""
    vectors = member.attributes[answers]
    old = member.table.answers
    for relation in range(answers.shape[1]):
        known = old[old[:, relation] >= 0, relation]
        vectors[answers[:, relation] < 0, relation] = member.attributes[known].mean(axis=0)
    return vectors


@dataclass(frozen=True)
class RidgeWriter:
    """`e'_s = c + Σ_r A_r u_{g_r(s)}`: the superposition fitted to the old subjects (docs/theory.md §7)."""

    member: Member
    offset: Float64[np.ndarray, " dim"]
    matrix: Float64[np.ndarray, "dim regressors"]

    @classmethod
    def fitted(cls, member: Member) -> "RidgeWriter":
        """Ridge regression, its strength chosen by leave-one-out among the old subjects."""
        old = attribute_vectors(member, member.table.answers)
        fit = ridge(old.reshape(len(old), -1), member.subjects)
        return cls(member, np.asarray(fit.intercept_), np.asarray(fit.coef_))

    def write(self, answers: Int64[np.ndarray, "subjects relations"]) -> Float64[np.ndarray, "subjects dim"]:
        """The superposition of the given answers."""
        vectors = attribute_vectors(self.member, answers)
        return self.offset + vectors.reshape(len(vectors), -1) @ self.matrix.T


@dataclass(frozen=True)
class SelectorWriter:
    """The least-squares embedding whose image under every averaged selector is the attribute vector asked for.

        M_r = (W2 diag(ḡ_r) W1 [+ I]) V_r,   G = ŨᵀŨ,   H = Σ_r M_rᵀ G M_r
        e'_s = ē + γ (H + λI)⁻¹ Σ_r M_rᵀ (u_{g_r(s)} − ū)

    ḡ_r is the mean gate over the old subjects, V_r the path from the subject's place to the MLP (½ for uniform
    attention), Ũ the centred unembedding; ē and the spread γ are the old subjects' mean and root mean square.
    The terms in brackets are there in a residual stream. No map is fitted to embeddings.
    """

    member: Member
    offset: Float64[np.ndarray, " dim"]
    inverse: Float64[np.ndarray, "relations dim out"]
    scale: float

    @classmethod
    def fitted(cls, member: Member) -> "SelectorWriter":
        """From the weights, and from the gates that the old subjects open."""
        maps = averaged_selectors(member)
        centred = member.attributes - member.attributes.mean(axis=0)
        metric = centred.T @ centred
        normal = np.einsum("roi,op,rpj->ij", maps, metric, maps, optimize=True)
        normal += DAMPING * np.trace(normal) / len(normal) * np.eye(len(normal))
        inverse = np.linalg.solve(normal, maps.transpose(0, 2, 1))
        plain = cls(member, np.zeros(len(normal)), inverse, 1.0)
        old = member.subjects - member.subjects.mean(axis=0)
        written = plain.write(member.table.answers)
        scale = float(np.linalg.norm(old) / np.linalg.norm(written))
        return cls(member, member.subjects.mean(axis=0) - scale * written.mean(axis=0), inverse, scale)

    def write(self, answers: Int64[np.ndarray, "subjects relations"]) -> Float64[np.ndarray, "subjects dim"]:
        """The embeddings that the selectors turn into the given answers."""
        vectors = attribute_vectors(self.member, answers) - self.member.attributes.mean(axis=0)
        return self.offset + self.scale * np.einsum("rdo,sro->sd", self.inverse, vectors, optimize=True)


def averaged_selectors(member: Member) -> Float64[np.ndarray, "relations out dim"]:
    """M_r: what relation r's open gates make of a subject's embedding, averaged over the old subjects."""
    layer = only_layer(member.model)
    n_subjects, n_relations = member.table.answers.shape
    tokens = torch.cartesian_prod(n_subjects + torch.arange(n_relations), torch.arange(n_subjects))
    tokens = tokens.to(member.model.unembedding.device)
    gates = (member.activations(tokens).pre_activation[0] > 0).double().unflatten(0, (n_relations, -1))
    w1, w2 = layer.w1[0].double(), layer.w2[0].double()
    maps = (w2 * gates.mean(dim=1)[:, None]) @ w1
    if layer.residual:
        maps = maps + torch.eye(len(w2), dtype=maps.dtype, device=maps.device)
    return (maps @ _subject_paths(member, tokens, n_relations)).cpu().numpy()


@torch.no_grad()
def _subject_paths(
    member: Member, tokens: Int64[torch.Tensor, "prompts time"], n_relations: int
) -> Float64[torch.Tensor, "relations dim dim"]:
    """V_r: how the MLP input follows the subject's embedding with the attention weights held at their mean."""
    layer = only_layer(member.model)
    x = member.model.embed(tokens)[0]
    identity = torch.eye(x.shape[-1], dtype=torch.double, device=x.device)
    own = layer.residual * identity
    if not isinstance(layer.attention, RecallHeads):
        return (own + identity / x.shape[1]).expand(n_relations, -1, -1)
    heads = {name: parameter[0] for name, parameter in layer.attention.named_parameters()}
    query = torch.einsum("bd,hed->bhe", x[:, -1], heads["query"])
    key = torch.einsum("bkd,hed->bhke", x, heads["key"])
    weights = torch.softmax(torch.einsum("bhe,bhke->bhk", query, key), dim=-1)[..., SUBJECT]
    mean = weights.double().unflatten(0, (n_relations, -1)).mean(dim=1)
    return own + torch.einsum("rh,hde,hef->rdf", mean, heads["output"].double(), heads["value"].double())
