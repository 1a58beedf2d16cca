"""Probing a real model: the whole analysis after extraction, and extraction against the model's bare forward pass."""

import torch
from joblib import cpu_count

from benchmarks.measure import paired_ratio, report, seconds
from georecall.language_models.batches import batches
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.packaged_model import missing_packaged_model, packaged_model
from georecall.language_models.prompts import Template
from georecall.probing import LanguageModel, analyse, load_example, read_hidden_states

BATCH = 32


def run() -> None:
    """Print the time of `analyse` with all layers and controls, and the ratio of the times of extraction."""
    if missing := missing_packaged_model():
        report("probing", "skipped", missing)
        return
    lm = LanguageModel.load(gguf=packaged_model())
    table, templates = load_example("countries")
    layers = tuple(range(1, lm.n_layers + 1))
    hidden = read_hidden_states(lm, table, templates.subject, layers=layers, batch=BATCH)
    spent = seconds(lambda: analyse(hidden, table, n_jobs=cpu_count()))
    sizes = f"{len(hidden.layers)} layers × {len(table.relations)} relations, {len(table.subjects)} subjects"
    report(f"probing, {sizes}, all controls", f"{spent:.0f} s", "< 60 s")
    template = Template(templates.subject)
    rows = [lm.tokenise([template.render(subject).text])[0].ids for subject in table.subjects]
    groups = list(batches(rows, BATCH, device=lm.device))

    @torch.inference_mode()
    def bare() -> None:
        for group in groups:
            lm.model(group.ids, attention_mask=group.mask, use_cache=False)

    ratio = paired_ratio(lambda: subject_states(lm, table.subjects, template, batch=BATCH), bare)
    report("extraction of all states against a bare forward pass", f"{ratio:.2f}×", "≤ 1.2×")
