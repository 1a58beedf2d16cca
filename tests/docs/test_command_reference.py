"""The generated reference of the command line says all that the program says."""

import re

import pytest
import typer
from commands import command_line, commands

from georecall.cli.app import app

COMMANDS = list(commands())
PAGE = command_line()
SECTIONS = {part.split("`")[0]: part for part in PAGE.split("\n## `")[1:]}


def every_path(command, path):
    inner = getattr(command, "commands", {})
    return [f"{path} {name}" for name in inner] if inner else [path]


def test_every_command_has_a_section():
    group = typer.main.get_command(app)
    paths = [
        path for name, command in group.commands.items() for path in every_path(command, f"georecall {name}")
    ]
    assert list(SECTIONS) == paths


@pytest.mark.parametrize(("path", "command"), COMMANDS, ids=[path for path, _ in COMMANDS])
def test_a_section_has_every_argument_and_option_with_its_help(path, command):
    section = SECTIONS[path]
    named = re.findall(r"[\w-]+", " ".join(re.findall(r"^\| `([^`]*)`", section, re.MULTILINE)))
    for parameter in command.params:
        assert {*([parameter.metavar] if parameter.metavar else parameter.opts)} <= {*named}
        assert parameter.help
        assert parameter.help.replace("|", "\\|").replace("<", "&lt;") in section


def test_the_tables_of_the_page_have_two_columns():
    rows = [line for line in PAGE.splitlines() if line.startswith("|")]
    assert rows
    for row in rows:
        outside = "".join(row.split("`")[::2]).replace("\\|", "")
        assert outside.count("|") == 3
