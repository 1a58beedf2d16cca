"""What `certificate.json` says: how a memory was made, what is proved of it, and the hash of every other file."""

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from georecall.constructions.certificate import Basis, Certificate
from georecall.constructions.chain import Chain
from georecall.models.architectures import ARCHITECTURES
from georecall.storage.json_files import Stored
from georecall.theory.codes import MAX_LEVELS


def _known_architecture(name: str) -> str:
    if name not in ARCHITECTURES:
        raise ValueError(f"expected {' or '.join(map(repr, ARCHITECTURES))}")
    return name


Count = Annotated[int, Field(ge=0)]
Digest = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Real = float | None
"""A number; None if it is not finite, which JSON does not have."""


class ConstructionStated(Stored):
    """What a memory is made by, besides its table."""

    name: Literal["chain of thought"] = "chain of thought"
    architecture: Annotated[str, AfterValidator(_known_architecture)]
    hops: Annotated[int, Field(ge=1, lt=1 << 63)]
    levels: Annotated[int, Field(ge=2, le=MAX_LEVELS)]
    rotation: Count | None
    dtype: Literal["float32", "bfloat16", "float16"]


class TableStated(Stored):
    """Which table it holds."""

    digest: Digest
    facts: Count


class CodeStated(Stored):
    """The code of its entities."""

    composition: tuple[Count, ...]
    length: Count


class StatedErrors(Stored):
    """The fields of `Errors`."""

    deviation: Real
    leak: Real
    constant_read: Real
    constant_end: Real


class Proof(Stored):
    """The fields of a `Certificate`, the kernels it speaks of, and whether it makes the memory exact."""

    dtype: Literal["float32", "bfloat16", "float16"]
    basis: Basis
    units: Count
    errors: StatedErrors
    margin: Real
    asked: Count
    steps: Count
    kernels: tuple[Literal["sdpa"], Literal["eager"]]
    exact: bool

    @model_validator(mode="after")
    def _check_together(self) -> "Proof":
        counts = {
            "proved": self.asked == self.steps == 0,
            "asked": 0 < self.asked == self.steps,
            "sampled": 0 < self.asked < self.steps,
        }
        if not counts[self.basis]:
            raise ValueError(f"{self.asked} of {self.steps} steps asked is not {self.basis!r}")
        if self.exact != self.certificate().exact:
            raise ValueError(f"exact must be {not self.exact} with a margin of {self.margin}, {self.basis}")
        return self

    @classmethod
    def of(cls, certificate: Certificate) -> "Proof":
        """A certificate as it is written."""
        content = certificate.to_dict()
        errors = {name: _finite(value) for name, value in content["errors"].items()}
        return cls.model_validate(content | {"errors": errors, "margin": _finite(certificate.margin)})

    def certificate(self) -> Certificate:
        """The certificate; an error that was not finite is NaN, and no margin can be certified then."""
        errors = {
            name: math.nan if value is None else value for name, value in self.errors.model_dump().items()
        }
        margin = -math.inf if self.margin is None else self.margin
        return Certificate.from_dict(self.model_dump() | {"errors": errors, "margin": margin})


class Statement(Stored):
    """What follows from a construction and its table, and the proofs."""

    construction: ConstructionStated
    table: TableStated
    code: CodeStated
    layout: dict[str, tuple[int, int]]
    proofs: tuple[Proof, ...]

    @classmethod
    def of(
        cls, chain: Chain, *, architecture: str, dtype: str, certificates: tuple[Certificate, ...]
    ) -> "Statement":
        """What is true of a memory."""
        made = {"hops": chain.hops, "levels": chain.levels, "rotation": chain.rotation}
        return cls(
            construction=ConstructionStated.model_validate(
                {"architecture": architecture, "dtype": dtype, **made}
            ),
            table=TableStated(digest=chain.table.digest(), facts=chain.table.n_facts),
            code=CodeStated(composition=chain.code.composition, length=chain.code.length),
            layout={name: (part.start, part.stop) for name, part in chain.layout.slices.items()},
            proofs=tuple(map(Proof.of, certificates)),
        )


class Sealed(Statement):
    """The whole file; `sha256` is the hash of the rest of it."""

    format: int
    versions: dict[str, str]
    files: dict[str, Digest]
    sha256: Digest


def _finite(value: float) -> Real:
    return value if math.isfinite(value) else None
