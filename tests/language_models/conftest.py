"""One tiny model of each family, made once."""

from pathlib import Path

import pytest

import families
from georecall.language_models.language_model import LanguageModel


@pytest.fixture(scope="session", params=families.FAMILIES)
def lm(request: pytest.FixtureRequest) -> LanguageModel:
    return families.tiny(request.param)


@pytest.fixture(scope="session")
def llama() -> LanguageModel:
    return families.tiny("llama")


@pytest.fixture
def folder(llama: LanguageModel, tmp_path: Path) -> Path:
    return families.saved(llama, tmp_path / "small llama")
