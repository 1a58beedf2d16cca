"""The model card's snippet runs as it stands, where georecall is not installed."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cases import WORLDS
from georecall.facts.names import ENTITY_MARK, UNKNOWN
from georecall.facts.table import FactTable
from georecall.memory import FactMemory

FIRST = ('Ann\'s "```"\nback\\slash {brace}', "\u05e9\u05dc\u05d5\u05dd", "is")
TABLES = {
    "opt": (WORLDS["family"].table, {}),
    "llama": (WORLDS["family"].table, {"arch": "llama"}),
    "bfloat16": (WORLDS["countries"].table, {"hops": 5, "dtype": "bfloat16"}),
    "awkward": (FactTable(FIRST[:2], FIRST[1:], FIRST[:2], np.array([[1, -1], [0, 0]])), {}),
    "missing": (FactTable(("a",), ("is",), ("b",), np.array([[-1]])), {"hops": 1}),
}

RUN = """
import os, re, sys
sys.modules["georecall"] = None  # every import of it fails
for folder in sys.argv[1:]:
    os.chdir(folder)
    card = open("README.md", encoding="utf-8").read()
    (snippet,) = re.findall(r"^```python\\n(.*?)^```$", card, re.MULTILINE | re.DOTALL)
    print("<", end="")
    exec(compile(snippet, "README.md", "exec"), {})
    print(">")
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[FactMemory, Path]]:
    folder = tmp_path_factory.mktemp("cards")
    made = {name: FactMemory.compile(table, **options) for name, (table, options) in TABLES.items()}
    for name, memory in made.items():
        memory.save(folder / name)
    return {name: (memory, folder / name) for name, memory in made.items()}


def test_the_snippet_gives_the_first_fact_of_the_table_twice_without_georecall(saved):
    folders = [str(folder) for _, folder in saved.values()]
    done = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", RUN, *folders], capture_output=True, encoding="utf-8", check=False
    )
    assert done.returncode == 0, done.stderr
    expected = []
    for memory, _ in saved.values():
        table = memory.table
        answer = table.answers[0, 0]
        expected.append(ENTITY_MARK + table.attributes[answer] if answer >= 0 else UNKNOWN)
    assert re.findall(r"^<(.*?)>$", done.stdout, re.MULTILINE | re.DOTALL) == [
        f"{text}\n{text}\n" for text in expected
    ]


def test_the_card_states_class_sizes_and_certified_margin(saved):
    for name, (memory, folder) in saved.items():
        card = (folder / "README.md").read_text(encoding="utf-8")
        model_class = {"llama": "LlamaForCausalLM"}.get(name, "OPTForCausalLM")
        assert f"`{model_class}`" in card
        assert (
            f"every one of {memory.table.n_facts:,}\nfacts about {len(memory.table.subjects):,} subjects"
            in card
        )
        assert f"every chain of up to {memory.chain.hops} of them" in card
        assert f"leads every other by at least {memory.certificate.margin:.3f} in {memory.dtype}" in card
        assert card.startswith("---\nlibrary_name: transformers\n")
