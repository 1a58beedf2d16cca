"""Worlds: synthetic data sets, random tables of facts on which recall is measured."""

import numpy as np

from georecall.errors import GeorecallError
from georecall.facts.table import FactTable


def random_bijections(
    n_subjects: int, n_relations: int, *, rng: np.random.Generator, disjoint: bool = False
) -> FactTable:
    """Every relation a uniformly random bijection of the subjects onto its attributes.

    The attributes are the subjects themselves, x0, x1, …; or, if `disjoint`, new names for every relation,
    r0:a0, r0:a1, …, r1:a0, ….

    Raises GeorecallError if a size is below one.
    """
    _check_sizes(n_subjects=n_subjects, n_relations=n_relations)
    subjects = _numbered("x", n_subjects)
    answers = np.stack([rng.permutation(n_subjects) for _ in range(n_relations)], axis=1)
    attributes = subjects
    if disjoint:
        attributes = tuple(f"r{r}:a{a}" for r in range(n_relations) for a in range(n_subjects))
        answers += n_subjects * np.arange(n_relations)
    return FactTable(subjects, _numbered("r", n_relations), attributes, answers)


def random_functions(
    n_subjects: int,
    n_relations: int,
    n_attributes: int,
    *,
    rng: np.random.Generator,
    missing: float = 0.0,
) -> FactTable:
    """Every answer drawn uniformly and independently from A attributes, and missing with a given probability.

    The first min(N, A) attributes are the first subjects, x0, x1, …, so that chains run; the rest are no
    subjects: aN, aN+1, ….

    Raises GeorecallError if a size is below one, or `missing` is no probability.
    """
    _check_sizes(n_subjects=n_subjects, n_relations=n_relations, n_attributes=n_attributes)
    if not 0 <= missing <= 1:
        raise GeorecallError(f"expected a probability for missing, got {missing}")
    subjects = _numbered("x", n_subjects)
    others = tuple(f"a{a}" for a in range(n_subjects, n_attributes))
    answers = rng.integers(n_attributes, size=(n_subjects, n_relations))
    answers[rng.random(answers.shape) < missing] = -1
    return FactTable(subjects, _numbered("r", n_relations), subjects[:n_attributes] + others, answers)


def _numbered(letter: str, count: int) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(count))


def _check_sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise GeorecallError(f"expected {name} of at least 1, got {size}")
