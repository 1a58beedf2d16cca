"""The figure of a training run shows every member, and only what can be drawn."""

import math

import pytest

from georecall.figures.saving import save_figure
from georecall.figures.training import history_figure
from georecall.training.trainer import Checked

STEPS = (50, 100, 150)


def looks(*losses):
    return [
        Checked(step=step, loss=list(losses), recall=[step / 200] * len(losses), margin=[0.0] * len(losses),
                held_out_recall=None)
        for step in STEPS
    ]  # fmt: skip


def values(history):
    (rows,) = history_figure(history).to_dict()["datasets"].values()
    return rows


def test_every_look_at_every_member_is_a_point():
    rows = values(looks(1.0, 0.5))
    assert [(row["step"], row["member"]) for row in rows] == [(step, m) for step in STEPS for m in (0, 1)]
    assert rows[3] == {"step": 100, "member": 1, "loss": 0.5, "recall": 0.5}


def test_loss_is_logarithmic_and_recall_goes_from_none_to_all():
    loss, recall = history_figure(looks(1.0)).to_dict()["vconcat"]
    assert loss["encoding"]["y"]["scale"] == {"type": "log"}
    assert recall["encoding"]["y"]["scale"] == {"domain": [0, 1]}
    assert [panel["encoding"]["detail"]["field"] for panel in (loss, recall)] == ["member", "member"]
    assert loss["encoding"]["y"]["title"] == "loss (nats)"


@pytest.mark.parametrize("loss", [math.nan, math.inf, 0.0])
def test_a_loss_without_logarithm_is_left_out_and_the_recall_beside_it_is_not(loss):
    assert [(row["loss"], row["recall"]) for row in values(looks(loss))] == [
        (None, step / 200) for step in STEPS
    ]


@pytest.mark.parametrize("history", [looks(1.0, math.nan), looks(1.0)[:1]], ids=["nan", "one look"])
def test_every_history_can_be_drawn(tmp_path, history):
    for name in ("history.html", "history.svg"):
        save_figure(history_figure(history), tmp_path / name)
    text = (tmp_path / "history.svg").read_text(encoding="utf-8")
    assert text.startswith("<svg")
    assert "NaN" not in text
    assert "A line for each member of the ensemble" in (tmp_path / "history.html").read_text(encoding="utf-8")
