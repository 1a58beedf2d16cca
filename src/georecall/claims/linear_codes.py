"""L1: whether hidden states of a pretrained language model hold relations linearly."""

from collections.abc import Sequence

from altair.typing import ChartType

from georecall.claims.claim import Claim
from georecall.claims.judgement import Finding, Judgement
from georecall.claims.probed import SOURCE, TIMES, Table, cells, figure_of, judgement, table_of
from georecall.figures.probing import layers_figure
from georecall.language_models.packaged_model import missing_packaged_model
from georecall.probing.evidence import Evidence
from georecall.statistics.quantities import Quantity
from georecall.statistics.wording import layers_text

LEAST_SHARE = 0.5


def judge(results: Sequence[Table]) -> Judgement:
    """In how many relations of each table there is evidence."""
    evidence = [one for table in results for one in table.result.findings.evidence]
    key = f"evidence for {sum(one.found for one in evidence)} of {len(evidence)} relations"
    return judgement([look(table) for table in results], key)


def look(table: Table) -> Finding:
    """Every relation of one table beside the control that is nearest to it."""
    evidence = table.result.findings.evidence
    found = sum(one.found for one in evidence)
    counted = Quantity(name="relations with evidence", value=found, unit=f"of {len(evidence)}")
    missing = dict.fromkeys(name for one in evidence for name in one.not_measured)
    return Finding(
        world=table_of(table),
        met=found >= LEAST_SHARE * len(evidence),
        quantities=(counted, *map(_stated, evidence)),
        note=f"not measured: {', '.join(missing)}" if missing else "",
    )


def _stated(one: Evidence) -> Quantity:
    nearest = one.nearest
    said = "evidence" if one.found else "no evidence"
    return Quantity.of(
        f"{one.relation}, {said} at {layers_text(one.chosen_layers)}:",
        one.score,
        controls=(
            Quantity(name=f"nearest control {nearest.name}", value=nearest.score, form=".2f"),
            Quantity.of("difference", nearest.difference, form=".2f"),
        ),
        form=".2f",
    )


def figure(results: Sequence[Table], stamp: str) -> ChartType:
    """Held-out scores by layer, with every control."""
    charts = [layers_figure(table.result.findings) for table in results]
    return figure_of(
        charts, results, title="What a linear probe reads off the subject, by layer", stamp=stamp
    )


L1 = Claim(
    id="L1",
    statement="Hidden states of a pretrained language model hold the relations of a subject as linear codes.",
    source=SOURCE,
    criterion="Evidence, the 95 % interval of the difference to every control above 0 (majority, shuffled labels, "
    "n-grams of the name, layer 0, random weights, any other relation), for at least "
    f"{100 * LEAST_SHARE:.0f} % of the relations of a table; holds in all tables, fails in none",
    cells=cells,
    judge=judge,
    figure=figure,
    times=TIMES,
    missing=missing_packaged_model,
)
