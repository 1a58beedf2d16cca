"""The prompts of the small models: which token has which id, and which stands where.

Subject s is token s, relation r is token N + r. A question of k hops is `r_1 … r_k s`: the subject comes last, so
that what is read after it has seen everything. In a chain of thought the entities on the way follow, `e_1 … e_{k−1}`.
"""

import numpy as np
from jaxtyping import Int64

from georecall.facts.queries import Queries

RELATION, SUBJECT = 0, 1
"""Positions in a prompt of one hop."""


def subject_position(hops: int) -> int:
    """Where the subject stands: after all relations."""
    return hops


def context(hops: int, *, chain_of_thought: bool = False) -> int:
    """Tokens of the longest input of k hops: with a chain of thought all entities on the way, but not the last."""
    return hops + 1 + (hops - 1 if chain_of_thought else 0)


def question_tokens(queries: Queries, n_subjects: int) -> Int64[np.ndarray, "batch time"]:
    """`r_1 … r_k s` for each question."""
    return np.concatenate([n_subjects + queries.relations, queries.subjects[:, None]], axis=1)


def one_hop_tokens(
    subjects: Int64[np.ndarray, " batch"], *, n_subjects: int, n_relations: int
) -> Int64[np.ndarray, "prompts 2"]:
    """The questions of all relations about the given subjects, subject by subject."""
    relations = np.tile(np.arange(n_relations), len(subjects))
    return question_tokens(Queries(np.repeat(subjects, n_relations), relations[:, None]), n_subjects)


def chain_tokens(
    questions: Int64[np.ndarray, "batch time"], on_the_way: Int64[np.ndarray, "batch steps"]
) -> Int64[np.ndarray, "batch all"]:
    """Questions followed by the entities on the way, given as subjects."""
    return np.concatenate([questions, on_the_way], axis=1)
