"""Read a memory from its folder: what the files say must be what the table and the construction give."""

from pathlib import Path
from typing import Any

import numpy as np

from georecall.constructions.budget import require_memory
from georecall.constructions.chain import Chain
from georecall.errors import ConstructionError, FolderError
from georecall.facts.table_files import read_parquet
from georecall.memory import folder as files
from georecall.memory.statement import Sealed, Statement
from georecall.models.architectures import ARCHITECTURES
from georecall.models.decode_step import Reader
from georecall.storage.arrays import StoredArrays
from georecall.storage.folders import steady
from georecall.storage.tensors import DTYPE_CODES
from georecall.untrusted import place_of, shortened

DERIVED = ("table", "code", "layout")
"""What the certificate says, and table and construction decide."""

CLOSE = 0.02
"""So far a number of a rotated row may be from what is worked out here: the formats round, and machines differ."""


def load_parts(folder: Path) -> dict[str, Any]:
    """The fields of the memory in a folder; never half those of another one.

    Raises:
        FolderError: a file is missing or altered; or the hashes are right and something else is not: a field of the
            certificate, a tensor, or what one file says of another.
        TableError: the table is altered.
    """
    parts = steady(folder, files.CERTIFICATE, lambda: _parts(folder, check_all=True))
    return parts | {"file": None, "stored": parts["file"].tensors()}


def open_parts(folder: Path) -> dict[str, Any]:
    """The same without the tensors, which are read from the file when they are needed.

    Hashes of files larger than `memory.folder.SMALL` are not checked; the table is, by its digest.

    Raises:
        FolderError, TableError: as `load_parts`.
    """
    return steady(folder, files.CERTIFICATE, lambda: _parts(folder, check_all=False))


def _parts(folder: Path, *, check_all: bool) -> dict[str, Any]:
    sealed = files.read_certificate(folder, check_all=check_all)
    made, where = sealed.construction, folder / files.CERTIFICATE
    architecture = ARCHITECTURES[made.architecture]
    table = read_parquet(folder / files.TABLE)
    chain = architecture.chain_class(table, made.hops, levels=made.levels, rotation=made.rotation)
    certificates = tuple(proof.certificate() for proof in sealed.proofs)
    _check_size(chain, where)
    _check_derived(
        sealed,
        Statement.of(chain, architecture=made.architecture, dtype=made.dtype, certificates=certificates),
        where,
    )
    _check_proofs(sealed, chain, where)
    forms = architecture.forms(chain, made.dtype)
    path = folder / files.TENSORS
    file = StoredArrays(path, forms, remedy=files.REMEDY)
    if not check_all and files.is_small(path):
        file.check_finite()
    _check_rotation(chain, file, architecture.embedding, where)
    return {
        "chain": chain,
        "architecture": architecture,
        "dtype": made.dtype,
        "certificates": certificates,
        "file": file,
    }


def _check_size(chain: Chain, where: Path) -> None:
    """Refuse a construction that no file here could hold, before anything is made of it."""
    try:
        require_memory(chain.layer_parameters, what="the layer")
    except ConstructionError as error:
        raise FolderError(f"{where}: construction: {error}") from error


def _check_derived(sealed: Sealed, true: Statement, where: Path) -> None:
    """Refuse a certificate that is not that of the table beside it."""
    stated, expected = sealed.model_dump(include=set(DERIVED)), true.model_dump(include=set(DERIVED))
    for name in DERIVED:
        for field in expected[name] | stated[name]:
            wanted, found = expected[name].get(field), stated[name].get(field)
            if wanted != found:
                raise FolderError(
                    f"{where}: {place_of((name, field))}: expected {wanted}, as {files.TABLE} and the construction "
                    f"have it, got {shortened(found)}"
                )


def _check_proofs(sealed: Sealed, chain: Chain, where: Path) -> None:
    """Refuse certificates that are not those which a memory of this construction has, or that prove it wrong."""
    own = sealed.construction.dtype
    wanted = list(DTYPE_CODES) if chain.rotation is None else [own]
    found = [proof.dtype for proof in sealed.proofs]
    if found != wanted:
        raise FolderError(f"{where}: proofs: expected one for each of {', '.join(wanted)}, got {found}")
    for number, proof in enumerate(sealed.proofs):
        if proof.units != chain.width:
            raise FolderError(f"{where}: proofs.{number}.units: expected {chain.width}, got {proof.units}")
        if (proof.basis == "proved") != (chain.rotation is None):
            basis = "proved" if chain.rotation is None else "asked or sampled, as the memory is rotated"
            raise FolderError(f"{where}: proofs.{number}.basis: expected {basis}, got {proof.basis}")
        if proof.dtype == own and not proof.certificate().holds:
            raise FolderError(
                f"{where}: proofs.{number}.margin: expected a positive margin in the memory's own number format, "
                f"got {proof.margin}"
            )


def _check_rotation(chain: Chain, read: Reader, embedding: str, where: Path) -> None:
    """Refuse a rotation that is not that of the tensors: an edit would write a row that is turned another way."""
    if chain.rotation is None:
        return
    wanted = chain.control_rows()[: chain.vocabulary.end]
    if not np.allclose(read(embedding, slice(len(wanted))), wanted, rtol=CLOSE, atol=CLOSE):
        raise FolderError(
            f"{where}: construction.rotation: expected the seed by which {files.TENSORS} is rotated, "
            f"got {chain.rotation}"
        )
