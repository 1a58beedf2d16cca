"""A model is loaded whole from files alone, or refused with one clear error."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import ByT5Tokenizer

import families
from georecall.errors import MissingPackageError, ProbingError
from georecall.facts.table import FactTable
from georecall.language_models.hidden_states import subject_states
from georecall.language_models.language_model import LanguageModel
from georecall.language_models.prompts import Template
from georecall.memory import FactMemory


def test_a_model_from_a_folder_is_the_model_that_was_saved(lm, tmp_path):
    loaded = LanguageModel.load(families.saved(lm, tmp_path / "saved"))
    ids = torch.arange(2, 12)[None]
    torch.testing.assert_close(loaded.model(ids).logits, lm.model(ids).logits, rtol=0, atol=0)
    assert (loaded.n_layers, loaded.dim, loaded.name) == (families.LAYERS, families.DIM, "saved")
    assert not loaded.model.training
    assert not any(parameter.requires_grad for parameter in loaded.model.parameters())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_model_runs_in_the_format_that_is_asked(dtype, folder):
    loaded = LanguageModel.load(str(folder), dtype=dtype)
    assert loaded.dtype == getattr(torch, dtype)
    assert loaded.device == torch.device("cpu")
    assert subject_states(loaded, ["Chad"], Template("{subject}")).shape == (
        families.LAYERS + 1,
        1,
        families.DIM,
    )


def test_loading_is_quiet(folder, capfd):
    LanguageModel.load(folder)
    assert capfd.readouterr() == ("", "")


def no_config(folder: Path) -> None:
    (folder / "config.json").unlink()


def no_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def pickled_weights(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    no_weights(folder)


def truncated_weights(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-8])


def garbage(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes(b"\xff" * 4096)


def endless_header(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes((2**62).to_bytes(8, "little") + path.read_bytes()[8:])


def header_of_another_type(folder: Path) -> None:
    header = b'[1, {"a": null}]'
    (folder / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)


def nan(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"][0, 0] = torch.nan
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def a_weight_less(folder: Path) -> None:
    tensors = load_file(folder / "model.safetensors")
    tensors.pop("model.layers.1.mlp.up_proj.weight")
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def other_sizes(folder: Path) -> None:
    change_config(folder, intermediate_size=32)


def foreign_family(folder: Path) -> None:
    change_config(folder, model_type="sturdy")


def code_of_its_own(folder: Path) -> None:
    (folder / "evil.py").write_text("raise SystemExit\n", encoding="utf-8")
    change_config(
        folder, model_type="evil", auto_map={"AutoConfig": "evil.C", "AutoModelForCausalLM": "evil.M"}
    )


def no_tokenizer(folder: Path) -> None:
    for path in folder.glob("token*"):
        path.unlink()


def slow_tokenizer(folder: Path) -> None:
    no_tokenizer(folder)
    ByT5Tokenizer().save_pretrained(folder)


def change_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (no_config, r"small llama: expected the folder of a model, found no config\.json"),
        (no_weights, "small llama: cannot be loaded as a language model: .*"),
        (pickled_weights, "small llama: cannot be loaded as a language model: .*"),
        (truncated_weights, "small llama: cannot be loaded as a language model: .*"),
        (garbage, "small llama: cannot be loaded as a language model: .*"),
        (endless_header, "small llama: cannot be loaded as a language model: .*"),
        (header_of_another_type, "small llama: cannot be loaded as a language model: .*"),
        (nan, r"small llama: expected finite weights of torch\.float32, those of lm_head\.weight are not"),
        (
            a_weight_less,
            r"expected all weights, 1 are missing, such as model\.layers\.1\.mlp\.up_proj\.weight",
        ),
        (other_sizes, "small llama: cannot be loaded as a language model: .*"),
        (foreign_family, "small llama: .*cannot be loaded"),
        (code_of_its_own, "small llama: .*cannot be loaded"),
        (no_tokenizer, "small llama: its tokenizer cannot be loaded"),
        (slow_tokenizer, "expected a fast tokenizer, .* got ByT5Tokenizer"),
    ],
)
def test_a_folder_that_is_no_whole_model_is_refused(damage: Callable[[Path], None], message, folder):
    damage(folder)
    with pytest.raises(ProbingError, match=message) as caught:
        LanguageModel.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        "[]",
        "null",
        "{",
        '{"model_type": 3}',
        '{"model_type": null}',
        *(
            f'{{"model_type": "llama", "{name}": {value}}}'
            for name, value in {
                "hidden_size": '"many"',
                "intermediate_size": "-1",
                "vocab_size": "null",
                "num_attention_heads": "0",
                "num_hidden_layers": "[]",
                "hidden_act": '"none"',
                "rope_parameters": "7",
                "num_key_value_heads": "9",
                "architectures": "5",
                "quantization_config": "{}",
            }.items()
        ),
        "[" * 100_000,
    ],
)
def test_a_config_that_says_nothing_sensible_is_refused_in_one_line(config, folder):
    (folder / "config.json").write_text(config, encoding="utf-8")
    with pytest.raises(ProbingError, match=r"small llama: .*cannot be loaded|weights") as caught:
        LanguageModel.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"model": 3}', '{"version": "1.0", "model": {"type": "X"}}']
)
def test_a_tokenizer_that_is_none_is_refused_in_one_line(content, folder):
    (folder / "tokenizer.json").write_text(content, encoding="utf-8")
    with pytest.raises(ProbingError, match=r"small llama: .*tokenizer") as caught:
        LanguageModel.load(folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"path_or_name": None}, "expected a model: a folder, a name, or a GGUF file"),
        ({"path_or_name": "./nowhere"}, "nowhere: expected the folder of a model, found nothing"),
        ({"path_or_name": Path("nowhere")}, "nowhere: expected the folder of a model, found nothing"),
        ({"path_or_name": "/no/where/at/all"}, "expected the folder of a model, found nothing"),
        ({"path_or_name": __file__}, "expected the folder of a model, found a file"),
        ({"path_or_name": "x", "dtype": "int8"}, "expected dtype float32, bfloat16, float16, got 'int8'"),
        ({"path_or_name": "x", "device": "abacus"}, "expected a device that this machine has, got 'abacus'"),
        (
            {"path_or_name": "x", "device": "cuda:99"},
            "expected a device that this machine has, got 'cuda:99'",
        ),
    ],
)
def test_what_cannot_be_loaded_is_named(asked, message):
    with pytest.raises(ProbingError, match=message):
        LanguageModel.load(asked.pop("path_or_name"), **asked)


def test_a_gguf_file_that_is_not_there_is_named(tmp_path):
    pytest.importorskip("gguf", reason="gguf is not installed: pip install 'georecall[gguf]'")
    with pytest.raises(ProbingError, match=r"model\.gguf: expected a GGUF file, found nothing"):
        LanguageModel.load(tmp_path, gguf="model.gguf")


def test_gguf_without_its_package_is_named(monkeypatch):
    monkeypatch.setattr("georecall.language_models.loading.find_spec", lambda _: None)
    with pytest.raises(MissingPackageError, match="gguf"):
        LanguageModel.load(gguf="model.gguf")


@pytest.mark.parametrize("apart", [False, True])
def test_a_memory_written_as_gguf_is_read_back(apart, tmp_path, capfd):
    pytest.importorskip("gguf", reason="gguf is not installed: pip install 'georecall[gguf]'")
    from georecall.memory.gguf_file import write_gguf  # noqa: PLC0415 - an extra

    memory = FactMemory.compile(FactTable.from_facts([("Ann", "likes", "Bo")]), hops=1, arch="llama")
    write_gguf(memory, tmp_path / "model.gguf")
    capfd.readouterr()
    asked = {"path_or_name": tmp_path, "gguf": "model.gguf"} if apart else {"gguf": tmp_path / "model.gguf"}
    loaded = LanguageModel.load(**asked)
    assert capfd.readouterr() == ("", "")
    assert (loaded.name, loaded.dim) == ("model", memory.info().dim)
