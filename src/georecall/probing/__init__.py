"""Pretrained language models: what they recall, and how their hidden states hold it."""

from georecall.language_models.language_model import LanguageModel
from georecall.language_models.state_cache import StateCache
from georecall.language_models.table_states import HiddenStates, read_hidden_states
from georecall.language_models.templates import Templates, read_templates
from georecall.probing.examples import EXAMPLES, load_example
from georecall.probing.findings import Findings, analyse
from georecall.probing.probe import ProbeReport, probe_model
from georecall.probing.settings import ProbeSettings, checked_settings, read_layers

__all__ = [
    "EXAMPLES",
    "Findings",
    "HiddenStates",
    "LanguageModel",
    "ProbeReport",
    "ProbeSettings",
    "StateCache",
    "Templates",
    "analyse",
    "checked_settings",
    "load_example",
    "probe_model",
    "read_hidden_states",
    "read_layers",
    "read_templates",
]
