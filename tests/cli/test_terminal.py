"""Nothing that is printed acts on the terminal, whatever its encoding, and whatever names a folder has."""

import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from georecall.cli import main, output, progress
from georecall.memory import FactMemory
from reports import one_hop

ACTING = "\x1b[31m\u202e\x9b\x07"
AS_TEXT = "\\x1b[31m\\u202e\\x9b\\x07"
PYTHON = [sys.executable, "-m", "georecall"]


def assert_inert(*texts: str) -> None:
    for text in texts:
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text)


def run(*arguments: str | bytes, cwd: Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """The program as it is installed, in an environment of its own."""
    given = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    command = [*PYTHON, *arguments]
    return subprocess.run(command, capture_output=True, cwd=cwd, env=given | environment, check=False)  # noqa: S603


def reseal(folder: Path, **changes: object) -> None:
    """Change fields of the certificate, and give it the hash of what it now says."""
    from georecall.memory import folder as files  # noqa: PLC0415 - its own functions seal it

    path = folder / "certificate.json"
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    content.pop("sha256")
    content["sha256"] = files._digest(content)
    path.write_text(files._text(content), encoding="utf-8")


@pytest.mark.parametrize(
    "field",
    [
        {"format": ACTING},
        {
            "construction": {
                "architecture": ACTING,
                "hops": 1,
                "levels": 2,
                "rotation": None,
                "dtype": "float32",
            }
        },
        {"files": {ACTING: "0"}},
    ],
    ids=["format", "architecture", "file"],
)
def test_no_field_of_a_certificate_acts_on_the_terminal(cli, family, field):
    reseal(family, **field)
    result = cli("info", family)
    assert_inert(result.out, result.err)
    assert result.code != 0


def test_no_field_of_a_run_acts_on_the_terminal(cli):
    Path("run").mkdir()
    Path("run/config.json").write_text(json.dumps({"dim": ACTING, ACTING: 1}), encoding="utf-8")
    result = cli("train", "--resume", "run")
    assert result.code == 2
    assert_inert(result.out, result.err)
    assert AS_TEXT in result.err


def test_nothing_in_a_report_acts_on_the_terminal(cli):
    for name in ("one", "other"):
        Path(name).mkdir()
        outcome = one_hop().to_dict() | {"verdict": ACTING, "measured": f"{name} {ACTING}\n"}
        Path(name, "results.json").write_text(json.dumps([outcome]), encoding="utf-8")
    result = cli("compare", "one", "other")
    assert_inert(result.out, result.err)
    assert f"other {AS_TEXT}\\n" in result.out


def test_the_name_of_a_folder_does_not_act_on_the_terminal(cli, family):
    shutil.move(family, f"family{ACTING}")
    for command in (("info", f"family{ACTING}x"), ("gguf", f"family{ACTING}", "-o", "x.gguf")):
        result = cli(*command)
        assert (result.code, result.err.count("\n")) == (2, 1)
        assert_inert(result.out, result.err)
    assert AS_TEXT in cli("edit", f"family{ACTING}", "Alice", "wife", "Grace", "-o", f"family{ACTING}").err


@pytest.mark.parametrize(
    "arguments",
    [("info", "family", ACTING), (ACTING,), (f"--{ACTING}",), ("compile", "f", "--form", ACTING)],
    ids=["argument", "command", "option", "choice"],
)
def test_wrong_usage_is_said_in_plain_text(cli, arguments):
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert_inert(result.err)
    usage, error = result.err.splitlines()
    assert usage.startswith("Usage: georecall ")
    assert error.startswith("error: ")
    assert "\\x1b[31m" in error


def test_a_fault_of_ours_is_a_traceback_in_plain_text(cli, family, monkeypatch):
    def fail(*_: object) -> None:
        raise RuntimeError(ACTING)

    monkeypatch.setattr(FactMemory, "open", fail)
    result = cli("info", family)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("Traceback (most recent call last):\n")
    assert result.err.endswith(f"RuntimeError: {AS_TEXT}\n")


# Encodings


@pytest.fixture
def printed(monkeypatch):
    """What the program writes to a standard output of some encoding."""

    def run(encoding: str, *arguments: str) -> str:
        written = io.BytesIO()
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding=encoding, write_through=True))
        monkeypatch.setattr(sys, "argv", ["georecall", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code
        return written.getvalue().decode(encoding)

    return run


@pytest.fixture
def emoji(cli) -> Path:
    """A memory of names that neither ASCII nor Latin-1 has."""
    Path("f.csv").write_text("subject,relation,object\nAnn,likes,😀 é\x7f\n", encoding="utf-8")
    assert cli("compile", "f.csv", "-o", "emoji").code == 0
    return Path("emoji")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
@pytest.mark.usefixtures("emoji")
def test_json_is_json_in_every_encoding(printed, encoding):
    text = printed(encoding, "ask", "emoji", "Ann", "likes", "--json")
    assert json.loads(text)["answer"] == "😀 é\x7f"
    assert_inert(text)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize(
    "command", ["ask emoji Ann likes", "info emoji", "bounds --subjects 8 --relations 2"]
)
@pytest.mark.usefixtures("emoji")
def test_text_is_printed_in_every_encoding(printed, encoding, command):
    assert_inert(printed(encoding, *command.split()))


def test_the_program_runs_where_the_locale_has_ascii_alone(tmp_path):
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}
    assert run("--help", cwd=tmp_path, **ascii_alone).returncode == 0
    refused = run("compile", "😀", "-o", "m", cwd=tmp_path, **ascii_alone)
    assert (refused.returncode, refused.stderr.count(b"\n")) == (2, 1)


def test_json_in_utf8_keeps_the_letters(cli, emoji):
    Path("f.csv").write_text("subject,relation,object\nAnn,likes,😀 é\n", encoding="utf-8")
    cli("compile", "f.csv", "-o", "plain")
    assert '"answer": "😀 é"' in cli("ask", "plain", "Ann", "likes", "--json").out
    assert '"answer": "\\ud83d\\ude00 \\u00e9\\u007f"' in cli("ask", emoji, "Ann", "likes", "--json").out


# Names that are not UTF-8

BYTES = b"d\xff"
NOT_UTF8 = os.fsdecode(BYTES)


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux")
@pytest.mark.parametrize(
    "command",
    [
        "compile f.csv -o D/new",
        "compile D/f.csv -o new",
        "ask D/family Alice wife",
        "verify D/family --chains 0",
        "edit D/family Alice wife Grace --json",
        "forget D/family Alice wife",
        "explore D/family --export x.html",
        "info family --json D",
        "gguf D/family -o x.gguf",
        "train --subjects 4 --relations 1 --dim 2 --steps 2 -o D/run",
        "train --facts D/f.csv --dim 2 --steps 2 -o run",
        "analyze D/run",
        "transfer D/run",
        "sweep status D/cells",
        "bounds --subjects 8 --relations 2 --plot D/x.svg",
        "compare D D",
        "reproduce --plot-only -o D/report",
        "probe f.csv --model D",
        "probe f.csv --model family -o D/probe",
    ],
)
def test_a_path_that_is_not_utf8_works_or_is_refused_in_one_line(cli, family, command):
    Path(NOT_UTF8).mkdir()
    shutil.copytree(family, f"{NOT_UTF8}/family")
    for folder in (Path(), Path(NOT_UTF8)):
        Path(folder, "f.csv").write_text("subject,relation,object\nAnn,likes,Bo\n", encoding="utf-8")
    result = cli(*(word.replace("D", NOT_UTF8) if "D" in word else word for word in command.split()))
    lines = [line for line in result.err.splitlines() if not line.startswith(("Usage:", "note:"))]
    assert result.code in {0, 2}
    assert len(lines) == (1 if result.code else 0)
    assert NOT_UTF8 not in result.out + result.err


# Tables and progress


def test_lines_of_tables_end_where_their_text_ends(cli):
    result = cli("bounds", "--subjects", "64", "--relations", "2")
    assert result.out
    assert all(line == line.rstrip() for line in result.out.splitlines())


@pytest.mark.parametrize("width", [40, 200])
def test_a_table_that_is_not_folded_fits_the_terminal_with_a_line_for_each_row(monkeypatch, width):
    written = io.StringIO()
    terminal = Console(
        file=written, force_terminal=True, width=width, no_color=True, highlight=False, soft_wrap=True
    )
    monkeypatch.setattr(output, "out", terminal)
    output.print_table(("claim", "measured"), [("K1", "x" * 100), ("K2", "y")], folded=False)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", written.getvalue()).splitlines()
    assert [line[:2] for line in lines] == ["cl", "K1", "K2"]
    assert len(lines[1]) == min(width, 107)
    assert lines[1].endswith("…") == (width == 40)


def test_long_work_says_each_minute_how_far_it_is_where_there_is_no_terminal(monkeypatch, capsys):
    clock = iter([0, 0, 59, 60, 61, 119, 121])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.progress_bars() as report:
        for done in (0, 10, 11, 12, 15, 900):
            report("cells", done, 1000, "hidden\x1b states")
        report("cells", 1000, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "cells 11 of 1,000 (hidden\\x1b states)",
        "cells 900 of 1,000 (hidden\\x1b states)",
    ]


def test_python_runs_the_package(tmp_path):
    ended = run("--help", cwd=tmp_path)
    assert ended.returncode == 0
    assert ended.stdout.decode().split()[:2] == ["Usage:", "georecall"]
    assert main.__module__ == "georecall.cli.entry"
