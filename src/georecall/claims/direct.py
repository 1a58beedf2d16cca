"""K2: several hops at once, with a block for every sequence of relations."""

from georecall.claims.claim import Claim, Time
from georecall.claims.several_hops import HOPS, cells_of, figure, judge

K2 = Claim(
    id="K2",
    statement="Without a chain of thought one layer answers k hops with a block for every sequence of relations.",
    source="The paper claims d = Õ(R^k); the construction and its constants are ours (docs/theory.md §4).",
    criterion=f"All questions of {HOPS[0]} to {HOPS[-1]} hops right; d = (R^k + 1)·p + k + 1 and width R^k·p",
    cells=cells_of("direct"),
    judge=judge,
    figure=figure,
    times={"quick": Time(0.039), "standard": Time(9.2), "paper": Time(910.0, "estimated")},
)
