"""`georecall ask` and `georecall info`."""

from pathlib import Path

import pytest

from georecall.memory import FactMemory


def test_a_chain_is_shown_step_by_step_with_its_margins(cli, family):
    result = cli("ask", family, "Alice", "wife", "mother")
    assert (result.code, result.err) == (0, "")
    assert result.out == "Alice –wife→ Sarah –mother→ Mary\nmargins 4.00, 4.00\n"


def test_as_json_the_path_the_answer_and_the_margins_are_given(cli, family):
    assert cli("ask", family, "Alice", "wife", "mother", "--json").json == {
        "subject": "Alice",
        "relations": ["wife", "mother"],
        "path": ["Sarah", "Mary"],
        "margins": [4.0, 4.0],
        "answer": "Mary",
    }


@pytest.mark.parametrize(
    ("question", "path"),
    [
        (("Leo", "job", "mother"), [None, None]),
        (("Alice", "job", "mother"), ["doctor", None]),
        (("doctor", "wife"), [None]),
    ],
    ids=["a missing fact", "an attribute is no subject", "asked about an attribute"],
)
def test_what_the_table_does_not_say_is_unknown_and_null_in_json(cli, family, question, path):
    assert cli("ask", family, *question).out.splitlines()[0].endswith("→ unknown")
    result = cli("ask", family, *question, "--json")
    assert result.code == 0
    assert (result.json["path"], result.json["answer"]) == (path, None)


def test_names_are_asked_for_by_the_rule_of_reading(cli, family):
    assert cli("ask", family, " Alice\u00a0", "wife ", "--json").json["path"] == ["Sarah"]


def test_info_prints_sizes_and_the_certified_margin(cli, family):
    result = cli("info", family)
    assert result.code == 0
    info = FactMemory.load(family).info()
    for part in (
        f"{info.parameters:,}",
        "wife, mother, job, father, husband",
        "opt",
        f"bound {info.bound_bits_per_fact:.2f}",
    ):
        assert part in result.out
    assert f"certified margin  {info.margin:.3f}; exact in {', '.join(info.exact_dtypes)}\n" in result.out


def test_info_as_json_has_every_field(cli, family):
    info = FactMemory.load(family).info().to_dict()
    assert cli("info", family, "--json").json == info | {"exact_dtypes": list(info["exact_dtypes"])}


def test_a_name_may_begin_with_a_hyphen(cli):
    Path("f.csv").write_text("subject,relation,object\n|,->,-x\n-x,->,|\n")
    cli("compile", "f.csv", "-o", "hyphens")
    assert cli("ask", "hyphens", "|", "->", "->", "--json").json["path"] == ["-x", "|"]
    assert cli("edit", "hyphens", "-x", "->", "-x").code == 0
    assert cli("ask", "hyphens", "-x", "->").out.startswith("-x –->→ -x\n")
