"""Whether a language model can say anything about a table: asked before all measuring, not found after it."""

from collections.abc import Iterable

from georecall.errors import ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.language_models.spans import Span, TokenisedText


def check_ready(
    lm: LanguageModel, table: FactTable, subject_template: str, *, answer_prefix: str = " "
) -> None:
    """Refuse a model whose scores do not depend on the answer, or whose tokens do not depend on the names.

    Raises:
        ProbingError: the head gives every token the same score, the tokenizer knows no subject or no attribute, or
            as `LanguageModel.tokenise`.
    """
    head = getattr(lm.model.get_output_embeddings(), "weight", None)
    if head is not None and bool((head == head[0]).all()):
        found = "alike for all tokens" if head.any() else "zero"
        raise ProbingError(f"{lm.name}: its head is {found}, so that it prefers no answer to any other")
    prompts = [Template(subject_template).render(subject) for subject in table.subjects]
    subjects = zip(
        lm.tokenise([prompt.text for prompt in prompts]), [p.subject for p in prompts], strict=True
    )
    answers = lm.tokenise([answer_prefix + name for name in table.attributes], special_tokens=False)
    attributes = ((tokens, (len(answer_prefix), len(tokens.text))) for tokens in answers)
    _check_known(lm, subjects, f"{len(table.subjects):,} subjects")
    _check_known(lm, attributes, f"{len(table.attributes):,} attributes")


def _check_known(lm: LanguageModel, named: Iterable[tuple[TokenisedText, Span]], kind: str) -> None:
    """Refuse a tokenizer for which all names are its unknown token."""
    unknown = lm.tokenizer.unk_token_id
    if unknown is not None and all(
        {tokens.ids[place] for place in tokens.tokens_of(span)} == {unknown} for tokens, span in named
    ):
        raise ProbingError(f"{lm.name}: its tokenizer knows none of the {kind}")
