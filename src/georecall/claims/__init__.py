"""The claims that `georecall reproduce` settles, each in a file of its own."""

from georecall.claims.claim import PRESETS, Claim, Outcome, Preset
from georecall.claims.registry import CLAIMS, find_claims, reproduce, select, settled_outcomes

__all__ = [
    "CLAIMS",
    "PRESETS",
    "Claim",
    "Outcome",
    "Preset",
    "find_claims",
    "reproduce",
    "select",
    "settled_outcomes",
]
