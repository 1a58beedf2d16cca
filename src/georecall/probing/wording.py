"""What a probe says, in sentences."""

from collections.abc import Iterator

from georecall.probing.causal import SwapSummary
from georecall.probing.joint_fit import JointFit
from georecall.probing.linear_relations import LinearRelation
from georecall.probing.probe import ProbeSummary
from georecall.statistics.wording import layers_text, number


def remarks(report: ProbeSummary) -> Iterator[str]:
    """A sentence on the superposition, and one for each linear relation and each swap."""
    findings = report.findings
    yield _superposition(findings.joint) if findings.joint else f"superposition: {findings.joint_skipped}"
    for relation, found in report.linear_relations.items():
        yield f"linear relation {relation!r}: {_faithful(found)}"
    if report.settings.swaps and not report.swaps:
        yield (
            "no swaps: they need a superposition of all relations, at a layer before the last, whose state at the "
            "subject nothing reads any more"
        )
    for relation, effect in report.swaps.items():
        yield f"swap of {relation!r}: {_moved(effect)}"


def _superposition(joint: JointFit) -> str:
    beside = [f"shuffled facts {number(joint.shuffled.chosen.value)}"]
    if joint.random:
        beside.append(f"random weights {number(joint.random.chosen.value)}")
    adds = ", ".join(f"{name} {unique.chosen}" for name, unique in joint.unique.items())
    return (
        f"superposition of {joint.subjects} subjects: held-out R² {joint.joint.chosen} at "
        f"{layers_text(joint.chosen_layers)}, {', '.join(beside)}; lost without a relation: {adds}"
    )


def _faithful(found: LinearRelation) -> str:
    beside = ", ".join(f"{control.name} {number(control.score)}" for control in found.comparisons)
    return (
        f"an affine map of the state at {layers_text(found.chosen_layers)} names the model's own first token for "
        f"{found.faithfulness} of held-out subjects; {beside}"
    )


def _moved(effect: SwapSummary) -> str:
    verdict = "the answer follows" if effect.follows else "the answer does not follow"
    beside = f"; right answers of other relations by {effect.others_mean}" if effect.others_mean else ""
    return (
        f"at layer {effect.layer}, {verdict}: towards the new attribute by {effect.towards} nats, "
        f"in a random direction by {effect.towards_at_random}{beside}"
    )
