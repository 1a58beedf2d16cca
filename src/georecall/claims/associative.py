"""K3: several hops at once, by an associative memory."""

from georecall.claims.claim import Claim, Time
from georecall.claims.several_hops import HOPS, cells_of, figure, judge

K3 = Claim(
    id="K3",
    statement="Without a chain of thought k layers answer k hops as an associative memory, one unit a fact; or one a "
    "subject, if layers re-embed.",
    source="The paper claims width linear in the facts, O(N·R); the constructions are ours (docs/theory.md §4).",
    criterion=f"All questions of {HOPS[0]} to {HOPS[-1]} hops right; width N·R, or R·p and N by turns; d as predicted",
    cells=cells_of("associative", "reembedding"),
    judge=judge,
    figure=figure,
    times={"quick": Time(0.154), "standard": Time(7.5), "paper": Time(58.0, "estimated")},
)
