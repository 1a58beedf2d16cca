"""Write a memory to a folder.

Stock Hugging Face files, usable without georecall: `config.json`, `generation_config.json`, `tokenizer.json`,
`tokenizer_config.json`, `chat_template.jinja`, `model.safetensors` and a model card, `README.md`. Ours beside
them: `facts.parquet` (the table), `ground_truth.safetensors` (the mechanism), `certificate.json` (what is
proved, and the hash of every file).
"""

from pathlib import Path
from typing import TYPE_CHECKING

from georecall.facts.table_files import write_parquet
from georecall.memory import folder as files
from georecall.memory.card import model_card
from georecall.memory.ground_truth import GroundTruth
from georecall.memory.statement import Statement
from georecall.models.dtypes import DTYPES
from georecall.models.stock_model import generation_config, stock_config
from georecall.models.tokenizer import save_tokenizer
from georecall.storage.drafts import tidy
from georecall.storage.folders import whole_folder
from georecall.storage.tensors import TensorSource, write_safetensors

if TYPE_CHECKING:
    from georecall.memory.memory import FactMemory


def save_memory(memory: "FactMemory", path: Path, *, replace: bool) -> None:
    """Write every file; the folder appears, or its files are replaced, in one step."""
    chain, architecture, dtype = memory.chain, memory.architecture, DTYPES[memory.dtype]
    tidy(path.resolve().parent)
    with whole_folder(path, kind=files.MEMORY, replace=replace) as folder:
        write_parquet(memory.table, folder / files.TABLE)
        stock_config(architecture, chain, dtype).save_pretrained(folder)
        generation_config(chain).save_pretrained(folder)
        save_tokenizer(chain, folder)
        (folder / files.CARD).write_bytes(model_card(memory).encode())
        GroundTruth.of(chain).write(folder / files.GROUND_TRUTH)
        digest = write_safetensors(folder / files.TENSORS, _sources(memory), dtype)
        statement = Statement.of(
            chain, architecture=architecture.name, dtype=memory.dtype, certificates=memory.certificates
        )
        files.write_certificate(folder, statement.model_dump(mode="json"), {files.TENSORS: digest})


def _sources(memory: "FactMemory") -> dict[str, TensorSource]:
    if memory.stored is None:
        return memory.architecture.tensors(memory.chain)
    return {name: TensorSource.of(tensor) for name, tensor in memory.stored.items()}
