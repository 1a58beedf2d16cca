"""`georecall bounds`: lower bounds, sizes, what does not fit in memory, and a figure."""

import json
import subprocess
import sys

import psutil
import pytest

from georecall.constructions.budget import memory_need
from georecall.figures.numbers import bytes_text
from georecall.theory.size_comparison import smallest_models

ASKED = ("bounds", "--subjects", 4096, "--relations", 16, "--hops", 3)


@pytest.fixture(autouse=True)
def steady_memory(monkeypatch):
    """The free memory of this machine as one number, whatever else runs on it."""
    free = psutil.virtual_memory()
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)


def test_bounds_and_sizes_are_printed(cli):
    result = cli(*ASKED)
    assert result.code == 0
    assert [line.rstrip() for line in result.out.splitlines()] == [
        "Lower bounds at 16 bits a parameter, with P = 0 outside the subject embeddings",
        "one hop, all subjects        d ≥ 11, from 16 answers about each of 4,096 subjects",
        "3 hops, no chain of thought  d ≥ 2,816, from 4,096 answers about each of 7 subjects, along trees that "
        "branch 16 ways",
        "bits a fact                  ≥ 10.56 for random bijections; the code of 2 levels takes 15.00",
        "",
        "Sizes of the constructions",
        "kind              d       width   layers  parameters     bytes at 16 bits",
        "direct            61,459  61,440  1       8,064,342,666  16.1 GB",
        "associative       128     65,536  3       51,595,264     103 MB",
        "re-embedding      785     4,096   5       20,608,882     41.2 MB",
        "chain of thought  263     240     1       2,305,435      4.61 MB",
        "",
        "Parameters outside the subject embeddings, and the least for that d",
        "kind          P              bound",
        "direct        7,812,606,602  ≥ 0",
        "associative   51,070,976     ≥ 19,041",
        "re-embedding  17,393,522     ≥ 14,217",
    ]


def test_no_line_is_cut_on_a_narrow_screen_however_large_the_numbers(cli, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert "…" not in cli("bounds", "--subjects", 10**12, "--relations", 999, "--hops", 90).out


def test_what_does_not_fit_in_memory_is_named_with_its_bytes(cli):
    asked = ("bounds", "--subjects", 10**12, "--relations", 16, "--hops", 2)
    notes = cli(*asked).err.splitlines()
    found = smallest_models(10**12, 16, 2, bits=16)
    for note, model in zip(notes, found.models, strict=True):
        need = memory_need(model.size.parameters)
        assert need.needed == 8 * model.size.parameters
        assert note.startswith(
            f"note: {model.kind}: cannot be held in this machine's memory; its float64 weights"
        )
        assert f"need {bytes_text(need.needed)}, it has {bytes_text(need.available)}" in note


def test_what_fits_in_memory_is_not_mentioned(cli):
    assert cli("bounds", "--subjects", 64, "--relations", 2, "--hops", 2).err == ""


def test_json_is_the_result_with_the_memory_it_needs(cli):
    result = cli(*ASKED, "--bits", 8, "--params", 1000, "--levels", 4, "--json")
    found = smallest_models(4096, 16, 3, bits=8, levels=4, other_parameters=1000)
    memory = {model.kind: memory_need(model.size.parameters).to_dict() for model in found.models}
    assert (result.code, result.err) == (0, "")
    assert result.json == json.loads(json.dumps(found.to_dict() | {"memory": memory, "plot": None}))
    assert memory["chain of thought"]["fits"]


@pytest.mark.parametrize(
    ("subjects", "hops", "words"),
    [
        (1000, 1, "about each of 500 subjects"),
        (1000, 2, "along trees that branch 2 ways"),
        (1000, 40, "along paths"),
        (10, 40, "nothing is proved: no tree of questions fits on half of the subjects"),
    ],
)
def test_every_kind_of_bound_is_put_in_words(cli, subjects, hops, words):
    out = cli("bounds", "--subjects", subjects, "--relations", 2, "--hops", hops).out
    assert next(line for line in out.splitlines() if "no chain of thought" in line).endswith(words)


def test_a_figure_is_written_and_nothing_else(cli, tmp_path):
    result = cli(*ASKED, "--plot", "new/x.svg")
    assert result.code == 0
    assert result.err.endswith("note: wrote new/x.svg\n")
    assert "N = 4,096" in (tmp_path / "new" / "x.svg").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "x.svg"]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (("--subjects", 1), "n_subjects must be at least 2, got 1"),
        (("--subjects", 0), "expected 1 or more subjects, got 0"),
        (("--relations", 0), "expected 1 or more relations, got 0"),
        (("--hops", 0), "expected 1 or more hops, got 0"),
        (("--hops", -3), "expected 1 or more hops, got -3"),
        (("--hops", 1000), "expected N·k·R^k of at most 300 digits"),
        (("--levels", 1), "a code must have 2 to 127 levels, got 1"),
        (("--levels", 128), "a code must have 2 to 127 levels, got 128"),
        (("--bits", 0), "bits must be positive and finite, got 0.0"),
        (("--bits", -1), "bits must be positive and finite, got -1.0"),
        (("--bits", "nan"), "bits must be positive and finite, got nan"),
        (("--bits", 1, "--levels", 4), "bits must be at least log2 4 = 2"),
        (("--params", -1), "other_parameters must be at least 0, got -1"),
        (("--plot", "x.pdf"), "expected a figure that ends in .html, .png, .svg"),
        (("--plot", "."), "expected a figure that ends in .html, .png, .svg"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_2_and_nothing_is_written(cli, tmp_path, changed, message):
    result = cli(*ASKED, "--plot", "x.svg", *changed)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert message in result.err
    assert result.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_help_shows_an_example(cli):
    result = cli("bounds", "--help")
    assert result.code == 0
    assert "georecall bounds --subjects 4096" in " ".join(result.out.split())


def test_bounds_are_printed_without_torch_or_a_drawing_library():
    program = (
        "import sys; from georecall.cli import main\n"
        "sys.argv[1:] = ['bounds', '--subjects', '64', '--relations', '2']\n"
        "try: main()\n"
        "except SystemExit: sys.exit(sum(name in sys.modules for name in ('torch', 'transformers', 'altair')))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)  # noqa: S603
