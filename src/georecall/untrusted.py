"""Values that come from files, which anybody may have written."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from reprlib import Repr
from typing import Any, NoReturn

_LONGEST = 60


def strict_json(text: str, *, number: Callable[[str], Any] | None = None) -> Any:
    """The value of a JSON text; `number` makes a value of the digits of a number.

    Raises ValueError if the text is not JSON (NaN and Infinity are not), an object has a key twice, or lists and
    objects lie too deep in one another.
    """
    try:
        return json.loads(
            text, parse_int=number, parse_float=number, parse_constant=_not_json, object_pairs_hook=_distinct
        )
    except RecursionError:
        raise ValueError("too many lists and objects within one another") from None


def shortened(value: Any) -> str:
    """A value as it is written in Python, cut in the middle where it is long."""
    writer = Repr()
    writer.maxstring = writer.maxlong = writer.maxother = _LONGEST
    return writer.repr(value)


def place_of(parts: Iterable[int | str]) -> str:
    """Keys and numbers that lead to a value, such as `layout.output.0`; strange keys are written as in Python."""
    return ".".join(
        str(part) if isinstance(part, int) or part.isidentifier() else shortened(part) for part in parts
    )


def _not_json(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON value (write null, or text in quotation marks)")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        times = Counter(key for key, _ in pairs)
        raise ValueError(f"key {shortened(next(key for key in times if times[key] > 1))} more than once")
    return values
