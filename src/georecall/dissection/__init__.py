"""What is inside a recall transformer that answers one hop, and what follows when a part of it is changed."""

from georecall.dissection.dissection import ANALYSES, Dissection, dissect
from georecall.dissection.interventions import bring_relation, silence
from georecall.dissection.specimen import Specimen

__all__ = ["ANALYSES", "Dissection", "Specimen", "bring_relation", "dissect", "silence"]
