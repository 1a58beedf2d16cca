"""`georecall edit` and `georecall forget`: one row of one tensor, in place or elsewhere."""

from pathlib import Path

import pytest
from safetensors.torch import load_file

CHANGES = {
    "edit": (("edit", "family", "Alice", "wife", "Grace"), "Grace"),
    "forget": (("forget", "family", "Alice", "wife"), None),
}
changes = pytest.mark.parametrize(("command", "after"), CHANGES.values(), ids=CHANGES)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@changes
def test_a_change_in_place_says_what_was_and_is_asked_at_once(cli, family, command, after):
    result = cli(*command)
    assert result.out == f"Alice –wife→ {after or 'unknown'} (was Sarah)\n"
    assert (result.code, result.err) == (0, "")
    assert cli("ask", family, "Alice", "wife", "--json").json["answer"] == after
    assert cli("verify", family, "--chains", "30").code == 0


@changes
def test_a_change_rewrites_one_row_of_one_tensor(cli, family, command, after):
    before = load_file(family / "model.safetensors")
    cli(*command)
    now = load_file(family / "model.safetensors")
    changed = {name: int((before[name] != now[name]).any(-1).sum()) for name in before}
    assert cli("ask", family, "Alice", "wife", "--json").json["answer"] == after
    assert {name: rows for name, rows in changed.items() if rows} == {"model.decoder.embed_tokens.weight": 1}


@changes
def test_with_an_output_the_old_memory_stays_as_it_was(cli, family, command, after):
    before = contents(family)
    assert cli(*command, "-o", "new", "--json").json == {
        "subject": "Alice",
        "relation": "wife",
        "before": "Sarah",
        "after": after,
        "folder": "new",
    }
    assert contents(family) == before
    assert cli("ask", "new", "Alice", "wife", "--json").json["answer"] == after


def test_force_replaces_the_memory_at_the_output(cli, family):
    cli("forget", family, "Alice", "wife", "-o", "new")
    assert cli("edit", family, "Alice", "wife", "Grace", "-o", "new", "--force").code == 0
    assert cli("ask", "new", "Alice", "wife", "--json").json["answer"] == "Grace"


def test_an_edit_back_gives_the_same_bytes_again(cli, family):
    before = (family / "model.safetensors").read_bytes()
    cli("edit", family, "Alice", "wife", "Grace")
    cli("edit", family, "Alice", "wife", "Sarah")
    assert (family / "model.safetensors").read_bytes() == before


def test_a_change_to_what_is_the_case_already_is_no_error(cli, family):
    assert cli("edit", family, "Alice", "wife", "Sarah").out == "Alice –wife→ Sarah (was Sarah)\n"
    assert cli("forget", family, "Leo", "job").out == "Leo –job→ unknown (was unknown)\n"
