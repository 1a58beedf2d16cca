"""`georecall compile`: every kind of table, every option."""

import json
from pathlib import Path

import polars as pl
import pytest
from transformers import AutoModelForCausalLM

from georecall.memory import FactMemory

LONG = "subject,relation,object\nAlice,wife,Sarah\nSarah,mother,Mary\n"
WIDE = "person,wife,mother\nAlice,Sarah,Mary\nSarah,Alice,Helen\n"


def test_the_summary_says_what_was_written_and_what_can_be_asked(cli, family_csv):
    result = cli("compile", family_csv, "-o", "memory")
    assert result.code == 0
    assert result.err == ""
    lines = dict(line.split(maxsplit=1) for line in result.out.splitlines())
    assert lines["wrote"] == "memory"
    assert lines["facts"] == "20; unknown: 20"
    assert lines["relations"] == "5: wife, mother, job, father, husband"
    assert lines["chains"] == "up to 3 hops"
    assert "exact in float32, bfloat16, float16" in lines["certified"]


def test_as_json_it_prints_the_info_and_the_folder(cli, family_csv):
    result = cli("compile", family_csv, "-o", "memory", "--json")
    info = FactMemory.load("memory").info().to_dict()
    assert result.json == info | {"folder": "memory", "exact_dtypes": list(info["exact_dtypes"])}


def _jsonl(rows: list[tuple[str, str, str]]) -> str:
    return "".join(
        json.dumps(dict(zip(("subject", "relation", "object"), row, strict=True))) + "\n" for row in rows
    )


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("facts.csv", LONG),
        ("facts.csv", "\ufeff" + LONG.replace("\n", "\r\n")),
        ("facts.tsv", LONG.replace(",", "\t")),
        ("facts.jsonl", _jsonl([("Alice", "wife", "Sarah"), ("Sarah", "mother", "Mary")])),
        ("facts.csv", WIDE),
        (
            "facts.json",
            '[{"name": "wife", "samples": [{"subject": "Alice", "object": "Sarah"}]},'
            ' {"name": "mother", "samples": [{"subject": "Sarah", "object": "Mary"}]}]',
        ),
    ],
    ids=["long CSV", "CSV from a spreadsheet", "TSV", "JSON lines", "wide CSV", "relation JSON"],
)
def test_every_kind_of_file_compiles_to_the_same_chain(cli, name, content):
    Path(name).write_text(content, encoding="utf-8", newline="")
    assert cli("compile", name, "-o", "memory").code == 0
    assert cli("ask", "memory", "Alice", "wife").out.startswith("Alice –wife→ Sarah\n")


def test_parquet_compiles_too(cli):
    pl.DataFrame({"subject": ["Alice"], "relation": ["wife"], "object": ["Sarah"]}).write_parquet("f.parquet")
    assert cli("compile", "f.parquet", "-o", "memory", "--json").json["facts"] == 1


def test_the_table_in_a_memory_compiles_to_the_same_weights(cli, family):
    assert cli("compile", "family/facts.parquet", "-o", "again").code == 0
    assert Path("again/model.safetensors").read_bytes() == (family / "model.safetensors").read_bytes()


def test_columns_are_found_by_the_names_given(cli):
    Path("f.csv").write_text("what,who,rel,note\nSarah,Alice,wife,x\n")
    columns = ("--subject", "who", "--relation", "rel", "--object", "what")
    result = cli("compile", "f.csv", "-o", "memory", *columns)
    assert result.err == "note: columns ignored: 'note'\n"
    assert cli("ask", "memory", "Alice", "wife", "--json").json["answer"] == "Sarah"


def test_the_form_can_be_forced(cli):
    Path("f.csv").write_text(LONG)
    assert (
        "relations         2: relation, object\n"
        in cli("compile", "f.csv", "-o", "memory", "--form", "wide").out
    )


def test_blank_objects_are_unknown_only_when_allowed(cli):
    Path("f.csv").write_text("country,capital\nFrance,Paris\nNauru,\n")
    result = cli("compile", "f.csv", "-o", "memory", "--allow-missing")
    assert (result.code, result.err) == (0, "note: blank objects, read as unknown: 1\n")
    assert cli("ask", "memory", "Nauru", "capital", "--json").json["answer"] is None
    assert cli("ask", "memory", "France", "capital", "--json").json["answer"] == "Paris"


def test_what_reading_changed_is_noted(cli):
    Path("f.csv").write_text("subject,relation,object\n Alice ,wife,Sarah\nAlice,wife,Sarah\n")
    notes = cli("compile", "f.csv", "-o", "memory").err.splitlines()
    assert notes == [
        "note: exact duplicates of a fact dropped: 1",
        "note: cells with outer white space, which was removed: 1",
    ]


def test_force_replaces_a_memory(cli, family):
    Path("f.csv").write_text(LONG)
    assert cli("compile", "f.csv", "-o", "family", "--force").code == 0
    assert FactMemory.load(family).table.n_facts == 2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_weights_are_saved_in_the_format_asked_for(cli, family_csv, dtype):
    assert cli("compile", family_csv, "-o", "memory", "--dtype", dtype).code == 0
    assert str(AutoModelForCausalLM.from_pretrained("memory").dtype) == f"torch.{dtype}"


def test_hops_and_levels_reach_the_model(cli, family_csv):
    info = cli("compile", family_csv, "-o", "memory", "--hops", "7", "--levels", "4", "--json").json
    assert (info["hops"], info["levels"]) == (7, 4)
    path = cli("ask", "memory", "Alice", *["wife"] * 7, "--json").json["path"]
    assert path == ["Sarah", "Alice"] * 3 + ["Sarah"]


@pytest.mark.parametrize("arch", ["opt", "llama"])
def test_both_architectures_answer_rotated_or_not(cli, family_csv, arch):
    for rotation in ((), ("--rotate", "5")):
        assert cli("compile", family_csv, "-o", "memory", "--arch", arch, "--force", *rotation).code == 0
        assert cli("ask", "memory", "Alice", "wife", "mother", "--json").json["path"] == ["Sarah", "Mary"]
    assert f"{arch}, rotated (seed 5)" in cli("info", "memory").out


def test_the_same_table_and_options_give_the_same_bytes(cli, family_csv):
    for folder in ("one", "two"):
        cli("compile", family_csv, "-o", folder, "--rotate", "3", "--arch", "llama")
    one, two = ({path.name: path.read_bytes() for path in Path(name).iterdir()} for name in ("one", "two"))
    assert one == two
