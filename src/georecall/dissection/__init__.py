"""What is inside a recall transformer that answers one hop, and what follows when a part of it is changed."""

from georecall.dissection.dissection import ANALYSES, Dissection, dissect
from georecall.dissection.held_out_split import HeldOutSplit
from georecall.dissection.interventions import ablate_units, bring_relation

__all__ = ["ANALYSES", "Dissection", "HeldOutSplit", "ablate_units", "bring_relation", "dissect"]
