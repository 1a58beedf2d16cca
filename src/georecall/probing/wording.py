"""What a probe report says, in sentences; made from its `to_dict()`, as that is what is kept."""

from collections.abc import Iterator
from typing import Any

from georecall.statistics.intervals import Interval, layers_text, number


def remarks(report: dict[str, Any]) -> Iterator[str]:
    """A sentence on the superposition, and one for each linear relation and each swap."""
    findings = report["findings"]
    yield (
        _superposition(findings["joint"])
        if findings["joint"]
        else f"superposition: {findings['joint_skipped']}"
    )
    for relation, found in report["linear_relations"].items():
        yield f"linear relation {relation!r}: {_faithful(found)}"
    if report["settings"]["swaps"] and not report["swaps"]:
        yield (
            "no swaps: they need a superposition of all relations, at a layer before the last, whose state at the "
            "subject nothing reads any more"
        )
    for relation, effect in report["swaps"].items():
        yield f"swap of {relation!r}: {_moved(effect)}"


def _superposition(joint: dict[str, Any]) -> str:
    beside = [f"shuffled facts {_short(joint['shuffled']['chosen'])}"]
    if joint["random"]:
        beside.append(f"random weights {_short(joint['random']['chosen'])}")
    adds = ", ".join(f"{name} {_stated(unique['chosen'])}" for name, unique in joint["unique"].items())
    return (
        f"superposition of {joint['subjects']} subjects: held-out R² {_stated(joint['joint']['chosen'])} at "
        f"{layers_text(joint['chosen_layers'])}, {', '.join(beside)}; lost without a relation: {adds}"
    )


def _faithful(found: dict[str, Any]) -> str:
    beside = ", ".join(f"{control['name']} {number(control['score'])}" for control in found["comparisons"])
    return (
        f"an affine map of the state at {layers_text(found['chosen_layers'])} names the model's own first token for "
        f"{_stated(found['faithfulness'])} of held-out subjects; {beside}"
    )


def _moved(effect: dict[str, Any]) -> str:
    verdict = "the answer follows" if effect["follows"] else "the answer does not follow"
    others = effect["others_mean"]
    beside = f"; right answers of other relations by {_stated(others)}" if others else ""
    return (
        f"at layer {effect['layer']}, {verdict}: towards the new attribute by {_stated(effect['towards'])} nats, "
        f"in a random direction by {_stated(effect['towards_at_random'])}{beside}"
    )


def _stated(interval: dict[str, float]) -> str:
    return str(Interval(**interval))


def _short(interval: dict[str, float]) -> str:
    return number(interval["value"])
