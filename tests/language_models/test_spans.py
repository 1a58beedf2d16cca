"""The subject's last token is found in every kind of text, by every kind of tokenizer."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, normalizers

import families
from georecall.errors import ProbingError
from georecall.language_models.prompts import Template
from georecall.language_models.spans import TokenisedText

BYTE_LEVEL = {
    f"{bos=}, {eos=}, {trim=}": families.bpe_tokenizer(bos=bos, eos=eos, trim=trim)
    for bos in (False, True)
    for eos in (False, True)
    for trim in (False, True)
}
NORMALISING = {
    "lower case": (normalizers.Lowercase(), str.lower),
    "NFC": (normalizers.NFC(), lambda text: unicodedata.normalize("NFC", text)),
    "NFD": (normalizers.NFD(), lambda text: unicodedata.normalize("NFD", text)),
    "without accents": (
        normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
        lambda text: "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)),
    ),
}
TEMPLATES = (
    "{subject}",
    "The capital of {subject} is",
    'Facts about "{subject}": it',
    "({subject})",
    "Anna{subject}Anna",
    "Anna is {subject}, and {not this}.",
)
NAMES = (
    "Ann",
    "Anna",
    "San  Jose",
    "São Tomé",
    "e\u0301",
    "Cote\u0301 d’Ivoire",
    "👩‍👩‍👧",
    "🇫🇷",
    "ירושלים",
    "القاهرة",
    "東京",
    "a\u0301\u0328",
    "{subject}",
    "x\ny",
)
names = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\ufffd"), min_size=1, max_size=12
).filter(lambda name: name == name.strip())


def tokenised(tokenizer, text: str) -> TokenisedText:
    found = tokenizer(text, return_offsets_mapping=True)
    offsets = tuple(map(tuple, found["offset_mapping"]))
    return TokenisedText(text=text, ids=tuple(found["input_ids"]), offsets=offsets)


def last_token(tokenizer, prompt) -> tuple[TokenisedText, int]:
    tokens = tokenised(tokenizer, prompt.text)
    return tokens, tokens.tokens_of(prompt.subject)[-1]


def check(tokenizer, prompt) -> None:
    """Tokens up to the last one hold the text up to the end of the name; without that one they do not."""
    tokens, last = last_token(tokenizer, prompt)
    until = prompt.text[: prompt.subject[1]]
    assert tokenizer.decode(tokens.ids[: last + 1], skip_special_tokens=True).startswith(until)
    assert not tokenizer.decode(tokens.ids[:last], skip_special_tokens=True).startswith(until)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("template", TEMPLATES)
@pytest.mark.parametrize("tokenizer", BYTE_LEVEL.values(), ids=list(BYTE_LEVEL))
def test_the_name_ends_in_the_token_found(tokenizer, template, name):
    check(tokenizer, Template(template).render(name))


@given(
    name=names,
    template=st.sampled_from(TEMPLATES),
    kind=st.sampled_from(list(BYTE_LEVEL)),
    before=st.text("aé ", max_size=9),
)
@example(name="0", template="{subject}", kind="bos=True, eos=True, trim=True", before="")
def test_any_name_ends_in_the_token_found(name, template, kind, before):
    check(BYTE_LEVEL[kind], Template(template).render(name, text_before=before))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", NORMALISING)
def test_a_tokenizer_that_normalises_is_understood(kind, name):
    normaliser, rule = NORMALISING[kind]
    tokenizer = families.bpe_tokenizer(bos=True, normaliser=normaliser)
    prompt = Template('The capital of "{subject}" is').render(name)
    tokens, last = last_token(tokenizer, prompt)
    until = rule(prompt.text[: prompt.subject[1]])
    assert tokenizer.decode(tokens.ids[1 : last + 1]).startswith(until)
    assert not tokenizer.decode(tokens.ids[1:last]).startswith(until)


def test_a_name_that_stands_twice_is_found_in_the_place_of_the_template():
    prompt = Template("Ann, or Anna, is {subject}, not Ann").render("Ann")
    assert prompt.text[slice(*prompt.subject)] == "Ann"
    assert prompt.subject == (17, 20)
    check(BYTE_LEVEL["bos=False, eos=False, trim=False"], prompt)


def test_text_before_moves_the_place():
    template = Template("The capital of {subject} is")
    alone, after = template.render("Chad"), template.render("Chad", text_before="Chad\n")
    assert after.text == "Chad\n" + alone.text
    assert after.subject == (alone.subject[0] + 5, alone.subject[1] + 5)


def test_a_name_of_which_nothing_is_left_is_named():
    tokenizer = families.bpe_tokenizer(normaliser=normalizers.Replace(Regex("Chad"), ""))
    prompt = Template("about {subject}, Ann").render("Chad")
    with pytest.raises(ProbingError, match="'Chad' in 'about Chad, Ann'"):
        tokenised(tokenizer, prompt.text).tokens_of(prompt.subject)


@pytest.mark.parametrize("text", ["", "The capital of is", "{subject} and {subject}", "{ subject }", "{}"])
def test_a_template_has_one_place(text):
    with pytest.raises(ProbingError, match="exactly once"):
        Template(text)


def test_other_braces_are_text():
    assert Template("{0} {{subject}} {").render("Chad").text == "{0} {Chad} {"


def test_an_answer_follows_the_template_without_its_last_space():
    prompt = Template("The capital of {subject} is \n").render("Chad").answered("N'Djamena")
    assert prompt.text == "The capital of Chad is N'Djamena"
    assert prompt.text[slice(*prompt.answer)] == "N'Djamena"
    assert prompt.text[slice(*prompt.subject)] == "Chad"


def test_the_prefix_of_an_answer_can_be_a_mark():
    prompt = Template("␞wife␃␟{subject}").render("Alice").answered("Sarah", answer_prefix="␟")
    assert (prompt.text, prompt.answer) == ("␞wife␃␟Alice␟Sarah", (13, 18))


def test_a_token_that_stands_for_no_character_does_not_count():
    tokens = TokenisedText(text="Ann  is", ids=(5, 6, 7), offsets=((0, 3), (4, 4), (5, 7)))
    assert tokens.tokens_of((0, 5)) == range(1)
