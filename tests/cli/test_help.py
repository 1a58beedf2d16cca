"""The installed program: help for a newcomer, quick to start, exit codes as documented."""

import io
import subprocess
import sys
from pathlib import Path

import pytest

from georecall.cli import main
from georecall.cli.app import app

COMMANDS = [command.name for command in app.registered_commands]
PROGRAM = Path(sys.executable).with_name("georecall")


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code that ends by printing the names of all imported modules on standard error."""
    watch = "import atexit, sys; atexit.register(lambda: print(*sys.modules, sep='\\n', file=sys.stderr)); "
    command = [sys.executable, "-c", watch + code]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)  # noqa: S603


def test_help_lists_every_command(cli):
    result = cli("--help")
    assert result.code == 0
    assert all(f" {command} " in result.out for command in COMMANDS)


def test_without_arguments_the_help_is_shown(cli):
    assert "Commands" in cli().out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_shows_an_example(cli, command):
    result = cli(command, "--help")
    assert result.code == 0
    assert f"Example: georecall {command} " in result.out
    assert cli(command, "-h").out == result.out


CALL = "sys.argv = ['georecall', {}]; from georecall.cli import main; main()"


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("import georecall", 0),
        (CALL.format("'--help'"), 0),
        (CALL.format("'ask', '--help'"), 0),
        (CALL.format("'compile', 'none.csv', '-o', 'memory'"), 2),
    ],
    ids=["import", "help", "help of a command", "a table that is refused"],
)
def test_what_needs_no_model_imports_neither_torch_nor_transformers(tmp_path, code, exit_code):
    ended = run_python(code, tmp_path)
    modules = ended.stderr.splitlines()
    assert ended.returncode == exit_code
    assert "georecall" in modules
    assert {"torch", "transformers", "polars"}.isdisjoint(modules)


@pytest.mark.parametrize(
    "arguments", [("ask", "Alice", "wife", "mother"), ("info",)], ids=lambda given: given[0]
)
def test_a_memory_is_asked_without_torch_and_transformers(compiled_family, tmp_path, arguments):
    command, *rest = arguments
    ended = run_python(CALL.format(", ".join(map(repr, [command, str(compiled_family), *rest]))), tmp_path)
    assert ended.returncode == 0
    assert {"torch", "transformers"}.isdisjoint(ended.stderr.splitlines())


def test_the_program_ends_with_code_2_and_one_line_on_standard_error(tmp_path):
    (tmp_path / "facts.csv").write_text("subject,relation,object\nAlice,job,\n", encoding="utf-8")
    command = [PROGRAM, "compile", "facts.csv", "-o", "memory"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)  # noqa: S603
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert ended.stderr.startswith("error: facts.csv: blank object")
    assert ended.stderr.endswith("line 2, column 'object': subject 'Alice', relation 'job'\n")


def test_a_terminal_without_the_letters_gets_escapes_instead_of_an_error(compiled_family, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii", write_through=True))
    monkeypatch.setattr(sys, "argv", ["georecall", "ask", str(compiled_family), "Alice", "wife"])
    with pytest.raises(SystemExit):
        main()
    assert written.getvalue().startswith(b"Alice \\u2013wife\\u2192 Sarah\n")
