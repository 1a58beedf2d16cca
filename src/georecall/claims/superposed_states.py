"""L2: whether a pretrained language model adds relations up in its hidden states."""

from collections.abc import Iterator, Sequence

from altair.typing import ChartType

from georecall.claims.claim import Claim
from georecall.claims.judgement import Finding, Judgement
from georecall.claims.probed import SOURCE, TIMES, Table, cells, figure_of, judgement, table_of
from georecall.figures.probing import superposed_states_figure
from georecall.language_models.packaged_model import missing_packaged_model
from georecall.probing.joint_fit import JointFit
from georecall.statistics.quantities import Quantity

LEAST_ADDING = 2
FORM = ".2f"


def judge(results: Sequence[Table]) -> Judgement:
    """Whether several relations add to what the others explain, beyond what a fit finds without facts."""
    joints = [table.result.findings.joint for table in results]
    known = ", ".join(str(joint.joint.chosen) for joint in joints if joint is not None)
    return judgement(list(map(look, results)), f"joint R² {known}" if known else "no table can say")


def look(table: Table) -> Finding:
    """The joint fit of one table, and what each relation has in it."""
    joint, world = table.result.findings.joint, table_of(table)
    if joint is None:
        return Finding(world=world, note=f"left out: {table.result.findings.joint_skipped}")
    r2 = joint.joint.chosen
    beside = {"shuffled facts": joint.shuffled.chosen}
    if joint.random is not None:
        beside["random weights"] = joint.random.chosen
    adding = sum(explained.chosen.low > 0 for explained in joint.unique.values())
    controls = tuple(Quantity.of(name, control, form=FORM) for name, control in beside.items())
    return Finding(
        world=world,
        met=adding >= LEAST_ADDING and all(r2.low > control.high for control in beside.values()),
        quantities=(
            Quantity.of("joint R²", r2, controls=controls, form=FORM),
            *(Quantity.of(f"{name} alone", found.chosen, form=FORM) for name, found in joint.alone.items()),
            *(
                Quantity.of(f"lost without {name}", found.chosen, form=FORM)
                for name, found in joint.unique.items()
            ),
            *_overlaps(joint),
        ),
    )


def _overlaps(joint: JointFit) -> Iterator[Quantity]:
    """The pairs of relations whose subspaces lie closest and furthest, at the layer chosen most often."""
    place, names = joint.layers.index(joint.usual_layer), joint.relations
    overlaps = joint.subspaces[place].overlaps.mean
    shuffled = joint.shuffled_subspaces[place].overlaps.mean
    pairs = [(a, b) for a in range(len(names)) for b in range(a) if overlaps[a, b] == overlaps[a, b]]
    ends = (max, min)[: len(pairs)]
    for end in ends:
        a, b = end(pairs, key=lambda pair: overlaps[pair])
        yield Quantity(
            name=f"overlap of {names[b]} and {names[a]}, mean cos²",
            value=float(overlaps[a, b]),
            controls=(Quantity(name="facts shuffled", value=float(shuffled[a, b]), form=FORM),),
            form=FORM,
        )


def figure(results: Sequence[Table], stamp: str) -> ChartType:
    """The joint fit by layer, and what each relation adds; not where there are too few subjects."""
    joints = [table.result.findings.joint for table in results]
    charts = [None if joint is None else superposed_states_figure(joint) for joint in joints]
    return figure_of(charts, results, title="Hidden states as superpositions", stamp=stamp)


L2 = Claim(
    id="L2",
    statement="In a pretrained language model the relations of a subject superpose: its hidden state is a sum, to "
    "which each adds a part of its own.",
    source=SOURCE,
    criterion="On held-out subjects, the R² of the joint fit is above those of shuffled facts and of random weights "
    f"beyond their intervals, and at least {LEAST_ADDING} relations explain what no other does; holds in all tables, "
    "fails in none",
    cells=cells,
    judge=judge,
    figure=figure,
    times=TIMES,
    missing=missing_packaged_model,
)
