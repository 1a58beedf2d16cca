"""Which facts of a table a language model recalls."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float64, Int64

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.answers import score_answers
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import AnsweredPrompt, Template
from georecall.progress import Progress, no_progress
from georecall.records import Record
from georecall.statistics.random_streams import stream

EXAMPLES_SHOWN = "examples shown"
"""Purpose of the draws."""


class Recalled(Record):
    """How many of the facts of a relation are known, and the share that each of its templates recalls."""

    facts: int
    known: int
    rate: float
    templates: dict[str, float]


Fact = tuple[str, str]
"""A subject and the relation's answer."""


@dataclass(frozen=True, kw_only=True)
class Knowledge:
    """For each fact and template, how probable the model finds the answer and whether greedy decoding gives it.

    `templates` holds those of each relation; `log_probabilities` is NaN where there is no fact or no template.
    """

    relations: tuple[str, ...]
    templates: tuple[tuple[str, ...], ...]
    log_probabilities: Float64[np.ndarray, "subjects relations templates"]
    recalled: Bool[np.ndarray, "subjects relations templates"]

    @property
    def asked(self) -> Bool[np.ndarray, "subjects relations templates"]:
        """Whether a fact was asked in a template."""
        return ~np.isnan(self.log_probabilities)

    @property
    def known(self) -> Bool[np.ndarray, "subjects relations"]:
        """Whether a fact is recalled in at least one template."""
        return np.asarray(self.recalled.any(axis=2))

    @property
    def rates(self) -> Float64[np.ndarray, " relations"]:
        """The share of each relation's facts that are known; NaN where none was asked."""
        return _shares(self.known.sum(axis=0), self.asked.any(axis=2).sum(axis=0))

    @property
    def template_rates(self) -> Float64[np.ndarray, "relations templates"]:
        """The share of each relation's facts that are recalled in each template; NaN where there is none."""
        return _shares(self.recalled.sum(axis=0), self.asked.sum(axis=0))

    @property
    def by_relation(self) -> dict[str, Recalled]:
        """What is known of each relation that was asked."""
        facts = self.asked.any(axis=2).sum(axis=0).tolist()
        known = self.known.sum(axis=0).tolist()
        return {
            name: Recalled(
                facts=facts[relation],
                known=known[relation],
                rate=known[relation] / facts[relation],
                templates=dict(zip(texts, self.template_rates[relation].tolist(), strict=False)),
            )
            for relation, (name, texts) in enumerate(zip(self.relations, self.templates, strict=True))
            if facts[relation]
        }


def recall_facts(
    lm: LanguageModel,
    table: FactTable,
    templates: Mapping[str, Sequence[str]],
    *,
    shots: int = 0,
    seed: int = 0,
    batch: int = 32,
    answer_prefix: str = " ",
    progress: Progress = no_progress,
) -> Knowledge:
    """Ask every fact in every template of its relation, after `shots` other facts of the relation, one a line.

    The examples are the first of one order of the subjects, drawn for each relation from `seed`, without the subject
    that is asked. The answer follows the whole template and `answer_prefix`.

    Raises:
        UnknownNameError: a template is for a relation that the table does not have.
        ProbingError: there is no template, a template does not hold `{subject}` once, a relation has too few facts
            for the examples, or as `score_answers`.
    """
    asked = {table.resolve_relation(name): tuple(texts) for name, texts in templates.items() if texts}
    if not asked:
        raise ProbingError("expected a template for at least one relation, got none")
    shape = *table.answers.shape, max(map(len, asked.values()))
    log_probabilities, recalled = np.full(shape, np.nan), np.zeros(shape, dtype=np.bool_)
    places: list[tuple[int, int, int]] = []
    prompts: list[AnsweredPrompt] = []
    for relation, texts in asked.items():
        shown = _shown(table, relation, shots, seed)
        for number, text in enumerate(texts):
            places += [(subject, relation, number) for subject in shown]
            prompts += [_prompt(Template(text), facts, answer_prefix) for facts in shown.values()]
    scores = score_answers(lm, prompts, batch=batch, progress=progress)
    index = tuple(np.array(places, dtype=np.int64).reshape(-1, 3).T)
    log_probabilities[index], recalled[index] = scores.log_probabilities, scores.recalled
    return Knowledge(
        relations=table.relations,
        templates=tuple(asked.get(relation, ()) for relation in range(len(table.relations))),
        log_probabilities=log_probabilities,
        recalled=recalled,
    )


def _shown(table: FactTable, relation: int, shots: int, seed: int) -> dict[int, list[Fact]]:
    """For each subject with a fact of the relation, the facts that are shown, and last the one that is asked."""
    subjects = np.flatnonzero(table.answers[:, relation] >= 0)
    if 0 < len(subjects) <= shots:
        raise ProbingError(
            f"expected more than {shots} facts of {table.relations[relation]!r} for {shots} examples, "
            f"got {len(subjects)}"
        )
    answers = table.answers[subjects, relation].tolist()
    facts = {
        subject: (table.subjects[subject], table.attributes[answer])
        for subject, answer in zip(subjects.tolist(), answers, strict=True)
    }
    drawn = stream(seed, EXAMPLES_SHOWN, table.relations[relation]).permutation(subjects)
    order = drawn[: shots + 1].tolist()
    return {
        subject: [*[facts[example] for example in order if example != subject][:shots], fact]
        for subject, fact in facts.items()
    }


def _prompt(template: Template, facts: Sequence[Fact], answer_prefix: str) -> AnsweredPrompt:
    *shown, (subject, answer) = facts
    lines = [
        template.render(example).answered(attribute, answer_prefix=answer_prefix).text + "\n"
        for example, attribute in shown
    ]
    return template.render(subject, text_before="".join(lines)).answered(answer, answer_prefix=answer_prefix)


def _shares(
    counts: Int64[np.ndarray, "*shape"], totals: Int64[np.ndarray, "*shape"]
) -> Float64[np.ndarray, "*shape"]:
    return np.divide(counts, totals, out=np.full(counts.shape, np.nan), where=totals > 0)
