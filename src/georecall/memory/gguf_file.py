"""A Llama memory as one GGUF file, for llama.cpp and the programs built on it.

llama.cpp turns neighbouring rows of a head in pairs where Hugging Face turns row j with row j + h/2, so queries
and keys are interleaved. The vocabulary holds whole names, without byte pieces: a name that the table does not
have is refused there too. Names are compared as they are written; NFC and white space are the caller's care.
"""

import re
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32

from georecall.errors import ConstructionError, MissingPackageError
from georecall.memory.memory import FactMemory
from georecall.models.architectures.llama import LLAMA
from georecall.models.dtypes import DTYPES
from georecall.models.stock_model import stock_config
from georecall.storage.files import pointed_to, whole_file

if TYPE_CHECKING:
    from gguf import GGUFWriter

RENAMED = {
    r"model\.embed_tokens": "token_embd",
    r"model\.norm": "output_norm",
    r"lm_head": "output",
    r"model\.layers\.(\d+)\.input_layernorm": r"blk.\1.attn_norm",
    r"model\.layers\.(\d+)\.post_attention_layernorm": r"blk.\1.ffn_norm",
    r"model\.layers\.(\d+)\.self_attn\.o_proj": r"blk.\1.attn_output",
    r"model\.layers\.(\d+)\.self_attn\.([qkv])_proj": r"blk.\1.attn_\2",
    r"model\.layers\.(\d+)\.mlp\.(gate|up|down)_proj": r"blk.\1.ffn_\2",
}


def write_gguf(memory: FactMemory, path: Path) -> None:
    """Write the memory's model, tokens and chat template in float32; the file appears when it is whole.

    Raises:
        ConstructionError: the memory is no Llama, or a name holds U+0000, which ends a text in llama.cpp.
        FolderError: the file exists, or cannot be written.
        MissingPackageError: the package `gguf` is not installed.
    """
    try:
        import gguf  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingPackageError(
            "writing GGUF needs the package gguf: pip install 'georecall[gguf]'"
        ) from error
    if memory.architecture is not LLAMA:
        raise ConstructionError(
            f"expected a memory compiled with --arch llama, got {memory.architecture.name}"
        )
    with (
        whole_file(pointed_to(path), replace=False) as draft,
        closing(gguf.GGUFWriter(draft, "llama")) as writer,
    ):
        _add_config(writer, memory)
        _add_tokens(writer, memory)
        for name, tensor in memory.tensors.items():
            array = tensor.float().numpy()
            writer.add_tensor(_renamed(name), _interleaved(array) if re.search("[qk]_proj", name) else array)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()


def _add_config(writer: "GGUFWriter", memory: FactMemory) -> None:
    config = stock_config(memory.architecture, memory.chain, DTYPES[memory.dtype])
    writer.add_context_length(config.max_position_embeddings + 1)  # llama.cpp keeps one place free
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_vocab_size(config.vocab_size)


def _add_tokens(writer: "GGUFWriter", memory: FactMemory) -> None:
    from gguf import TokenType  # noqa: PLC0415 - an extra

    tokenizer, vocabulary = memory.tokenizer(), memory.chain.vocabulary
    texts = tokenizer.convert_ids_to_tokens(list(range(vocabulary.size)))
    for text in texts:
        if "\0" in text:
            raise ConstructionError(
                f"expected names without U+0000, which ends a text in llama.cpp, got {text!r}"
            )
    kinds = [TokenType.USER_DEFINED] * vocabulary.size
    kinds[vocabulary.end] = TokenType.CONTROL
    writer.add_tokenizer_model("llama")
    writer.add_token_list(texts)
    writer.add_token_scores([0.0] * vocabulary.size)
    writer.add_token_types(kinds)
    writer.add_eos_token_id(vocabulary.end)
    writer.add_pad_token_id(vocabulary.end)
    writer.add_unk_token_id(vocabulary.unknown)
    for setting in (writer.add_add_bos_token, writer.add_add_eos_token, writer.add_add_space_prefix):
        setting(False)
    writer.add_chat_template(tokenizer.chat_template)


def _renamed(name: str) -> str:
    for pattern, replacement in RENAMED.items():
        name = re.sub(rf"^{pattern}\.weight$", rf"{replacement}.weight", name)
    return name


def _interleaved(rows: Float32[np.ndarray, "head dim"]) -> Float32[np.ndarray, "head dim"]:
    """Rows 0, h/2, 1, h/2 + 1, …, for the one head."""
    halves = rows.reshape(2, -1, rows.shape[1])
    return np.ascontiguousarray(halves.swapaxes(0, 1).reshape(rows.shape))
