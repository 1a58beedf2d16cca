"""`FactMemory`: compile a table, ask it, edit it, verify it, save it and load it again."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float32, Int64

from georecall.constructions.budget import require_memory
from georecall.constructions.certificate import Certificate
from georecall.constructions.chain import Chain
from georecall.errors import ConstructionError
from georecall.facts.queries import Query
from georecall.facts.table import FactTable
from georecall.memory.answers import Answer, Verification
from georecall.memory.ground_truth import GroundTruth
from georecall.memory.info import MemoryInfo, memory_info
from georecall.memory.loading import load_parts, open_parts
from georecall.models.architecture import Architecture
from georecall.models.architectures import ARCHITECTURES, DEFAULT
from georecall.models.decode_step import DecodeStep, Reader
from georecall.progress import Progress, no_progress
from georecall.storage.arrays import StoredArrays

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel, PreTrainedTokenizerFast

# ruff: noqa: PLC0415 - whoever only asks imports neither torch nor transformers, which take seconds


@dataclass(frozen=True, kw_only=True, eq=False)
class FactMemory:
    """A table of facts as the weights of a stock transformer.

    Immutable: `edit` and `forget` return another memory. `stored` holds the tensors of a memory that was loaded
    or edited; those of one just compiled are made when first needed, so that compiling and saving a large table
    never holds them all. `file` reads those of a memory that was opened.
    """

    chain: Chain
    architecture: Architecture[Any]
    dtype: str
    certificates: tuple[Certificate, ...]
    stored: "Mapping[str, Tensor] | None" = None
    file: StoredArrays | None = None

    @classmethod
    def compile(
        cls,
        table: FactTable,
        *,
        hops: int = 3,
        levels: int = 2,
        dtype: str = "float32",
        arch: str = DEFAULT,
        rotate: int | None = None,
        progress: Progress = no_progress,
    ) -> "FactMemory":
        """Write down the transformer that recalls `table`, and certify it.

        A rotated memory is certified in `dtype` alone, by asking it every step; any other in every number format.

        Raises:
            ConstructionError: the hop limit or the format is not possible, the model is wrong in `dtype`, or its
                layer does not fit in memory.
        """
        from georecall.models.certifying import certify
        from georecall.models.dtypes import DTYPES

        if dtype not in DTYPES:
            raise ConstructionError(f"expected a dtype among {', '.join(DTYPES)}, got {dtype!r}")
        if arch not in ARCHITECTURES:
            raise ConstructionError(
                f"expected an architecture among {', '.join(ARCHITECTURES)}, got {arch!r}"
            )
        architecture = ARCHITECTURES[arch]
        chain = architecture.chain_class(table, hops, levels=levels, rotation=rotate)
        require_memory(chain.layer_parameters, what="the layer")
        tensors = architecture.tensors(chain)

        def certified(name: str) -> Certificate:
            return certify(architecture, chain, tensors, DTYPES[name], progress=progress)

        certificates = {name: certified(name) for name in (DTYPES if rotate is None else [dtype])}
        if not certificates[dtype].holds:
            exact = ", ".join(name for name, found in certificates.items() if found.exact) or "none"
            way_out = f"exact in: {exact}" if rotate is None else "try another --rotate or --dtype"
            raise ConstructionError(
                f"with {levels} levels and {hops} hops the model is not exact in {dtype} (margin "
                f"{certificates[dtype].margin:.3g}); {way_out}"
            )
        return cls(
            chain=chain, architecture=architecture, dtype=dtype, certificates=tuple(certificates.values())
        )

    @property
    def table(self) -> FactTable:
        """The facts."""
        return self.chain.table

    @property
    def certificate(self) -> Certificate:
        """What is known in the memory's own number format."""
        return next(proof for proof in self.certificates if proof.dtype == self.dtype)

    @property
    def exact_dtypes(self) -> tuple[str, ...]:
        """The number formats in which the model is known to be exact."""
        return tuple(proof.dtype for proof in self.certificates if proof.exact)

    # The stock model

    @cached_property
    def tensors(self) -> "Mapping[str, Tensor]":
        """The tensors of the stock model, by name, in the memory's number format."""
        if self.stored is not None:
            return self.stored
        if self.file is not None:
            return self.file.tensors()
        from georecall.models.dtypes import DTYPES

        sources = self.architecture.tensors(self.chain)
        return {name: source.tensor(DTYPES[self.dtype]) for name, source in sources.items()}

    def model(self) -> "PreTrainedModel":
        """The stock model, with a copy of the memory's tensors: what is done to it leaves the memory as it is."""
        from georecall.models.stock_model import stock_model

        copies = {name: tensor.clone() for name, tensor in self.tensors.items()}
        return stock_model(self.architecture, self.chain, copies)

    def tokenizer(self) -> "PreTrainedTokenizerFast":
        """The stock tokenizer."""
        from georecall.models.tokenizer import fact_tokenizer

        return fact_tokenizer(self.chain)

    # Asking

    def ask(self, subject: str, *relations: str) -> Answer:
        """Follow a chain of relations from a subject: `ask("Alice", "wife", "mother")`.

        Raises:
            UnknownNameError: a name is not in the table.
            ConstructionError: no relation, or more than the hop limit.
        """
        return self.ask_many([Query(subject, relations)])[0]

    def ask_many(self, queries: Sequence[Query]) -> list[Answer]:
        """Answer many questions at once, each of 1 to K relations; raises as `ask` does."""
        if not queries:
            return []
        entities, relations = self._indices(queries)
        path, leads = self.recall(entities, relations)
        if self.file is not None:
            self._check_recalled(self.file, entities, relations, path, leads)
        asked = np.array(self.table.relations, dtype=object)[relations]
        columns = (self._names[entities], asked, self._names[path], leads)
        return [
            Answer(
                subject=subject,
                relations=tuple(relation[:hops]),
                path=tuple(found[:hops]),
                margins=tuple(lead[:hops]),
            )
            for hops, subject, relation, found, lead in zip(
                [len(query.relations) for query in queries],
                *(column.tolist() for column in columns),
                strict=True,
            )
        ]

    def recall(
        self, entities: Int64[np.ndarray, "batch"], relations: Int64[np.ndarray, "batch hops"]
    ) -> tuple[Int64[np.ndarray, "batch hops"], Float32[np.ndarray, "batch hops"]]:
        """Entities emitted hop by hop (−1: unknown) and the leads of their scores, for questions by index.

        A relation of −1 stands for the end and gives the unknown.
        """
        vocabulary = self.chain.vocabulary
        token = vocabulary.entity_ids(entities)
        path, leads = [], []
        for step, relation in enumerate(vocabulary.relation_ids(relations).T):
            token, lead = self._step(token, relation, step)
            path.append(vocabulary.entities_of(token))
            leads.append(lead)
        return np.stack(path, axis=1), np.stack(leads, axis=1)

    def _check_recalled(
        self,
        file: StoredArrays,
        entities: Int64[np.ndarray, "batch"],
        relations: Int64[np.ndarray, "batch hops"],
        path: Int64[np.ndarray, "batch hops"],
        leads: Float32[np.ndarray, "batch hops"],
    ) -> None:
        """Refuse answers of an opened file, whose hash may not have been checked, that are not the table's."""
        gold = self.table.followed(entities, relations)
        wrong = np.argwhere((path != gold) | ~(leads > 0))
        if len(wrong):
            row, hop = wrong[0]
            found, wanted = (self._names[answers[row, hop]] or "unknown" for answers in (path, gold))
            raise file.damaged(
                f"{self._names[entities[row]]!r} is answered with {found!r} where the table has {wanted!r}"
            )

    @cached_property
    def _names(self) -> np.ndarray:
        """The entities, and at last, where −1 finds it, None."""
        return np.array([*self.table.entities, None], dtype=object)

    @cached_property
    def _step(self) -> DecodeStep:
        return self.architecture.step(self.chain, self.file or _reader(self.tensors))

    def _indices(
        self, queries: Sequence[Query]
    ) -> tuple[Int64[np.ndarray, "batch"], Int64[np.ndarray, "batch hops"]]:
        longest = max(len(query.relations) for query in queries)
        entities = np.empty(len(queries), dtype=np.int64)
        relations = np.full((len(queries), longest), -1)
        for row, query in enumerate(queries):
            self.chain.check_hops(len(query.relations))
            entities[row] = self.table.resolve_entity(query.subject)
            relations[row, : len(query.relations)] = [*map(self.table.resolve_relation, query.relations)]
        return entities, relations

    # Editing

    def edit(self, subject: str, relation: str, attribute: str) -> "FactMemory":
        """A new memory in which one answer is another entity; one row of the embedding differs.

        Raises:
            UnknownNameError: the subject, the relation or the attribute is not in the table.
        """
        return self._with_answer(subject, relation, attribute)

    def forget(self, subject: str, relation: str) -> "FactMemory":
        """A new memory in which one answer is unknown; raises as `edit` does."""
        return self._with_answer(subject, relation, None)

    def _with_answer(self, subject: str, relation: str, attribute: str | None) -> "FactMemory":
        import torch

        chain = self.chain.with_answer(subject, relation, attribute)
        entity = self.table.resolve_subject(subject)
        row = torch.from_numpy(chain.entity_rows(slice(entity, entity + 1)))
        embedding = self.tensors[self.architecture.embedding].clone()
        embedding[chain.vocabulary.entities.start + entity] = row[0].to(embedding.dtype)
        stored = {**self.tensors, self.architecture.embedding: embedding}
        edited = replace(self, chain=chain, stored=stored, file=None)
        return edited if chain.rotation is None else edited._asked_again(entity)

    def _asked_again(self, entity: int) -> "FactMemory":
        """The memory with a certificate that knows one changed row; only an unrotated one holds for any row."""
        from georecall.models.asking import ask_every_step
        from georecall.models.stock_model import stock_model

        model = stock_model(self.architecture, self.chain, self.tensors)
        margin = ask_every_step(self.chain, model, entities=np.array([entity])).margin
        if margin <= 0:
            raise ConstructionError(
                f"{self.table.entities[entity]!r} would not be answered exactly in {self.dtype} (margin "
                f"{margin:.3g}); compile the table again with another --rotate or --dtype"
            )
        (known,) = self.certificates
        return replace(self, certificates=(replace(known, margin=min(known.margin, margin)),))

    # Checking

    def info(self) -> MemoryInfo:
        """Sizes, bits a fact and the certified margin."""
        return memory_info(self)

    def ground_truth(self) -> GroundTruth:
        """The mechanism, to score an interpretability method against; `ground_truth.safetensors` in a folder."""
        return GroundTruth.of(self.chain)

    def verify(self, *, chains: int = 1000, seed: int = 0, progress: Progress = no_progress) -> Verification:
        """Check every fact and sampled chains against the table: see `memory.verify`."""
        from georecall.memory.verify import verify_memory

        return verify_memory(self, chains=chains, seed=seed, progress=progress)

    # Files

    def save(self, path: str | os.PathLike[str], *, replace: bool = False) -> None:
        """Write the folder of stock Hugging Face files described in `memory.saving`.

        Raises:
            FolderError: the folder exists and `replace` is not set, or cannot be written.
        """
        from georecall.memory.saving import save_memory

        save_memory(self, Path(path), replace=replace)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "FactMemory":
        """The memory in a folder, after checking the hash of every file, and that they belong together.

        Raises:
            FolderError, TableError: as `memory.loading.load_parts`.
        """
        return cls(**load_parts(Path(path)))

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> "FactMemory":
        """The memory in a folder, of whose tensors only those rows are read that a question needs.

        The hashes of the certificate, of the table and of every file of at most `memory.folder.SMALL` bytes are
        checked. The tensors of a larger memory are not: each answer is compared with the table instead.

        Raises:
            FolderError, TableError: as `memory.loading.open_parts`.
        """
        return cls(**open_parts(Path(path)))


def _reader(tensors: "Mapping[str, Tensor]") -> Reader:
    """Reads tensors that are held."""

    def read(name: str, part: Any = ...) -> Float32[np.ndarray, "..."]:
        return tensors[name][part].float().numpy()

    return read
