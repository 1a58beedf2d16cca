"""What claims will take: measured times where they are known, shared cells once, cells that are done for nothing."""

import pytest

from georecall.claims import CLAIMS, timing
from georecall.claims.claim import PRESETS, Claim, Time
from georecall.claims.judgement import Judgement
from georecall.claims.sizes import listed, sizes_text
from georecall.claims.timing import expectations, minutes_here, steps_a_second
from georecall.claims.total import TASK, TotalProgress
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.sweeps import Cell


class Number(Record):
    """The number itself."""

    n: int


class NumberCell(Cell[Number]):
    """A cell that is measured in no time."""

    n_subjects: int
    seeds: int = 3

    def measure(self, progress: Progress) -> Number:  # noqa: ARG002
        return Number(n=self.n_subjects)


def a_claim(name: str, *numbers: int, seconds: float | None = None) -> Claim:
    return Claim(
        id=name,
        statement="",
        source="",
        criterion="",
        cells=lambda _preset: [NumberCell(n_subjects=number) for number in numbers],
        judge=lambda _results: Judgement.saying("holds", ""),
        times={} if seconds is None else {"quick": Time(seconds)},
    )


@pytest.fixture
def _reference(monkeypatch):
    """The reference machine makes 1000 steps a second."""
    monkeypatch.setattr(timing, "REFERENCE_STEPS", 1000.0)


ONE, SHARING = a_claim("S1", 1, 2, 3, 4, seconds=40.0), a_claim("S2", 3, 4, 5, 6, seconds=100.0)
UNKNOWN = a_claim("S3", 7)


def test_shared_cells_count_for_the_first_claim_only(tmp_path):
    first, second = expectations([ONE, SHARING], "quick", tmp_path)
    assert (first.own, first.seconds_left) == (4, 40)
    assert (second.cells, second.own, second.seconds_left) == (4, 2, 50)
    (alone,) = expectations([SHARING], "quick", tmp_path)
    assert (alone.own, alone.seconds_left) == (4, 100)


def test_cells_that_are_done_cost_nothing(tmp_path):
    for number in (1, 3, 5):
        NumberCell(n_subjects=number).run(tmp_path, no_progress)
    first, second = expectations([ONE, SHARING], "quick", tmp_path)
    assert (first.done, first.seconds_left) == (2, 20)
    assert (second.done, second.own_done, second.seconds_left) == (2, 1, 25)


def test_what_nobody_has_measured_is_unknown_until_it_is_done(tmp_path):
    (before,) = expectations([UNKNOWN], "quick", tmp_path)
    assert (before.how, before.seconds_left) == ("unknown", None)
    NumberCell(n_subjects=7).run(tmp_path, no_progress)
    (after,) = expectations([UNKNOWN], "quick", tmp_path)
    assert after.seconds_left == 0


@pytest.mark.usefixtures("_reference")
def test_a_machine_half_as_quick_takes_twice_as_long_and_two_workers_half(tmp_path, monkeypatch):
    monkeypatch.setattr(timing, "steps_a_second", lambda: 500.0)
    (expected,) = expectations([ONE], "quick", tmp_path)
    assert minutes_here(1)(expected) == pytest.approx(80 / 60)
    assert minutes_here(2)(expected) == pytest.approx(40 / 60)
    assert minutes_here(100)(expected) == pytest.approx(20 / 60)


def test_the_total_weighs_claims_by_their_times_and_counts_what_is_done_at_once(tmp_path):
    NumberCell(n_subjects=1).run(tmp_path, no_progress)
    heard = []
    claims = [ONE, SHARING, UNKNOWN]
    total = TotalProgress(lambda *news: heard.append(news), expectations(claims, "quick", tmp_path))
    for news in (("S1", 1, 4), ("S1", 4, 4), ("S2", 2, 4), ("S2", 3, 4), ("S2", 4, 4), ("S3", 1, 1)):
        total(*news)
    assert [news[1:3] for news in heard if news[0] == TASK] == [
        (10, 91), (10, 91), (40, 91), (40, 91), (65, 91), (90, 91), (91, 91),
    ]  # fmt: skip
    assert [news[:3] for news in heard if news[0] != TASK][1] == ("S1", 4, 4)


def test_news_of_other_work_are_passed_on(tmp_path):
    heard = []
    total = TotalProgress(lambda *news: heard.append(news), expectations([ONE], "quick", tmp_path))
    total("training", 3, 9, "loss 0.1")
    assert heard[1:] == [("training", 3, 9, "loss 0.1")]


def test_a_moment_of_training_is_timed():
    assert 1 < steps_a_second(0.05) < 1_000_000


@pytest.mark.parametrize("preset", PRESETS)
def test_every_claim_says_what_it_takes_and_how_that_is_known(preset):
    for claim in CLAIMS:
        assert claim.times[preset].seconds >= 0
        assert claim.times[preset].how in {"measured", "estimated"}


def test_sizes_are_said_in_words():
    assert sizes_text([NumberCell(n_subjects=n) for n in (8, 4096)]) == "N = 8, 4,096; 3 seeds; 2 cells"
    assert sizes_text([NumberCell(n_subjects=8, seeds=1)]) == "N = 8; 1 seed; 1 cell"


@pytest.mark.parametrize(
    ("values", "said"), [([], ""), ([2], "2"), ([2, 4], "2 or 4"), (list(range(1, 61)), "1 … 60")]
)
def test_long_lists_are_said_by_their_ends(values, said):
    assert listed(values, last=" or ") == said
