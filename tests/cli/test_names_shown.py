"""Names are printed as they are: no mark-up is interpreted, no control character reaches the terminal."""

from dataclasses import replace
from pathlib import Path

import pytest

from georecall.memory import FactMemory, FailedQuery, Verification

BOLD, LINK = "[bold]x[/bold]", "[link=https://example.org]y[/link]"
ROWS = [(BOLD, LINK, ":smile:"), (":smile:", LINK, "[/]"), ("[/]", "`r`", BOLD)]


@pytest.fixture
def marked(cli) -> str:
    """A memory of names that look like mark-up."""
    Path("f.csv").write_text("subject,relation,object\n" + "".join(",".join(row) + "\n" for row in ROWS))
    assert f"relations         2: {LINK}, `r`\n" in cli("compile", "f.csv", "-o", "marked").out
    return "marked"


def test_ask_prints_mark_up_as_text(cli, marked):
    result = cli("ask", marked, BOLD, LINK, LINK, "`r`")
    assert result.out.splitlines()[0] == f"{BOLD} –{LINK}→ :smile: –{LINK}→ [/] –`r`→ {BOLD}"


def test_edit_and_forget_print_mark_up_as_text(cli, marked):
    assert cli("edit", marked, BOLD, LINK, "[/]").out == f"{BOLD} –{LINK}→ [/] (was :smile:)\n"
    assert cli("forget", marked, BOLD, LINK).out == f"{BOLD} –{LINK}→ unknown (was [/])\n"


def test_errors_and_notes_print_mark_up_as_text(cli, marked):
    assert f"got '[bold]y[/bold]'; nearest: '{BOLD}'" in cli("ask", marked, "[bold]y[/bold]", LINK).err
    Path("g.csv").write_text(f"subject,relation,object,[red]z\n {BOLD} ,r,o,z\n")
    assert "'[red]z'" in cli("compile", "g.csv", "-o", "noted").err


def test_verify_prints_mark_up_as_text(cli, marked, monkeypatch):
    sound = FactMemory.verify

    def altered(self: FactMemory, **options: object) -> Verification:
        wrong = FailedQuery(
            subject=BOLD, relations=(LINK, LINK), expected=(":smile:", "[/]"), found=(None, None)
        )
        return replace(sound(self, **options), failures=(wrong,), altered_rows=(f"row: '␟{BOLD}'",))

    monkeypatch.setattr(FactMemory, "verify", altered)
    out = cli("verify", marked, "--chains", "0").out
    assert f"row: '␟{BOLD}'" in out
    assert f"{BOLD}  {LINK} → {LINK}  :smile: → [/]  unknown → unknown" in out


def test_control_characters_are_escaped_in_text_and_exact_in_json(cli):
    Path("f.csv").write_text(
        'subject,relation,object\n"Line\nbreak",kind,"multi\tline\x1b[31m"\n', newline=""
    )
    cli("compile", "f.csv", "-o", "memory")
    result = cli("ask", "memory", "Line\nbreak", "kind")
    assert result.out.splitlines()[0] == "Line\\nbreak –kind→ multi\\tline\\x1b[31m"
    assert cli("ask", "memory", "Line\nbreak", "kind", "--json").json["answer"] == "multi\tline\x1b[31m"


@pytest.mark.parametrize(
    "name", ["Ångström", "日本", "דוד", "👨‍👩‍👧", "n", "True", "007", "--x", "<end>", "|"]
)
def test_any_other_name_is_printed_as_it_is(cli, name):
    Path("f.csv").write_text(f"subject,relation,object\n{name},r,{name}\n", encoding="utf-8")
    cli("compile", "f.csv", "-o", "memory")
    assert cli("ask", "memory", "--", name, "r").out.splitlines()[0] == f"{name} –r→ {name}"
