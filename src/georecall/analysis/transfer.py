"""Freeze and swap: new facts by writing subject embeddings in closed form, with every other parameter as it was."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float64, Int64

from georecall.analysis.estimates import Estimate, plain
from georecall.analysis.specimen import Member, Specimen
from georecall.analysis.writers import Method, averaged_selectors, writer
from georecall.errors import AnalysisError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """Share of all N·R facts answered right, for each member; new worlds are random bijections.

        old       : the facts trained on, with the embeddings trained
        accuracy  : [members, worlds], new facts with embeddings written in closed form
        random    : the same new facts with Gaussian embeddings of the old ones' mean and spread (control)
        permuted  : the same new facts with the old embeddings in another order (control)
        chance    : 1/A

    `ranks` are the participation ratios of the averaged selectors M_r, `interference` is their sum over d: above
    about 1 a new tuple of targets cannot meet all of them (docs/transfer.md).
    """

    method: Method
    worlds: int
    old: Estimate
    accuracy: Float64[np.ndarray, "members worlds"]
    random: Estimate
    permuted: Estimate
    chance: float
    ranks: Estimate
    interference: Estimate

    @property
    def by_member(self) -> Estimate:
        """Accuracy of every member, averaged over the new worlds."""
        return Estimate(self.accuracy.mean(axis=1))

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        estimates = ("old", "random", "permuted", "ranks", "interference")
        return {
            "method": self.method,
            "worlds": self.worlds,
            "chance": self.chance,
            "accuracy": self.by_member.to_dict() | {"worlds": plain(self.accuracy)},
            **{name: getattr(self, name).to_dict() for name in estimates},
        }


def swap_worlds(
    model: RecallTransformer,
    table: FactTable,
    *,
    method: Method = "ridge",
    worlds: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Transfer:
    """Swap whole new worlds into a trained or constructed ensemble, all else frozen, and ask everything.

    Raises:
        AnalysisError: as `Specimen.of`; or the table is not one whose relations are bijections onto its
            attributes, or the parameters were changed on the way.
    """
    specimen = Specimen.of(model, table, seed=seed)
    new = [_new_world(table, seed=[seed, world]) for world in range(1, worlds + 1)]
    before = fingerprint(model)
    rows = [
        _swapped(member, method, new, np.random.default_rng(seed))
        for member in specimen.members("transfer", progress)
    ]
    if fingerprint(model) != before:
        raise AnalysisError("expected frozen parameters, but a swap changed them")
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Transfer(
        method=method,
        worlds=worlds,
        accuracy=found["accuracy"],
        chance=1 / len(table.attributes),
        **{name: Estimate(found[name]) for name in ("old", "random", "permuted", "ranks", "interference")},
    )


@dataclass(frozen=True, kw_only=True)
class Insertion:
    """New subjects one at a time: share of their facts answered right when only their row is written.

    `facts` counts the new facts whose attribute the old subjects have too, for the same relation: of others the
    model cannot know anything. `majority` is the accuracy of always giving a relation's commonest old answer.
    """

    method: Method
    subjects: int
    facts: int
    left_out: int
    accuracy: Estimate
    random: Estimate
    majority: float
    chance: float

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON."""
        return vars(self) | {"accuracy": self.accuracy.to_dict(), "random": self.random.to_dict()}


def insert_subjects(
    model: RecallTransformer,
    table: FactTable,
    answers: Int64[np.ndarray, "new relations"],
    *,
    method: Method = "ridge",
    seed: int = 0,
    progress: Progress = no_progress,
) -> Insertion:
    """Write the embeddings of subjects that the model never saw, and ask their facts; −1 is a fact not known.

    Raises:
        AnalysisError: as `Specimen.of`; or no new fact has an attribute that its relation has in the table.
    """
    specimen = Specimen.of(model, table, seed=seed)
    known = _seen(table, answers)
    if not known.any():
        raise AnalysisError(
            "expected new facts with attributes that the table has for the same relation, got none"
        )
    told = np.where(known, answers, -1)
    rng = np.random.default_rng(seed)
    right: dict[str, list[float]] = {"accuracy": [], "random": []}
    for member in specimen.members("insertion", progress):
        written = writer(method, member).write(told)
        for name, embeddings in (("accuracy", written), ("random", _gaussian(member, len(told), rng))):
            given = member.ask_all(member.tensor(embeddings))
            right[name].append(float((given == told)[known].mean()))
    commonest = np.array([_commonest(column) for column in table.answers.T])
    return Insertion(
        method=method,
        subjects=len(answers),
        facts=int(known.sum()),
        left_out=int(((answers >= 0) & ~known).sum()),
        accuracy=Estimate(np.array(right["accuracy"])),
        random=Estimate(np.array(right["random"])),
        majority=float((commonest == told)[known].mean()),
        chance=1 / len(table.attributes),
    )


def fingerprint(model: RecallTransformer) -> str:
    """SHA-256 of the bits of all parameters."""
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _swapped(
    member: Member,
    method: Method,
    worlds: Sequence[Int64[np.ndarray, "subjects relations"]],
    rng: np.random.Generator,
) -> dict[str, Any]:
    def share(embeddings: Float64[np.ndarray, "subjects dim"], gold: np.ndarray) -> float:
        known = gold >= 0
        return float((member.ask_all(member.tensor(embeddings)) == gold)[known].mean())

    write, old = writer(method, member).write, member.subjects
    ranks = np.array([participation_ratio(m) for m in averaged_selectors(member)])
    return {
        "old": share(old, member.table.answers),
        "accuracy": [share(write(gold), gold) for gold in worlds],
        "random": np.mean([share(_gaussian(member, len(old), rng), gold) for gold in worlds]),
        "permuted": np.mean([share(rng.permutation(old), gold) for gold in worlds]),
        "ranks": ranks,
        "interference": ranks.sum() / old.shape[1],
    }


def _new_world(table: FactTable, *, seed: Sequence[int]) -> Int64[np.ndarray, "subjects relations"]:
    n_subjects, n_relations = table.answers.shape
    if len(table.attributes) != n_subjects:
        raise AnalysisError(
            f"expected a world of bijections, with as many attributes as its {n_subjects} subjects, "
            f"got {len(table.attributes)}; new subjects of another table can be inserted"
        )
    return random_bijections(n_subjects, n_relations, rng=np.random.default_rng(seed)).answers


def _gaussian(member: Member, count: int, rng: np.random.Generator) -> Float64[np.ndarray, "count dim"]:
    """Embeddings with the mean and the spread of the old ones in every coordinate."""
    mean, spread = member.subjects.mean(axis=0), member.subjects.std(axis=0)
    return mean + spread * rng.standard_normal((count, len(mean)))


def _seen(table: FactTable, answers: Int64[np.ndarray, "new relations"]) -> Bool[np.ndarray, "new relations"]:
    """Which answers the table has too, for the same relation; −1 is none."""
    columns = zip(answers.T, table.answers.T, strict=True)
    return (answers >= 0) & np.stack([np.isin(new, old) for new, old in columns], axis=1)


def _commonest(answers: Int64[np.ndarray, " subjects"]) -> int:
    return int(np.bincount(answers[answers >= 0]).argmax())


def participation_ratio(matrix: Float64[np.ndarray, "out dim"]) -> float:
    """Effective rank of a map, (Σσ²)² / Σσ⁴; 0 for the zero map."""
    energy = np.linalg.svd(matrix, compute_uv=False) ** 2
    return float(energy.sum() ** 2 / (energy**2).sum()) if energy.any() else 0.0
