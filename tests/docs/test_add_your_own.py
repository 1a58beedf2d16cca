"""The examples of *Add your own* do what the page says."""

import sys

import numpy as np
import pytest

import georecall.claims
import georecall.models.architectures
import known_models
from cases import WORLDS
from documents import ROOT, blocks
from georecall.claims import find_claims, registry, reproduce
from georecall.constructions.one_hop import OneHop
from georecall.dissection import HeldOutSplit
from georecall.dissection.dissection import Dissection, analyses_of
from georecall.dissection.study import Study
from georecall.explorer.memories import memory_view
from georecall.memory import FactMemory
from georecall.memory.trace import trace
from georecall.models.architectures import ARCHITECTURES
from georecall.models.certifying import certify
from georecall.models.dtypes import DTYPES
from georecall.progress import no_progress
from georecall.theory import code_registry

BY_TITLE = {block.title: block.text for block in blocks(ROOT / "docs" / "add_your_own.md", "python")}


@pytest.fixture
def claims_with_example(tmp_path, monkeypatch):
    """The claims, with the file of the page in the package."""
    (tmp_path / "doubling.py").write_text(BY_TITLE["src/georecall/claims/doubling.py"], encoding="utf-8")
    monkeypatch.setattr("georecall.claims.__path__", [*georecall.claims.__path__, str(tmp_path)])
    yield find_claims()
    sys.modules.pop("georecall.claims.doubling", None)


def test_the_claim_is_found_and_settled(claims_with_example, tmp_path, monkeypatch):
    ids = [claim.id for claim in claims_with_example]
    assert ids.index("K5") < ids.index("K7") < ids.index("C1")
    (claim,) = (claim for claim in claims_with_example if claim.id == "K7")
    monkeypatch.setattr(registry, "CLAIMS", (claim,))
    (outcome,) = reproduce([claim], "quick", tmp_path / "report", no_progress)
    assert (outcome.verdict, outcome.judgement.key) == ("holds", "at most 2 more symbols a relation")
    assert outcome.measured.startswith("[N = 64, R = 4] more symbols a relation ")


def test_the_analysis_is_made_told_and_read_back():
    names: dict = {}
    exec(BY_TITLE["src/georecall/dissection/lengths.py"], names)  # noqa: S102 - our own page
    lengths = names["Lengths"]
    field = BY_TITLE["src/georecall/dissection/dissection.py"].strip()
    assert field == "lengths: Lengths | None = None"
    fields = {"__annotations__": {"lengths": lengths | None}, "lengths": None, "__module__": __name__}
    assert list(analyses_of(type("More", (Dissection,), fields)))[-1] == "lengths"
    split = HeldOutSplit.of(known_models.untrained(), known_models.TABLE, seed=0)
    found = Study(split, seed=0, progress=no_progress).result(lengths)
    (told,) = found.headlines(known_models.TABLE.relations, 1)
    assert told.name == "length of subject embeddings"
    assert told.controls[0].value == pytest.approx(float(found.spread.mean))
    again = lengths.read(found.to_dict())
    np.testing.assert_array_equal(again.mean_length.values, found.mean_length.values)


@pytest.fixture
def repeated_code(monkeypatch):
    """The code of the page, in the registry."""
    names = vars(code_registry) | {"CODES": dict(code_registry.CODES)}
    exec(BY_TITLE["src/georecall/theory/repeated_code.py"], names)  # noqa: S102 - our own page
    exec(BY_TITLE["src/georecall/theory/code_registry.py"], names)  # noqa: S102 - our own page
    monkeypatch.setattr(code_registry, "CODES", names["CODES"])


@pytest.mark.usefixtures("repeated_code")
def test_the_code_doubles_dimension_and_margin():
    table = WORLDS["bijections"].table
    plain, doubled = OneHop(table), OneHop(table, code_name="repeated")
    assert doubled.size.dimension == 2 * plain.size.dimension
    assert doubled.weights().embedding.shape[1] == doubled.size.dimension
    assert doubled.code.margin() == 2 * plain.code.margin()


@pytest.mark.usefixtures("repeated_code")
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_a_chain_with_the_code_is_proved_in_every_format(arch):
    architecture = ARCHITECTURES[arch]
    chain = architecture.chain_class(WORLDS["missing facts"].table, 2, levels=3, code_name="repeated")
    tensors = architecture.tensors(chain)
    assert all(certify(architecture, chain, tensors, dtype).exact for dtype in DTYPES.values())


@pytest.fixture
def mistral(tmp_path, monkeypatch):
    """The architectures, with the file of the page in the package."""
    text = BY_TITLE["src/georecall/models/architectures/mistral.py"]
    (tmp_path / "mistral.py").write_text(text, encoding="utf-8")
    package = georecall.models.architectures
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    yield
    sys.modules.pop(f"{package.__name__}.mistral", None)


@pytest.mark.usefixtures("mistral")
def test_the_architecture_is_certified_saved_and_answers(tmp_path):
    assert list(ARCHITECTURES) == ["opt", "llama", "mistral"]
    table = WORLDS["missing facts"].table
    FactMemory.compile(table, hops=2, arch="mistral").save(tmp_path / "memory")
    memory = FactMemory.load(tmp_path / "memory")
    assert type(memory.model()).__name__ == "MistralForCausalLM"
    assert memory.certificate.exact
    assert memory.verify().ok


@pytest.mark.usefixtures("mistral")
def test_the_architecture_is_traced_and_explored():
    table = WORLDS["family"].table
    memory = FactMemory.compile(table, hops=2, arch="mistral")
    subject, relation = table.subjects[0], table.relations[0]
    found = trace(memory, subject, relation)
    passed = np.flatnonzero(np.abs(found.hidden).max(axis=1) > 0.5)
    assert passed.tolist() == [found.relation]
    assert memory_view(memory, title="").mechanism.gate is not None
