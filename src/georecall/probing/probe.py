"""Probe a language model on a table of facts: all that `georecall probe` measures."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32, Int64

from georecall.facts.table import FactTable
from georecall.language_models.hidden_states import answer_states
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.language_models.readiness import check_ready
from georecall.language_models.state_cache import StateCache
from georecall.language_models.table_states import HiddenStates, read_hidden_states
from georecall.language_models.templates import Templates
from georecall.probing.causal import StateSwap, SwapEffect, SwapSummary, measure_swaps
from georecall.probing.findings import Findings, analyse
from georecall.probing.knowledge import EXAMPLES_SHOWN, Knowledge, Recalled, recall_facts
from georecall.probing.linear_relations import LinearRelation, linear_relation
from georecall.probing.relations import choose_targets
from georecall.probing.settings import ProbeSettings
from georecall.probing.superposition_map import fit_superposition
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.statistics.folds import fold_numbers
from georecall.statistics.random_streams import stream

FOLD = 0
"""Swaps are made in the subjects of this fold; layer and components come from the others."""

DECODED_AT_ONCE = 256
"""States whose logits are held in memory together."""


class ProbeSummary(Record):
    """All of a probe that is kept, and drawn."""

    model: str
    digest: str
    subjects: int
    facts: int
    templates: Templates
    settings: ProbeSettings
    knowledge: dict[str, Recalled]
    findings: Findings
    linear_relations: dict[str, LinearRelation]
    swaps: dict[str, SwapSummary]


@dataclass(frozen=True, kw_only=True)
class ProbeReport:
    """All that was measured of a model on a table.

    `table` is the one that was probed: with `known_only`, without the facts that the model does not recall.
    """

    model: str
    digest: str
    table: FactTable
    templates: Templates
    settings: ProbeSettings
    knowledge: Knowledge
    findings: Findings
    linear_relations: Mapping[str, LinearRelation]
    swaps: tuple[SwapEffect, ...]

    @property
    def summary(self) -> ProbeSummary:
        """Everything but the single folds, facts and subjects."""
        return ProbeSummary(
            model=self.model,
            digest=self.digest,
            subjects=len(self.table.subjects),
            facts=self.table.n_facts,
            templates=self.templates,
            settings=self.settings,
            knowledge=self.knowledge.by_relation,
            findings=self.findings,
            linear_relations=dict(self.linear_relations),
            swaps={effect.relation: effect.summary for effect in self.swaps},
        )


def probe_model(
    lm: LanguageModel,
    table: FactTable,
    templates: Templates,
    settings: ProbeSettings,
    *,
    cache: StateCache,
    answer_prefix: str = " ",
    batch: int = 32,
    n_jobs: int = 1,
    progress: Progress = no_progress,
) -> ProbeReport:
    """Ask the model for the facts, read its states, probe them with all controls, and swap components.

    Raises:
        ProbingError: as `check_ready`; a template does not fit, no relation can be probed, a state is not finite,
            or the model is of a family that is not known.
        FolderError: a file of the cache is damaged.
    """
    templates = templates.completed(table.relations)
    layers = settings.layers_of(lm.n_layers)
    chosen: dict[str, Any] = {"folds": settings.folds, "seed": settings.seed}
    # A model or a table that cannot be probed is refused before the model is run.
    check_ready(lm, table, templates.subject, answer_prefix=answer_prefix)
    choose_targets(table, lm.unembedding_vectors(table.attributes, answer_prefix=answer_prefix), **chosen)
    asking: dict[str, Any] = {"batch": batch, "answer_prefix": answer_prefix, "progress": progress}
    knowledge = _knowledge(lm, table, templates, settings, cache, **asking)
    if settings.known_only:
        table = only_known(table, knowledge)
    hidden = read_hidden_states(
        lm,
        table,
        templates.subject,
        layers=layers,
        random_weights=settings.random_weights,
        seed=settings.seed,
        cache=cache,
        **asking,
    )
    findings = analyse(hidden, table, shuffles=settings.shuffles, n_jobs=n_jobs, progress=progress, **chosen)
    first = {relation: templates.relations[relation][0] for relation in findings.relations}
    relations = {
        name: _linear_relation(lm, hidden, table, name, text, cache=cache, **asking, **chosen)
        for name, text in first.items()
    }
    swaps = _swaps(lm, hidden, table, findings, settings) if settings.swaps else []
    return ProbeReport(
        model=lm.name,
        digest=lm.digest,
        table=table,
        templates=templates,
        settings=settings,
        knowledge=knowledge,
        findings=findings,
        linear_relations=relations,
        swaps=measure_swaps(lm, table, first, swaps, seed=settings.seed, **asking),
    )


def only_known(table: FactTable, knowledge: Knowledge) -> FactTable:
    """The table without the facts that the model does not recall."""
    return replace(table, answers=np.where(knowledge.known, table.answers, -1))


def _knowledge(
    lm: LanguageModel,
    table: FactTable,
    templates: Templates,
    settings: ProbeSettings,
    cache: StateCache,
    *,
    answer_prefix: str,
    **options: Any,
) -> Knowledge:
    """Which facts the model recalls, asked once."""
    chosen: dict[str, Any] = {"shots": settings.shots, "seed": settings.seed, "answer_prefix": answer_prefix}

    def ask() -> dict[str, np.ndarray]:
        found = recall_facts(lm, table, templates.relations, **chosen, **options)
        return {"log_probabilities": found.log_probabilities, "recalled": found.recalled}

    description = {"model": lm.digest, "table": table.digest(), "templates": templates.relations, **chosen}
    return Knowledge(
        relations=table.relations,
        templates=tuple(templates.relations[relation] for relation in table.relations),
        **cache.remembered({"asked": "facts", "examples": EXAMPLES_SHOWN, **description}, ask),
    )


def _linear_relation(
    lm: LanguageModel,
    hidden: HiddenStates,
    table: FactTable,
    relation: str,
    template: str,
    *,
    cache: StateCache,
    answer_prefix: str,
    batch: int,
    progress: Progress,
    **options: Any,
) -> LinearRelation:
    """From the subjects' states to those from which their answers are predicted, and the tokens these put first."""
    answers = table.answers[:, table.relation_index[relation]]
    rows = np.flatnonzero(answers >= 0)
    prompts = [
        Template(template)
        .render(table.subjects[row])
        .answered(table.attributes[answers[row]], answer_prefix=answer_prefix)
        for row in rows
    ]
    description = {
        "asked": "final states",
        "model": lm.digest,
        "prompts": [prompt.text for prompt in prompts],
    }
    outputs = cache.remembered(
        description, lambda: {"states": answer_states(lm, prompts, batch=batch, progress=progress)}
    )["states"]

    def decode(states: Float32[np.ndarray, "some dim"]) -> Int64[np.ndarray, " some"]:
        parts = torch.from_numpy(states).split(DECODED_AT_ONCE)
        return torch.cat([lm.decode(part).argmax(dim=1) for part in parts]).cpu().numpy()

    return linear_relation(
        hidden.states[:, rows],
        outputs,
        decode,
        decode(outputs),
        layers=hidden.layers,
        progress=progress,
        **options,
    )


def _swaps(
    lm: LanguageModel, hidden: HiddenStates, table: FactTable, findings: Findings, settings: ProbeSettings
) -> list[StateSwap]:
    """A swap for each relation, of subjects that had no say in the layer or in the components.

    The layer is the one at which the joint fit leaves least in the training part. There are no swaps without a joint
    fit, none in the last layer, whose state at the subject nothing reads any more, and none of a relation for which
    all subjects of the fit have one attribute.
    """
    if findings.joint is None or findings.joint.chosen_layers[FOLD] == lm.n_layers:
        return []
    layer = findings.joint.chosen_layers[FOLD]
    answers = table.answers[:, [table.relation_index[relation] for relation in findings.relations]]
    rows = np.flatnonzero((answers >= 0).all(axis=1))
    held_out = fold_numbers(len(rows), settings.folds, settings.seed) == FOLD
    state = hidden.states[hidden.layers.index(layer)]
    fit = fit_superposition(state, answers, hidden.vectors, rows[~held_out])
    rng = stream(settings.seed, "swaps")
    swaps = []
    for column, relation in enumerate(findings.relations):
        subjects = np.sort(rng.permutation(rows[held_out])[: settings.swaps])
        old, every = answers[subjects, column], np.unique(answers[rows, column])
        if len(every) < 2:
            continue
        wanted = np.array([rng.choice(every[every != attribute]) for attribute in old], dtype=np.int64)
        deltas = fit.component(column, wanted) - fit.component(column, old)
        swaps.append(
            StateSwap(relation=relation, layer=layer, subjects=subjects, wanted=wanted, deltas=deltas)
        )
    return swaps
