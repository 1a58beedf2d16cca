"""Random models of which many are hardly exact, or hardly not, and what they answer when everything is asked.

As a program it tries as many as it is told, from a seed on, and prints what it found:
`python tests/near_threshold.py 20000 0`.
"""

import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from georecall.constructions.certificate import KERNELS, Certificate
from georecall.constructions.chain import Chain
from georecall.facts.queries import Queries, all_queries, gold_entities, sample_queries
from georecall.facts.worlds import random_functions
from georecall.models.architecture import Architecture
from georecall.models.architectures import ARCHITECTURES
from georecall.models.certifying import certify
from georecall.models.dtypes import DTYPES
from georecall.models.generation import generate_paths
from georecall.models.stock_model import stock_model
from georecall.theory.codes import CompositionCode

CHAINS = 40


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A construction with a code that need not be the shortest, as a stock model in a number format."""

    architecture: Architecture[Any]
    chain: Chain
    dtype: torch.dtype

    @classmethod
    def drawn(cls, seed: int) -> "Candidate":
        """Any architecture, format, table and hop limit; codes of few and of many levels; every third is rotated."""
        rng = np.random.default_rng([seed, 27])
        architecture = ARCHITECTURES[rng.choice(list(ARCHITECTURES))]
        n_subjects, n_relations, hops = rng.integers(1, 12), rng.integers(1, 6), rng.integers(1, 4)
        table = random_functions(int(n_subjects), int(n_relations), int(n_subjects), rng=rng, missing=0.1)
        rotation = int(rng.integers(2**31)) if seed % 3 == 0 else None
        chain = architecture.chain_class(table, int(hops), rotation=rotation)
        code = _code(rng, chain.n_entities + 1)
        ranks = np.arange(chain.n_entities + 1)
        if seed % 2:  # codewords further apart than those that a memory takes
            ranks[1:] = 1 + rng.choice(min(code.capacity, 10**6) - 1, chain.n_entities, replace=False)
        vars(chain).update(code=code, codewords=code.unrank(ranks))
        dtype = rng.choice(["float32", "bfloat16", "bfloat16", "float16"])
        return cls(architecture=architecture, chain=chain, dtype=DTYPES[dtype])

    def certificate(self) -> Certificate:
        return certify(self.architecture, self.chain, self.architecture.tensors(self.chain), self.dtype)

    def model(self) -> PreTrainedModel:
        sources = self.architecture.tensors(self.chain)
        return stock_model(
            self.architecture,
            self.chain,
            {name: source.tensor(self.dtype) for name, source in sources.items()},
        )

    def errs(self, *, seed: int = 0) -> bool:
        """Whether `generate` under any kernel gives one wrong answer, or does not stop after it.

        All facts are asked, so that every answer is also asked for the end, one by one and in a batch; and chains.
        """
        model, rng, chain = self.model(), np.random.default_rng(seed), self.chain
        facts = all_queries(chain.table, 1)
        one = Queries(facts.subjects[:1], facts.relations[:1])
        longer = sample_queries(chain.table, chain.hops, CHAINS, rng)
        for kernel in KERNELS:
            model.set_attn_implementation(kernel)
            for queries in (facts, longer, one):
                paths, stops = generate_paths(chain, model, queries)
                if not stops.all() or (paths != gold_entities(chain.table, queries)).any():
                    return True
        return False


def _code(rng: np.random.Generator, size: int) -> CompositionCode:
    """A code of at least `size` words: few levels or many, balanced or not, and perhaps longer than need be."""
    while True:
        levels = int(rng.choice([2, 2, 3, 4, 6, 9, 12, 16, 20]))
        counts = rng.integers(1, 1 + max(1, int(rng.integers(1, 24)) // levels + 1), levels)
        code = CompositionCode(tuple((-np.sort(-counts)).tolist()))
        if code.capacity >= size and code.capacity * code.length < 2**63:
            return code


def tally(seeds: range) -> Counter[str]:
    """How many were certified, refused, and how many of each erred."""
    found: Counter[str] = Counter()
    for done, seed in enumerate(seeds, start=1):
        candidate = Candidate.drawn(seed)
        kind = "rotated" if candidate.chain.rotation is not None else "plain"
        said = "certified" if candidate.certificate().holds else "refused"
        erred = "wrong" if candidate.errs(seed=seed) else "right"
        found[f"{kind}, {said}, {erred}"] += 1
        if said == "certified" and erred == "wrong":
            print("certified and wrong:", seed, flush=True)
        if done % 500 == 0:
            print(done, dict(found), flush=True)
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    print(dict(tally(range(first, first + count))))
