"""The object a user holds: a table of facts as a stock transformer."""

from georecall.memory.answers import Answer, FailedQuery, Verification
from georecall.memory.ground_truth import GroundTruth
from georecall.memory.info import MemoryInfo
from georecall.memory.memory import FactMemory

__all__ = ["Answer", "FactMemory", "FailedQuery", "GroundTruth", "MemoryInfo", "Verification"]
