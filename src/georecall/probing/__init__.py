"""Pretrained language models: what they recall, and how their hidden states hold it."""

from georecall.language_models.language_model import LanguageModel
from georecall.language_models.reading import Reading, read_model
from georecall.language_models.state_cache import StateCache
from georecall.language_models.templates import Templates, read_templates
from georecall.probing.examples import EXAMPLES, load_example
from georecall.probing.findings import Findings, analyse
from georecall.probing.probe import ProbeReport, probe_model
from georecall.probing.settings import ProbeSettings, checked_settings, read_layers

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
