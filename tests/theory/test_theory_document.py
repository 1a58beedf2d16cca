"""docs/theory.md names only code and tests that exist; every statement says whose it is and what checks it."""

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "georecall"
TEXT = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")

PACKAGES = "|".join(sorted({path.parent.name for path in SOURCES.glob("*/*.py")}))
CODE = sorted(set(re.findall(rf"`((?:{PACKAGES})\.[\w.]+)`", TEXT)))
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TEXT)))

HEADING = r"^\*\*(?:Lemma|Proposition|Theorem|Corollary) (\d\.\d+) \(([^*]+)\)\.\*\*"
_, *PARTS = re.split(HEADING, TEXT, flags=re.MULTILINE)
STATEMENTS = [(number, title, body) for number, title, body in zip(*[iter(PARTS)] * 3, strict=True)]
NUMBERS = [number for number, _, _ in STATEMENTS]


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("name", CODE)
def test_code_named_in_the_document_exists(name):
    resolve_name(f"georecall.{name}")


@pytest.mark.parametrize(("path", "name"), TESTS)
def test_a_test_named_in_the_document_exists(path, name):
    assert name in functions(path)


def test_every_mention_of_code_or_of_a_test_is_looked_up():
    mentions = set(re.findall(r"`([a-z_]+\.[\w.]+|[^`]*::[^`]*)`", TEXT))
    assert mentions == set(CODE) | {f"{path}::{name}" for path, name in TESTS}


@pytest.mark.parametrize(("number", "title", "body"), STATEMENTS, ids=NUMBERS)
def test_a_statement_says_whose_it_is_and_has_a_proof_code_and_a_test(number, title, body):
    assert re.search(r"ours$", title)
    statement, proof, rest = re.split(r"\*Proof\.\*|∎", body, maxsplit=2)
    assert statement.strip()
    assert proof.strip()
    assert re.search(r"\*Realised\s+by\*\s+`\w+\.\w+\.\w+", rest), number
    assert re.search(r"\*checked\s+by\*\s+`tests/", rest), number


def test_statements_are_numbered_in_order_and_references_lead_somewhere():
    by_section = defaultdict(list)
    for section, place in (number.split(".") for number in NUMBERS):
        by_section[int(section)].append(int(place))
    assert list(by_section) == sorted(by_section)
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in by_section.values())
    named = re.findall(r"(?:Lemma|Proposition|Theorem|Corollary)\s+(\d\.\d+)", TEXT)
    plural = re.findall(r"(?:Lemmas|Propositions|Theorems)\s+(\d\.\d+)\s+(?:and|to)\s+(\d\.\d+)", TEXT)
    assert {*named, *(number for pair in plural for number in pair)} <= set(NUMBERS)


def test_every_section_that_the_sources_cite_exists():
    cited = {
        section
        for path in SOURCES.rglob("*.py")
        for section in re.findall(r"theory\.md §(\d)", path.read_text(encoding="utf-8"))
    }
    sections = re.findall(r"^## (\d)\. ", TEXT, flags=re.MULTILINE)
    assert sections == [str(number) for number in range(1, len(sections) + 1)]
    assert cited
    assert cited <= set(sections)


def test_inline_mathematics_survives_markdown():
    """No line break, and no backslash before a punctuation mark, which Markdown would take away."""
    prose = re.sub(r"^```math$.*?^```$|`[^`]*`", "", TEXT, flags=re.MULTILINE | re.DOTALL)
    assert all(line.count("$") % 2 == 0 for line in prose.splitlines())
    assert not [formula for formula in re.findall(r"\$[^$]+\$", prose) if re.search(r"\\[^a-zA-Z ]", formula)]
