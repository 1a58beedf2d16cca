"""C3: trained subject embeddings are superpositions."""

from collections.abc import Sequence

import altair as alt

from georecall.claims.claim import Claim
from georecall.claims.dissected import SOURCE, TIMES, cells, drawn, judge_by, least
from georecall.claims.judgement import Finding
from georecall.dissection import Dissection
from georecall.dissection.superposition import Superposition
from georecall.figures.dissection import variance_figure
from georecall.statistics.quantities import Quantity

LEAST_R2, MOST_SHUFFLED = 0.8, 0.05


def look(found: Dissection) -> Finding:
    """R² on held-out subjects, and with shuffled facts."""
    part = found.result(Superposition)
    if part.held_out_r2 is None or part.shuffled_r2 is None:
        return Finding(note=f"left out: {part.note}")
    met = part.held_out_r2.mean >= LEAST_R2 and part.shuffled_r2.mean <= MOST_SHUFFLED
    shuffled = Quantity.of("shuffled", part.shuffled_r2)
    return Finding(met=bool(met), quantities=(Quantity.of("R²", part.held_out_r2, controls=(shuffled,)),))


def key(judged: Sequence[Dissection]) -> str:
    """The least R²."""
    parts = [found.result(Superposition).held_out_r2 for found in judged]
    known = [r2 for r2 in parts if r2 is not None]
    return f"R² {least(known)}" if known else "no world can say"


C3 = Claim(
    id="C3",
    statement="Trained subject embeddings are superpositions: one matrix for each relation, applied to the vector of "
    "its attribute, adds up to the embedding.",
    source=SOURCE,
    criterion=f"Mean held-out R² at least {LEAST_R2} and at most {MOST_SHUFFLED} with shuffled facts, in every world; "
    "one with more regressors than subjects is left out",
    cells=cells,
    judge=judge_by(look, key),
    figure=drawn(
        lambda found, names: variance_figure(found.result(Superposition), names),
        title="Shares of the variance of subject embeddings",
        arrange=alt.hconcat,
    ),
    times=TIMES,
)
