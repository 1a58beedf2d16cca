"""`georecall explore`."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

PROGRAM = Path(sys.executable).with_name("georecall")


def test_a_page_is_written_where_it_is_asked_for(cli, family):
    result = cli("explore", family, "--export", "page.html")
    assert (result.code, result.err) == (0, "")
    size = Path("page.html").stat().st_size
    assert result.out == f"wrote  page.html\nbytes  {size:,}\n"


def test_an_existing_page_is_replaced_only_by_force(cli, family):
    Path("page.html").write_text("mine")
    result = cli("explore", family, "--export", "page.html")
    assert result.code == 2
    assert result.err == "error: page.html: already exists; give another name, or --force to replace it\n"
    assert Path("page.html").read_text() == "mine"
    assert cli("explore", family, "--export", "page.html", "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("none",), "none: expected the folder of a memory or of a trained run, found nothing"),
        (("family", "--member", "0"), "has no members: --member cannot be given"),
        (("family", "--export", "p.html", "--open"), "--port and --open cannot be given"),
        (("family", "--export", "p.html", "--port", "8000"), "--port and --open cannot be given"),
        (("family", "--force"), "it needs --export"),
    ],
)
@pytest.mark.usefixtures("family")
def test_what_makes_no_sense_is_refused_and_nothing_is_written(cli, tmp_path, arguments, says):
    before = sorted(tmp_path.rglob("*"))
    result = cli("explore", *arguments)
    assert (result.code, result.out) == (2, "")
    assert says in result.err
    assert result.err.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_the_page_is_served_at_the_address_printed_until_ctrl_c(family):
    command = [PROGRAM, "explore", family]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:  # noqa: S603
        line = server.stdout.readline()
        url, rest = line.split(" ", 1)
        assert url.startswith("http://127.0.0.1:")
        assert rest == "(Ctrl-C ends)\n"
        with urlopen(url, timeout=10) as page:  # noqa: S310 - the address of this machine
            assert "Inside <bdi>family</bdi>" in page.read().decode()
        os.kill(server.pid, signal.SIGINT)
        assert server.wait(timeout=10) == 0
        assert server.stderr.read() == ""
