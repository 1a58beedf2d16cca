"""The stock architectures that a memory can be compiled to, by name."""

from typing import Any

from georecall.models.architecture import Architecture
from georecall.models.llama import LLAMA
from georecall.models.opt import OPT

ARCHITECTURES: dict[str, Architecture[Any]] = {known.name: known for known in (OPT, LLAMA)}
