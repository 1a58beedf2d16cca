"""What was measured, by name: a number with its interval, beside what it must be compared with."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from georecall.records import Number, Record
from georecall.statistics.estimates import Estimate
from georecall.statistics.intervals import Interval
from georecall.statistics.wording import number, within

Value = int | Number | None
NOTHING: Mapping[str, Estimate] = MappingProxyType({})


class Quantity(Record):
    """A number, or one for each seed or size; None where there is none, NaN where it is not defined.

    `controls` are the same where it should not be found, or where nothing was changed; `form` says how many digits
    are written.
    """

    name: str
    value: Value | tuple[Value, ...]
    interval: tuple[Number, Number] | None = None
    controls: tuple["Quantity", ...] = ()
    chance: float | None = None
    unit: str = ""
    form: str = ".3f"

    @classmethod
    def of(
        cls, name: str, found: Estimate | Interval, *, beside: Mapping[str, Estimate] = NOTHING, **fields: Any
    ) -> "Quantity":
        """The mean over members, or the number, with its interval; of what stands `beside` it the means alone."""
        if beside:
            form = {"form": fields["form"]} if "form" in fields else {}
            fields["controls"] = tuple(
                cls(name=control, value=float(other.mean), **form) for control, other in beside.items()
            )
        if isinstance(found, Interval):
            return cls(name=name, value=found.value, interval=(found.low, found.high), **fields)
        ends = found.interval
        interval = None if ends is None else (float(ends[0]), float(ends[1]))
        return cls(name=name, value=float(found.mean), interval=interval, **fields)

    @property
    def stated(self) -> str:
        """The number, its interval and its unit: 0.93 (0.91 … 0.95)."""
        if isinstance(self.value, tuple):
            said = ", ".join(number(value, self.form) for value in self.value)
        else:
            said = within(self.value, self.interval, self.form)
        return f"{said} {self.unit}" if self.unit else said

    @property
    def beside(self) -> str:
        """The controls."""
        return ", ".join(control.words for control in self.controls)

    @property
    def expected(self) -> str:
        """Chance, in words; nothing if there is none."""
        return "" if self.chance is None else f"{self.chance:.4f}"

    @property
    def words(self) -> str:
        """Everything: R² 0.93 (0.91 … 0.95), shuffled 0.01 (0.00 … 0.02), chance 0.0039."""
        parts = [
            f"{self.name} {self.stated}".strip(),
            self.beside,
            self.expected and f"chance {self.expected}",
        ]
        return ", ".join(filter(None, parts))
