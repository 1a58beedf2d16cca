"""Freeze and swap: new facts by writing subject embeddings in closed form, with every other parameter as it was."""

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from jaxtyping import Bool, Float64, Int64

from georecall.dissection.held_out_split import HeldOutSplit, Member
from georecall.errors import AnalysisError, UnknownNameError
from georecall.facts.table import FactTable
from georecall.facts.worlds import random_bijections
from georecall.models.recall import RecallTransformer
from georecall.progress import Progress, no_progress
from georecall.records import AsLists, Record
from georecall.statistics.estimates import Estimate
from georecall.statistics.random_streams import stream
from georecall.statistics.subspaces import participation_ratio
from georecall.transfer.embedding_solvers import averaged_selectors, checked_method, embedding_solver


class Accuracy(Estimate):
    """The share of new facts answered right by each member, averaged over the new worlds, and in each of them."""

    worlds: Annotated[Float64[np.ndarray, "members worlds"], AsLists()]

    @classmethod
    def of(cls, worlds: Float64[np.ndarray, "members worlds"]) -> "Accuracy":
        """From the share in each world."""
        return cls(members=worlds.mean(axis=1), worlds=worlds)


class Transfer(Record):
    """Share of all N·R facts answered right, for each member; new worlds are random bijections.

        old       : the facts trained on, with the embeddings trained
        accuracy  : new facts with embeddings written in closed form
        random    : the same new facts with Gaussian embeddings of the old ones' mean and spread (control)
        permuted  : the same new facts with the old embeddings in another order (control)
        chance    : 1/A

    `ranks` are the participation ratios of the averaged selectors M_r, `interference` is their sum over d: above
    about 1 a new tuple of targets cannot meet all of them (docs/transfer.md).
    """

    method: str
    worlds: int
    chance: float
    accuracy: Accuracy
    old: Estimate
    random: Estimate
    permuted: Estimate
    ranks: Estimate
    interference: Estimate


class Insertion(Record):
    """New subjects one at a time: share of their facts answered right when only their row is written.

    `facts` counts the new facts whose attribute the old subjects have too, for the same relation; the others are
    `left_out`, as the model cannot know anything of them. `majority` is the accuracy of always giving a
    relation's commonest old answer, `chance` is 1/A, `random` the control of `Transfer`.
    """

    method: str
    subjects: int
    facts: int
    left_out: int
    accuracy: Estimate
    random: Estimate
    majority: float
    chance: float


def swap_worlds(
    model: RecallTransformer,
    table: FactTable,
    *,
    method: str = "ridge",
    worlds: int = 5,
    seed: int = 0,
    progress: Progress = no_progress,
) -> Transfer:
    """Swap whole new worlds into a trained or constructed ensemble, all else frozen, and ask everything.

    Raises:
        AnalysisError: as `HeldOutSplit.of`; or the method is not known, there are no worlds, or a relation of the
            table is not a bijection of its subjects onto its attributes.
    """
    checked_method(method)
    check_worlds(worlds)
    split = HeldOutSplit.of(model, table, seed=seed)
    _check_bijections(table)
    new = [_new_world(table, seed, number) for number in range(1, worlds + 1)]
    rows = [_swapped(member, method, new, seed) for member in split.members("transfer", progress)]
    found = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return Transfer(
        method=method,
        worlds=worlds,
        accuracy=Accuracy.of(found.pop("accuracy")),
        chance=1 / len(table.attributes),
        **{name: Estimate(values) for name, values in found.items()},
    )


def insert_subjects(
    model: RecallTransformer,
    table: FactTable,
    new: FactTable,
    *,
    method: str = "ridge",
    seed: int = 0,
    progress: Progress = no_progress,
) -> Insertion:
    """Write the embeddings of subjects that the model never saw, and ask all their facts.

    Raises:
        UnknownNameError: a new relation is not in the table.
        AnalysisError: as `HeldOutSplit.of`; or the method is not known, a new subject is in the table already, or no
            new fact has an attribute that its relation has in the table.
    """
    checked_method(method)
    answers = _resolved(table, new)
    split = HeldOutSplit.of(model, table, seed=seed)
    known = answers >= 0
    right: dict[str, list[float]] = {"accuracy": [], "random": []}
    for member in split.members("insertion", progress):
        noise = _gaussian(member, len(answers), stream(seed, "random embeddings"))
        for name, embeddings in (
            ("accuracy", embedding_solver(method, member).solve(answers)),
            ("random", noise),
        ):
            right[name].append(_share(member, embeddings, answers))
    commonest = np.array([np.bincount(old[old >= 0]).argmax() for old in table.answers.T])
    return Insertion(
        method=method,
        subjects=len(answers),
        facts=int(known.sum()),
        left_out=new.n_facts - int(known.sum()),
        accuracy=Estimate(np.array(right["accuracy"])),
        random=Estimate(np.array(right["random"])),
        majority=float((commonest == answers)[known].mean()),
        chance=1 / len(table.attributes),
    )


def check_worlds(worlds: int) -> None:
    """Refuse a number of worlds below 1.

    Raises:
        AnalysisError: it is.
    """
    if worlds < 1:
        raise AnalysisError(f"worlds must be 1 or more, got {worlds}")


def _swapped(
    member: Member, method: str, worlds: Sequence[Int64[np.ndarray, "subjects relations"]], seed: int
) -> dict[str, Any]:
    old, solve = member.subjects, embedding_solver(method, member).solve
    random, order = stream(seed, "random embeddings"), stream(seed, "permuted embeddings")
    singular_values = np.linalg.svd(averaged_selectors(member), compute_uv=False)
    ranks = [participation_ratio(values) for values in singular_values]
    return {
        "old": _share(member, old, member.table.answers),
        "accuracy": [_share(member, solve(gold), gold) for gold in worlds],
        "random": np.mean([_share(member, _gaussian(member, len(old), random), gold) for gold in worlds]),
        "permuted": np.mean([_share(member, order.permutation(old), gold) for gold in worlds]),
        "ranks": ranks,
        "interference": sum(ranks) / old.shape[1],
    }


def _share(
    member: Member,
    embeddings: Float64[np.ndarray, "subjects dim"],
    answers: Int64[np.ndarray, "subjects relations"],
) -> float:
    """Share of the known answers that a member gives about subjects with these embeddings."""
    given = member.ask_all(member.tensor(embeddings))
    return float((given == answers)[answers >= 0].mean())


def _gaussian(member: Member, count: int, rng: np.random.Generator) -> Float64[np.ndarray, "count dim"]:
    """Embeddings with the mean and the spread of the old ones in every coordinate."""
    mean, spread = member.subjects.mean(axis=0), member.subjects.std(axis=0)
    return mean + spread * rng.standard_normal((count, len(mean)))


def _new_world(table: FactTable, seed: int, number: int) -> Int64[np.ndarray, "subjects relations"]:
    return random_bijections(*table.answers.shape, rng=stream(seed, "new world", number)).answers


def _check_bijections(table: FactTable) -> None:
    n_subjects = len(table.subjects)
    if len(table.attributes) != n_subjects:
        raise AnalysisError(
            f"expected a world of bijections, with as many attributes as its {n_subjects} subjects, "
            f"got {len(table.attributes)}; new subjects of another table can be inserted"
        )
    for relation, answers in zip(table.relations, table.answers.T, strict=True):
        if not np.array_equal(np.sort(answers), np.arange(n_subjects)):
            raise AnalysisError(
                f"expected a world of bijections, but relation {relation!r} does not give every attribute to one "
                "subject; new subjects can be inserted"
            )


def _resolved(table: FactTable, new: FactTable) -> Int64[np.ndarray, "new relations"]:
    """The new facts by the ids of the table; −1 where there is none, or none that the table has for the relation."""
    if repeated := [name for name in new.subjects if name in table.subject_index]:
        raise AnalysisError(
            f"expected new subjects, got {len(repeated)} that the model has: {', '.join(map(repr, repeated[:5]))}"
        )
    if unknown := [name for name in new.relations if name not in table.relation_index]:
        raise UnknownNameError(
            f"expected relations among {', '.join(map(repr, table.relations))}, got {', '.join(map(repr, unknown))}"
        )
    columns = [table.relation_index[name] for name in new.relations]
    ids = np.array([*(table.attribute_index.get(name, -1) for name in new.attributes), -1])
    answers = np.full((len(new.subjects), len(table.relations)), -1)
    answers[:, columns] = ids[new.answers]
    known = _has_been_answered(table, answers)
    if not known.any():
        raise AnalysisError(
            "expected new facts with attributes that the table has for the same relation, got none"
        )
    return np.where(known, answers, -1)


def _has_been_answered(
    table: FactTable, answers: Int64[np.ndarray, "new relations"]
) -> Bool[np.ndarray, "new relations"]:
    """Which of the answers some subject of the table has too, for the same relation; −1 is none."""
    columns = zip(answers.T, table.answers.T, strict=True)
    return (answers >= 0) & np.stack([np.isin(new, old) for new, old in columns], axis=1)
