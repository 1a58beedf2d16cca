"""Two reports side by side: their claims, and the cells that both measured."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import ConfigDict, Field, RootModel, model_validator

from georecall.claims.registry import CELLS
from georecall.claims.status import NOT_RECORDED
from georecall.errors import FolderError
from georecall.report.results_table import numbers_of
from georecall.report.writing import OUTCOMES
from georecall.storage.json_files import Stored, read_json_model, read_object
from georecall.sweeps.cells import RESULT, About, about_of, again
from georecall.untrusted import shortened

Number = int | float
Outcomes = dict[str, dict[str, Any]]
FIELDS = ("verdict", "measured", "preset")
"""What may change in a claim; its time always does."""


class OutcomeFields(Stored):
    """An entry of `results.json`, as far as it is compared."""

    model_config = ConfigDict(extra="allow")

    id: str
    verdict: Annotated[str, Field(min_length=1)]
    measured: str
    preset: str
    seconds: float


class OutcomesFile(RootModel[list[OutcomeFields]]):
    """`results.json`: the claims of a report, each once."""

    @model_validator(mode="after")
    def _check_distinct(self) -> "OutcomesFile":
        if repeated := [
            name for name, count in Counter(outcome.id for outcome in self.root).items() if count > 1
        ]:
            raise ValueError(f"expected every claim once, got {shortened(repeated)} more than once")
        return self


@dataclass(frozen=True, kw_only=True)
class ClaimPair:
    """A claim in both reports; None where a report does not have it."""

    id: str
    first: dict[str, Any] | None
    second: dict[str, Any] | None
    changed: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class CellDifference:
    """A cell with other results: the numbers that differ, in both reports, None where a number is missing."""

    cell: str
    numbers: dict[str, tuple[Number | None, Number | None]]


@dataclass(frozen=True, kw_only=True)
class ReportPair:
    """What two reports have in common and what not; numbers are equal or they are not."""

    claims: tuple[ClaimPair, ...]
    equal: tuple[str, ...]
    differing: tuple[CellDifference, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    versions: tuple[tuple[str, ...], tuple[str, ...]]

    def to_dict(self) -> dict[str, Any]:
        """The fields."""
        return asdict(self)


@dataclass(frozen=True)
class _Report:
    """The folder of a report, read when it is asked for."""

    folder: Path

    @cached_property
    def outcomes(self) -> Outcomes:
        """The claims by their ids."""
        path = self.folder / OUTCOMES
        if not path.is_file():
            raise FolderError(
                f"{self.folder}: expected the folder of a report, with its {OUTCOMES}; georecall reproduce makes one"
            )
        found = read_json_model(path, OutcomesFile, remedy="georecall reproduce --plot-only makes it again")
        return {outcome.id: outcome.model_dump() for outcome in found.root}

    @cached_property
    def results(self) -> Outcomes:
        """The results of the measured cells by the names of their folders, which are hashes of their configs."""
        return {
            path.parent.name: read_object(path, remedy=again(path.parent))
            for path in sorted((self.folder / CELLS).glob(f"[!.]*/{RESULT}"))
        }

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of georecall that measured the cells."""
        abouts = (
            about_of(content, self.folder / CELLS / name / RESULT) for name, content in self.results.items()
        )
        return tuple(sorted({about.environment.get("georecall", NOT_RECORDED) for about in abouts}))


def compare_reports(first: Path, second: Path) -> ReportPair:
    """Compare the folders of two reports.

    Raises:
        FolderError: one of them is no report, or a file in it is damaged.
    """
    one, other = _Report(first), _Report(second)
    ids = list(dict.fromkeys([*one.outcomes, *other.outcomes]))
    pairs = {name: (one.results[name], other.results[name]) for name in one.results if name in other.results}
    differing = [name for name, pair in pairs.items() if _substance(pair[0]) != _substance(pair[1])]
    return ReportPair(
        claims=tuple(_claim_pair(name, one.outcomes.get(name), other.outcomes.get(name)) for name in ids),
        equal=tuple(name for name in pairs if name not in differing),
        differing=tuple(CellDifference(cell=name, numbers=_numbers(*pairs[name])) for name in differing),
        only_first=tuple(name for name in one.results if name not in pairs),
        only_second=tuple(name for name in other.results if name not in pairs),
        versions=(one.versions, other.versions),
    )


def _claim_pair(name: str, first: dict[str, Any] | None, second: dict[str, Any] | None) -> ClaimPair:
    changed = [field for field in FIELDS if (first or {}).get(field) != (second or {}).get(field)]
    return ClaimPair(id=name, first=first, second=second, changed=tuple(changed))


def _substance(result: Mapping[str, Any]) -> dict[str, Any]:
    """The result without what it says of its own measurement."""
    return {name: value for name, value in result.items() if name not in About.model_fields}


def _numbers(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> dict[str, tuple[Number | None, Number | None]]:
    """The numbers that differ, by their places."""
    one, other = (dict(numbers_of(_substance(result))) for result in (first, second))
    return {
        name: (one.get(name), other.get(name))
        for name in dict.fromkeys([*one, *other])
        if one.get(name) != other.get(name)
    }
