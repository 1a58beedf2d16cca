"""Two reports side by side: their claims, and the cells that both measured."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from georecall.claims.registry import CELLS
from georecall.claims.status import NOT_RECORDED
from georecall.errors import FolderError
from georecall.report.results_table import numbers_of
from georecall.report.writing import OUTCOMES
from georecall.sweeps.cells import RESULT, About
from georecall.sweeps.json_files import read_object

Number = int | float
Outcomes = dict[str, dict[str, Any]]
FIELDS = ("verdict", "measured", "preset")
"""What may change in a claim; its time always does."""


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
        try:
            listed = json.loads(path.read_text(encoding="utf-8"))
            return {str(outcome["id"]): dict(outcome) for outcome in listed if outcome["verdict"]}
        except (ValueError, TypeError, KeyError) as error:
            raise FolderError(
                f"{path}: is not a list of outcomes; georecall reproduce --plot-only makes it again"
            ) from error

    @cached_property
    def results(self) -> Outcomes:
        """The results of the measured cells by the names of their folders, which are hashes of their configs."""
        return {
            path.parent.name: read_object(path, remedy=f"delete {path.parent} to measure it again")
            for path in sorted((self.folder / CELLS).glob(f"[!.]*/{RESULT}"))
        }

    @property
    def versions(self) -> tuple[str, ...]:
        """The versions of georecall that measured the cells."""
        environments = (result.get("environment", {}) for result in self.results.values())
        return tuple(sorted({environment.get("georecall", NOT_RECORDED) for environment in environments}))


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
