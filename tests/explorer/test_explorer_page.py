"""The page: one file, with nothing in it that is not its own."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import pytest

from georecall.errors import FolderError, GeorecallError
from georecall.explorer import export_page, memory_view
from georecall.explorer import page as page_module
from georecall.explorer.page import served_page, standalone_page
from georecall.facts.table import FactTable
from georecall.memory import FactMemory

HOSTILE = ("</script><script>alert(1)</script>", "<!--", "a\u2028b", "'\"&", "{{ 7 * 7 }}")


@pytest.fixture(scope="module")
def hostile() -> str:
    table = FactTable(HOSTILE, HOSTILE[:2], HOSTILE, np.array([[1, 2], [2, 3], [3, 4], [4, 0], [0, 1]]))
    return standalone_page(memory_view(FactMemory.compile(table), title=HOSTILE[0], folder=HOSTILE[1]))


def data(page: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def test_the_data_of_a_page_come_back_as_they_were(hostile):
    assert tuple(data(hostile)["weights"]["subjects"]["names"]) == HOSTILE
    assert data(hostile)["folder"] == HOSTILE[1]


def test_no_name_ends_the_element_that_holds_it(hostile):
    assert hostile.count("<script") == hostile.count("</script>") == 2
    assert "<!--" not in hostile
    assert "\u2028" not in hostile


def test_the_policy_allows_this_program_and_this_style_only(family_view):
    page = standalone_page(family_view)
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="(.*?)"', page)
    program = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)[0]
    style = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)[0]
    policy = policy.replace("&#39;", "'")
    for name, text in (("script-src", program), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "connect-src 'none'" in policy


def test_a_served_page_holds_no_weights_and_asks_its_own_server_only(family_view):
    page = served_page(family_view)
    assert data(page)["weights"] is None
    assert "connect-src &#39;self&#39;" in page


def test_the_page_names_no_address():
    exported = "".join(page_module._asset(f"{name}.js") for name in page_module.PROGRAM)
    assert "://" not in exported + page_module._asset("explorer.css")


def test_an_exported_page_is_written_whole_and_not_over_another(family_view, tmp_path):
    path = tmp_path / "new" / "page.html"
    export_page(family_view, path)
    assert path.read_text(encoding="utf-8") == standalone_page(family_view)
    with pytest.raises(FolderError, match=r"page\.html: already exists; give another name, or --force"):
        export_page(family_view, path)
    export_page(family_view, path, replace=True)
    with pytest.raises(FolderError, match="expected a file to write, found a folder"):
        export_page(family_view, tmp_path, replace=True)


def test_a_large_memory_is_not_exported_and_nothing_is_written(family_view, tmp_path):
    large = replace(family_view, n_rows=10**6)
    with pytest.raises(GeorecallError, match=r"expected at most 4,000,000 numbers .* got 44,0"):
        export_page(large, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
