"""How training went: loss and recall against steps."""

from collections.abc import Sequence
from math import inf

import altair as alt

from georecall.figures.theme import BLUE, VERMILION, theme
from georecall.training.trainer import Checked


def history_figure(history: Sequence[Checked]) -> alt.VConcatChart:
    """Loss (logarithmic) and the share of all facts recalled against steps, a line for each member.

    A loss that has no logarithm, 0 or not finite, is left out.
    """
    rows = [
        {"step": checked.step, "member": member, "loss": loss if 0 < loss < inf else None, "recall": share}
        for checked in history
        for member, (loss, share) in enumerate(zip(checked.loss, checked.recall, strict=True))
    ]
    chart = alt.Chart(alt.InlineData(values=rows), width=520, height=180)
    step = alt.X("step:Q", title="steps")
    loss = chart.mark_line(color=VERMILION, opacity=0.7).encode(
        x=step,
        y=alt.Y("loss:Q", title="loss (nats)", scale=alt.Scale(type="log")),
        detail="member:N",
        tooltip=["member:N", "step:Q", "loss:Q"],
    )
    share = chart.mark_line(color=BLUE, opacity=0.7).encode(
        x=step,
        y=alt.Y(
            "recall:Q", title="recall of all facts", axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1])
        ),
        detail="member:N",
        tooltip=["member:N", "step:Q", alt.Tooltip("recall:Q", format=".3%")],
    )
    figure = alt.vconcat(loss, share, spacing=24).properties(
        title=alt.Title("Training", subtitle="A line for each member of the ensemble")
    )
    figure.config = theme()
    return figure
