"""Check a memory against its table: by proof for every fact, and by asking."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from jaxtyping import Bool, Int64

from georecall.facts.queries import Queries, gold_entities, sample_queries
from georecall.memory.answers import FailedQuery, Verification
from georecall.models.asking import SCORES_IN_ALL
from georecall.models.certifying import certify
from georecall.models.dtypes import DTYPES
from georecall.models.generation import generate_paths
from georecall.models.stock_model import stock_model
from georecall.progress import Progress
from georecall.storage.tensors import TensorSource

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory

ROWS_AT_ONCE = 8192


def verify_memory(memory: "FactMemory", *, chains: int, seed: int, progress: Progress) -> Verification:
    """Check the stored weights of a memory, not what they should be.

    1. The stored model is certified again.
    2. Every stored row of the embedding and the unembedding is compared with what the table says, every tensor
       of the layer with what the construction says. Together with 1 this proves every fact and every chain,
       unless the memory is rotated: then 1 asks every step, or as many as can be afforded.
    3. Facts are asked with scores over the whole vocabulary: all, or as many as `SCORES_IN_ALL` allows.
    4. `chains` random chains of 1 to K hops go through the stock model's `generate`.
    """
    rng = np.random.default_rng(seed)
    stored = {name: TensorSource.of(tensor) for name, tensor in memory.tensors.items()}
    certificate = certify(memory.architecture, memory.chain, stored, DTYPES[memory.dtype], progress=progress)
    altered = (*_altered_layer(memory), *_altered_rows(memory, progress))
    asked, least, wrong = _ask_facts(memory, rng, progress)
    return Verification(
        facts=memory.table.n_facts,
        asked=asked,
        chains=chains,
        least_margin=least,
        certificate=certificate,
        altered_rows=altered,
        failures=(*wrong, *_generate_chains(memory, chains, rng, progress)),
    )


def _altered_layer(memory: "FactMemory") -> Iterator[str]:
    """The witnesses show that the layer works, but only as long as no weight of it joins two blocks."""
    sources = memory.architecture.layer(memory.architecture.tensors(memory.chain))
    for name, source in sources.items():
        stored = memory.tensors[name]
        if not torch.equal(stored, source.tensor(stored.dtype)):
            yield name


def _altered_rows(memory: "FactMemory", progress: Progress) -> Iterator[str]:
    chain, tensors = memory.chain, memory.tensors
    tokens = memory.tokenizer()
    for name, chunks in (
        (memory.architecture.embedding, chain.embedding_chunks(ROWS_AT_ONCE)),
        (memory.architecture.unembedding, chain.unembedding_chunks(ROWS_AT_ONCE)),
    ):
        start = 0
        for chunk in chunks:
            wanted = torch.from_numpy(chunk).to(tensors[name].dtype)
            differs = (tensors[name][start : start + len(chunk)] != wanted).any(dim=1)
            for row in differs.nonzero()[:, 0].tolist():
                yield f"{name}: {tokens.decode([start + row])!r}"
            start += len(chunk)
            progress(f"comparing {name}", start, chain.vocabulary.size)


def _ask_facts(
    memory: "FactMemory", rng: np.random.Generator, progress: Progress
) -> tuple[int, float, list[FailedQuery]]:
    """Ask single facts, missing ones included: how many, the least lead, and those that failed."""
    cells = memory.table.answers.size
    affordable = max(1, SCORES_IN_ALL // memory.chain.vocabulary.size)
    chosen = np.arange(cells) if cells <= affordable else rng.choice(cells, affordable, replace=False)
    least, failures = np.inf, []
    for start in range(0, len(chosen), ROWS_AT_ONCE):
        subject, relation = np.divmod(chosen[start : start + ROWS_AT_ONCE], memory.table.answers.shape[1])
        queries = Queries(subject, relation[:, None])
        path, leads = memory.recall(queries.subjects, queries.relations)
        least = min(least, float(np.nan_to_num(leads, nan=-np.inf).min()))
        failures += _failures(memory, queries, path, right=np.all(leads > 0, axis=1))
        progress("asking facts", start + len(subject), len(chosen))
    return len(chosen), least, failures


def _generate_chains(
    memory: "FactMemory", count: int, rng: np.random.Generator, progress: Progress
) -> Iterator[FailedQuery]:
    """Send random chains, as many for each number of hops, through `generate` of the stock model."""
    hops = memory.chain.hops
    model = stock_model(memory.architecture, memory.chain, memory.tensors)
    for length in range(1, hops + 1):
        share = count * length // hops - count * (length - 1) // hops
        queries = sample_queries(memory.table, length, share, rng)
        yield from _failures(
            memory, queries, *generate_paths(memory.chain, model, queries, progress=progress)
        )


def _failures(
    memory: "FactMemory",
    queries: Queries,
    path: Int64[np.ndarray, "batch hops"],
    right: Bool[np.ndarray, "batch"],
) -> list[FailedQuery]:
    """The questions whose path is not the table's, or that are not `right` in another way."""
    table = memory.table
    gold = gold_entities(table, queries)
    names = np.array([*table.entities, None], dtype=object)
    return [
        FailedQuery(
            subject=table.subjects[queries.subjects[row]],
            relations=tuple(table.relations[relation] for relation in queries.relations[row]),
            expected=tuple(names[gold[row]]),
            found=tuple(names[path[row]]),
        )
        for row in np.flatnonzero((path != gold).any(axis=1) | ~right)
    ]
