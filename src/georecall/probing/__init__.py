"""Pretrained language models: what they recall, and how their hidden states hold it."""

from georecall.probing.examples import EXAMPLES, load_example
from georecall.probing.findings import Findings, analyse
from georecall.probing.language_models import LanguageModel
from georecall.probing.probe import ProbeReport, probe_model
from georecall.probing.reading import Reading, read_model
from georecall.probing.settings import ProbeSettings, checked_settings, read_layers
from georecall.probing.state_cache import StateCache
from georecall.probing.templates import Templates, read_templates

__all__ = [
    "EXAMPLES",
    "Findings",
    "LanguageModel",
    "ProbeReport",
    "ProbeSettings",
    "Reading",
    "StateCache",
    "Templates",
    "analyse",
    "checked_settings",
    "load_example",
    "probe_model",
    "read_layers",
    "read_model",
    "read_templates",
]
