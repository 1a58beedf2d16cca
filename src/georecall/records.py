"""Results as they are kept: frozen models that are written as JSON, and read back as what they were."""

import json
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    PlainSerializer,
    computed_field,
    model_validator,
)
from pydantic_core import CoreSchema, core_schema

AnyRecord = TypeVar("AnyRecord", bound="Record")

if TYPE_CHECKING:
    derived = property
else:

    def derived(method: Callable[[Any], Any]) -> Any:
        """A property of a record that is written beside its fields, and not read back."""
        return computed_field(property(method))


class Record(BaseModel):
    """A frozen result. What is derived from its fields is written beside them for other programs, and not read back.

    Fields that are only of use in memory have `exclude=True`.
    """

    model_config = ConfigDict(
        frozen=True, extra="allow", arbitrary_types_allowed=True, serialize_by_alias=True
    )

    @model_validator(mode="after")
    def _leave_out_derived(self) -> "Record":
        extra = self.model_extra or {}
        if unknown := extra.keys() - type(self).model_computed_fields.keys():
            raise ValueError(f"unknown field {', '.join(map(repr, sorted(unknown)))}")
        extra.clear()
        return self

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return self.model_dump(mode="json")

    @classmethod
    def read(cls: type[AnyRecord], content: dict[str, Any]) -> AnyRecord:
        """What `to_dict` has written; nothing is converted, so a number that stands there as text is refused.

        Raises:
            ValidationError: it is something else.
        """
        return cls.model_validate_json(json.dumps(content), strict=True)


Number = Annotated[
    float,
    BeforeValidator(lambda value: math.nan if value is None else value),
    PlainSerializer(lambda value: None if math.isnan(value) else value),
]
"""A number that may be undefined: NaN, which JSON does not have, is null there."""


class AsLists:
    """Makes a field of an array type such as `Float64[np.ndarray, "members relations"]`: nested lists as JSON.

    NaN is null there. The kind of numbers and the axes are checked; the first axis of an ensemble is its members.
    """

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """How pydantic checks, reads and writes the array."""

        def checked(value: Any) -> np.ndarray:
            array = _array(value, source.dtypes[0]) if isinstance(value, list) else value
            if not isinstance(array, source):
                raise ValueError(f"expected an array of {source.dtypes[0]} with axes {source.dim_str!r}")
            return array

        written = core_schema.plain_serializer_function_ser_schema(plain)
        return core_schema.no_info_plain_validator_function(checked, serialization=written)


def plain(values: np.ndarray) -> Any:
    """Nested lists of Python numbers, with None for NaN, which JSON does not have."""
    numbers = np.array(values, dtype=object)
    numbers[np.isnan(values)] = None
    return numbers.tolist()


def _array(value: list[Any], dtype: str) -> np.ndarray:
    """Nested lists of numbers as an array; ValueError if they are ragged, or hold anything else than numbers."""
    numbers = np.array(value, dtype=object)
    known = [entry for entry in numbers.ravel() if entry is not None]
    if not all(isinstance(entry, int | float) for entry in known):
        raise ValueError("expected nested lists of numbers")
    whole = np.dtype(dtype).kind == "i"
    if whole and not all(isinstance(entry, int) for entry in numbers.ravel()):
        raise ValueError("expected whole numbers")
    return numbers.astype(dtype)
