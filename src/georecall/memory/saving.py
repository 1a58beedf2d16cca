"""Write a memory to a folder and read it again.

Stock Hugging Face files, usable without georecall: `config.json`, `generation_config.json`, `tokenizer.json`,
`tokenizer_config.json`, `chat_template.jinja`, `model.safetensors` and a model card, `README.md`. Ours beside
them: `facts.parquet` (the table), `ground_truth.safetensors` (the mechanism), `certificate.json` (what is
proved, and the hash of every file).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from safetensors.torch import load_file

from georecall.constructions.certificate import Certificate
from georecall.facts.table_files import read_parquet, write_parquet
from georecall.memory import folder as files
from georecall.memory.card import model_card
from georecall.memory.ground_truth import GroundTruth
from georecall.models.architecture import DTYPES
from georecall.models.architectures import ARCHITECTURES
from georecall.models.tokenizer import save_tokenizer
from georecall.storage.drafts import tidy
from georecall.storage.folders import steady, whole_folder
from georecall.storage.tensors import TensorSource, write_safetensors

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory


def save_memory(memory: "FactMemory", path: Path, *, replace: bool) -> None:
    """Write every file; the folder appears, or its files are replaced, in one step."""
    chain, architecture, dtype = memory.chain, memory.architecture, DTYPES[memory.dtype]
    tidy(path.resolve().parent)
    with whole_folder(path, kind=files.MEMORY, replace=replace) as folder:
        write_parquet(memory.table, folder / files.TABLE)
        architecture.config(chain, dtype).save_pretrained(folder)
        architecture.generation_config(chain).save_pretrained(folder)
        save_tokenizer(chain, folder)
        (folder / files.CARD).write_bytes(model_card(memory).encode())
        GroundTruth.of(chain).write(folder / files.GROUND_TRUTH)
        digest = write_safetensors(folder / files.TENSORS, _sources(memory), dtype)
        files.write_certificate(folder, _statement(memory), {files.TENSORS: digest})


def load_parts(folder: Path) -> dict[str, Any]:
    """The fields of the memory in a folder, after checking every hash; never half those of another one."""
    return steady(folder, files.CERTIFICATE, lambda: _parts(folder))


def _parts(folder: Path) -> dict[str, Any]:
    sealed = files.read_certificate(folder)
    made = sealed["construction"]
    architecture = ARCHITECTURES[made["architecture"]]
    table = read_parquet(folder / files.TABLE)
    return {
        "chain": architecture.chain_class(
            table, made["hops"], levels=made["levels"], rotation=made["rotation"]
        ),
        "architecture": architecture,
        "dtype": made["dtype"],
        "certificates": tuple(Certificate.from_dict(proof) for proof in sealed["proofs"]),
        "stored": load_file(folder / files.TENSORS),
    }


def _sources(memory: "FactMemory") -> dict[str, TensorSource]:
    if memory.stored is None:
        return memory.architecture.tensors(memory.chain)
    return {name: TensorSource.of(tensor) for name, tensor in memory.stored.items()}


def _statement(memory: "FactMemory") -> dict[str, Any]:
    chain = memory.chain
    return {
        "construction": {
            "name": "chain of thought",
            "architecture": memory.architecture.name,
            "hops": chain.hops,
            "levels": chain.levels,
            "rotation": chain.rotation,
            "dtype": memory.dtype,
        },
        "table": {"digest": memory.table.digest(), "facts": memory.table.n_facts},
        "code": {"composition": chain.code.composition, "length": chain.code.length},
        "layout": chain.layout.to_dict(),
        "proofs": [proof.to_dict() for proof in memory.certificates],
    }
