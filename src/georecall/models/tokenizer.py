"""Names as tokens of a stock tokenizer, and the only place that knows how a prompt is laid out.

In text a relation is `␞` and its name, an entity `␟` and its name, the end `␃` and the unknown `␀`; no name
may hold one of these four characters, so any other name is safe: `␞wife␞mother␃␃␟Alice` asks for the mother of
the wife of Alice where at most three hops are possible. A conversation asks the same by `Alice␞wife␞mother`.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Int64
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from georecall.constructions.chain import Chain
from georecall.facts.names import END, ENTITY_MARK, RELATION_MARK, RESERVED, UNKNOWN, WHITE_SPACE
from georecall.facts.vocabulary import Vocabulary

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

CHAT_TEMPLATE = """\
{%- set question = (messages | selectattr('role', 'equalto', 'user') | list | last)['content'] -%}
{%- set subject, relations = question.split('RELATION')[0], question.split('RELATION')[1:] -%}
{%- if relations | length > HOPS -%}
{{- raise_exception('at most HOPS relations can be asked, got ' ~ relations | length) -}}
{%- endif -%}
{%- for relation in relations -%}{{- 'RELATION' ~ relation -}}{%- endfor -%}
{{- 'END' * (HOPS + 1 - relations | length) ~ 'ENTITY' ~ subject | replace('ENTITY', '') -}}
"""


def chat_template(hops: int) -> str:
    """The Jinja template that lays the question `subject␞relation␞relation` out over K + 1 relation places."""
    text = CHAT_TEMPLATE.replace("HOPS", str(hops))
    return text.replace("RELATION", RELATION_MARK).replace("ENTITY", ENTITY_MARK).replace("END", END)


def prompt_text(subject: str, relations: tuple[str, ...], *, hops: int) -> str:
    """The prompt, as text, that asks for a chain of relations from a subject."""
    asked = "".join(RELATION_MARK + relation for relation in relations)
    return asked + END * (hops + 1 - len(relations)) + ENTITY_MARK + subject


def prompt_ids(
    vocabulary: Vocabulary,
    entities: Int64[np.ndarray, "batch"],
    relations: Int64[np.ndarray, "batch asked"],
    *,
    hops: int,
) -> Int64[np.ndarray, "batch places"]:
    """The prompts, as token ids: K + 1 relation places, unused ones filled with the end, then the subject."""
    places = np.full((len(entities), hops + 2), vocabulary.end)
    places[:, : relations.shape[1]] = vocabulary.relation_ids(relations)
    places[:, -1] = vocabulary.entity_ids(entities)
    return places


def fact_tokenizer(chain: Chain) -> "PreTrainedTokenizerFast":
    """A word-level tokenizer with one token for each control, relation and entity.

    Text is brought to NFC and white space around names is dropped, as in reading tables. A name that the
    table does not have cannot be encoded: the tokenizer raises instead of guessing.
    """
    return _tokenizer(_token_ids(chain), hops=chain.hops, context=chain.context)


def save_tokenizer(chain: Chain, folder: Path) -> None:
    """Write the files of `fact_tokenizer(chain).save_pretrained(folder)`, in a fraction of the time.

    The stock classes copy a vocabulary several times; here they write a tokenizer without names, and the names
    are put into its JSON.
    """
    controls = {UNKNOWN: Vocabulary.unknown, END: Vocabulary.end}
    _tokenizer(controls, hops=chain.hops, context=chain.context).save_pretrained(folder)
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["model"]["vocab"] = _token_ids(chain)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def _token_ids(chain: Chain) -> dict[str, int]:
    """The text and the id of every token, in the order of the vocabulary."""
    relations = [RELATION_MARK + name for name in chain.table.relations]
    entities = [ENTITY_MARK + name for name in chain.table.entities]
    tokens = [UNKNOWN, END, *relations, *entities]
    return dict(zip(tokens, range(len(tokens)), strict=True))


def _tokenizer(ids: dict[str, int], *, hops: int, context: int) -> "PreTrainedTokenizerFast":
    from transformers import PreTrainedTokenizerFast  # noqa: PLC0415 - takes seconds, and a prompt needs none of it

    tokenizer = Tokenizer(models.WordLevel(ids, unk_token=UNKNOWN + UNKNOWN))
    marks, blank = f"[{''.join(RESERVED)}]", f"[{WHITE_SPACE}]"
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.NFC(),
            *(normalizers.Replace(Regex(f"{blank}*{mark}{blank}*"), mark) for mark in RESERVED),
            normalizers.Replace(Regex(f"\\A{blank}+|{blank}+\\z"), ""),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(marks), "merged_with_next")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=END,
        pad_token=END,
        model_max_length=context,
        chat_template=chat_template(hops),
        clean_up_tokenization_spaces=False,
    )
