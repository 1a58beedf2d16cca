"""A compiled memory, laid open.

The layer is the construction's own, without the normalisations that a stock model puts around it: wherever a
relation is read these are the identity (docs/theory.md §6). A rotated memory is turned back, so that its blocks
are again coordinates; its function is the same.
"""

from dataclasses import replace

import numpy as np
import torch
from jaxtyping import Float32, Int64

from georecall.constructions.chain import NAME_SCORE, Chain
from georecall.explorer.mechanism import Mechanism
from georecall.explorer.name_search import NameSearch
from georecall.explorer.view import About, View
from georecall.facts.names import END, UNKNOWN
from georecall.memory.memory import FactMemory
from georecall.models.dtypes import DTYPES


def memory_view(memory: FactMemory, *, title: str, folder: str | None = None) -> View:
    """What can be explored of a memory; `folder` is where a command would find it."""
    chain, vocabulary = memory.chain, memory.chain.vocabulary
    names = NameSearch(vocabulary.entities.start, memory.table.entities)
    return View(
        about=_about(memory, title, folder),
        mechanism=_mechanism(memory),
        subjects=names,
        attributes=names,
        controls=(UNKNOWN, END, *memory.table.relations),
        n_rows=vocabulary.size,
        rows=lambda tokens: _turned_back(chain, memory.tensors[memory.architecture.embedding][tokens]),
        answers=lambda tokens: _answers(chain, tokens),
        outputs=np.ascontiguousarray(
            _turned_back(chain, memory.tensors[memory.architecture.unembedding])[:, _upright(chain).scored]
        ),
    )


def _about(memory: FactMemory, title: str, folder: str | None) -> About:
    info, vocabulary = memory.info(), memory.chain.vocabulary
    turned = (
        "This memory is rotated: in its file every embedding is dense. What is shown is turned back by the known "
        "rotation, to the last bits of the number format.",
    )
    return About(
        kind="memory",
        title=title,
        sizes=(
            ("facts", f"{info.facts:,}"),
            ("names", f"{vocabulary.n_entities:,}"),
            ("relations", f"{info.relations:,}"),
            ("hops", f"up to {info.hops}"),
            ("model", info.architecture),
            ("d", f"{info.dim:,}"),
            ("hidden units", f"{info.width:,}"),
            ("code", f"{info.code_length} symbols, {info.levels} levels"),
            ("format", info.dtype),
            ("certified margin", f"{info.margin:.2f}"),
        ),
        notes=() if info.rotation is None else turned,
        relations=memory.table.relations,
        hops=info.hops,
        tensor=memory.architecture.embedding,
        folder=folder,
        unknown=vocabulary.unknown,
        end=vocabulary.end,
    )


def _mechanism(memory: FactMemory) -> Mechanism:
    chain = _upright(memory.chain)
    layout, symbols, dim = chain.layout, chain.code.length, chain.layout.dim
    controls, end = chain.control_rows(), chain.vocabulary.end
    read = np.concatenate([controls[chain.vocabulary.relations], controls[end : end + 1]])
    units = memory.architecture.units
    blocks = np.eye(dim)[:, layout["blocks"]].reshape(dim, chain.n_relations, symbols)
    return Mechanism(
        share=1.0,
        residual=True,
        position=chain.positions()[chain.relation_positions :],
        carried=read @ chain.flag_reader().T @ chain.inhibition().T,
        gate=None if units.gates is None else _weight(memory, chain, units.gates),
        w1=_weight(memory, chain, units.reads),
        b1=np.zeros(chain.width),
        w2=_weight(memory, chain, units.writes),
        b2=np.zeros(dim),
        scored=(chain.scored.start, chain.scored.stop),
        code_scale=1 / NAME_SCORE,
        offset=chain.superpose(np.zeros((1, chain.n_relations, symbols)))[0],
        components=np.moveaxis(blocks, 1, 0),
        owners=np.repeat(np.arange(chain.n_relations), symbols),
        extras={
            name: (part.start, part.stop)
            for name, part in layout.slices.items()
            if name not in {"blocks", "output"}
        },
    )


def _upright(chain: Chain) -> Chain:
    """The construction without its rotation; it shares the code."""
    if chain.rotation is None:
        return chain
    upright = replace(chain, rotation=None)
    vars(upright).update(code=chain.code, codewords=chain.codewords)
    return upright


def _weight(memory: FactMemory, chain: Chain, module: str) -> Float32[np.ndarray, "rows columns"]:
    """The weight of a module, rounded as the memory's number format rounds it."""
    source = memory.architecture.tensors(chain)[f"{module}.weight"]
    return source.tensor(DTYPES[memory.dtype]).float().numpy()


def _turned_back(chain: Chain, rows: torch.Tensor) -> Float32[np.ndarray, "rows dim"]:
    """Stored rows in the directions of the layout."""
    found = rows.float().numpy()
    return chain.unrotated(found).astype(np.float32)


def _answers(chain: Chain, tokens: slice) -> Int64[np.ndarray, "rows relations"]:
    """Tokens of the answers of a range of tokens; what is no entity answers everything by the unknown."""
    vocabulary, first = chain.vocabulary, chain.vocabulary.entities.start
    controls = np.full((len(range(tokens.start, min(tokens.stop, first))), chain.n_relations), -1)
    names = chain.names_of(slice(max(0, tokens.start - first), max(0, tokens.stop - first)))
    return vocabulary.entity_ids(np.concatenate([controls, names - 1]))
