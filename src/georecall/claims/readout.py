"""C4: every relation can be read off a trained subject embedding."""

from collections.abc import Sequence

import altair as alt
import numpy as np

from georecall.claims.claim import Claim
from georecall.claims.dissected import SOURCE, TIMES, cells, drawn, judge_by, least
from georecall.claims.judgement import Finding
from georecall.dissection import Dissection
from georecall.dissection.readout import Readout
from georecall.figures.dissection import readout_figure
from georecall.statistics.quantities import Quantity

TIMES_THE_CONTROL = 10


def look(found: Dissection) -> Finding:
    """Said of the relation that is nearest to its control."""
    part = found.result(Readout)
    low = part.rates.mean if part.rates.interval is None else part.rates.interval[0]
    times = low / np.maximum(part.shuffled.mean, part.chance)
    nearest = int(times.argmin())
    shuffled = Quantity.of("shuffled", part.shuffled.at(nearest))
    quantity = Quantity.of("least read-out", part.rates.at(nearest), controls=(shuffled,), chance=part.chance)
    return Finding(met=bool(times[nearest] > TIMES_THE_CONTROL), quantities=(quantity,))


def key(judged: Sequence[Dissection]) -> str:
    """The least rate."""
    parts = [found.result(Readout) for found in judged]
    rates = [part.rates.at(relation) for part in parts for relation in range(len(part.rates.mean))]
    return f"read-out {least(rates)}"


C4 = Claim(
    id="C4",
    statement="Every relation can be read off a trained subject embedding by a linear map.",
    source=SOURCE,
    criterion="For every relation the lower end of the interval of the top-1 rate on held-out subjects is above "
    f"{TIMES_THE_CONTROL} times the larger of the shuffled control and chance",
    cells=cells,
    judge=judge_by(look, key),
    figure=drawn(
        lambda found, names: readout_figure(found.result(Readout), names),
        title="Linear read-out of relations",
        arrange=alt.hconcat,
    ),
    times=TIMES,
)
