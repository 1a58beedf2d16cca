"""The claims that `georecall reproduce` settles."""

from georecall.claims.claim import PRESETS, Claim, Outcome, Preset
from georecall.claims.registry import CLAIMS, reproduce, select, standings

__all__ = ["CLAIMS", "PRESETS", "Claim", "Outcome", "Preset", "reproduce", "select", "standings"]
