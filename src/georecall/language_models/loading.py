"""Reading a model and its tokenizer from files, with one clear error for each thing that can be wrong."""

import re
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)
from transformers.utils import logging

from georecall.errors import MissingPackageError, ProbingError, raised_as
from georecall.models.device import device_here
from georecall.models.dtypes import DTYPES

_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?")

WEIGHTS_A_BYTE = 2
"""More than this many weights no file holds in a byte: those of 4 bits."""


def load_model(
    path_or_name: str | Path | None, *, gguf: str | Path | None, dtype: str, device: str
) -> tuple[PreTrainedModel, PreTrainedTokenizerFast, str]:
    """The model, its tokenizer and its name; see `LanguageModel.load`."""
    if dtype not in DTYPES:
        raise ProbingError(f"expected dtype {', '.join(DTYPES)}, got {dtype!r}")
    where = _checked_device(device)
    source, name, options = _source(path_or_name, gguf)
    with _quiet():
        tokenizer = _tokenizer(source, name, options)
        model = _model(source, name, where, {"dtype": DTYPES[dtype], **options})
    return model, tokenizer, name


def _source(path_or_name: str | Path | None, gguf: str | Path | None) -> tuple[str, str, dict[str, Any]]:
    """What `from_pretrained` is given: a folder or a name, the name to show, and the options."""
    if gguf is not None:
        for package in ("gguf", "accelerate"):
            if find_spec(package) is None:
                raise MissingPackageError(
                    f"reading GGUF needs the package {package}: pip install 'georecall[gguf]'"
                )
        path = Path(gguf) if path_or_name is None else Path(path_or_name, gguf)
        if not path.is_file():
            raise ProbingError(f"{path}: expected a GGUF file, found nothing")
        return str(path.parent), path.stem, {"gguf_file": path.name}
    if path_or_name is None:
        raise ProbingError("expected a model: a folder, a name, or a GGUF file")
    path = Path(path_or_name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise ProbingError(f"{path}: expected the folder of a model, found no config.json in it")
        return str(path), path.resolve().name, {}
    if path.exists() or isinstance(path_or_name, Path) or not _HUB_NAME.fullmatch(path_or_name):
        found = "a file" if path.exists() else "nothing"
        raise ProbingError(f"{path}: expected the folder of a model, found {found}")
    return path_or_name, path_or_name, {}


def _tokenizer(source: str, name: str, options: dict[str, Any]) -> PreTrainedTokenizerFast:
    place = (
        "" if Path(source).is_dir() else " (there is no such folder here, so it was looked for on the hub)"
    )
    with raised_as(ProbingError, f"{name}: its tokenizer cannot be loaded{place}"):
        tokenizer = AutoTokenizer.from_pretrained(source, trust_remote_code=False, **options)
    if not isinstance(tokenizer, PreTrainedTokenizerFast):
        raise ProbingError(
            f"{name}: expected a fast tokenizer, which says where its tokens stand, got {type(tokenizer).__name__}"
        )
    if not len(tokenizer):
        raise ProbingError(f"{name}: expected a tokenizer, found none: is there a tokenizer.json?")
    return tokenizer


def _model(source: str, name: str, device: torch.device, options: dict[str, Any]) -> PreTrainedModel:
    if "gguf_file" not in options:
        options = options | {"use_safetensors": True}
        _check_size(Path(source), name)
    with raised_as(ProbingError, f"{name}: cannot be loaded as a language model"):
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            source, trust_remote_code=False, output_loading_info=True, **options
        )
    model, loading = loaded
    if loading["missing_keys"]:  # transformers would fill them with random numbers
        missing = sorted(loading["missing_keys"])
        raise ProbingError(f"{name}: expected all weights, {len(missing)} are missing, such as {missing[0]}")
    for key, tensor in model.state_dict().items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ProbingError(f"{name}: expected finite weights of {tensor.dtype}, those of {key} are not")
    return model.to(device).eval().requires_grad_(False)


def _check_size(folder: Path, name: str) -> None:
    """Refuse a folder whose config asks for more than its files can hold: what is missing would be drawn first."""
    held = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if not held:
        return  # a name that is looked for on the hub, or no weights at all
    with raised_as(ProbingError, f"{name}: cannot be loaded as a language model"):
        config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
        with torch.device("meta"):
            weights = AutoModelForCausalLM.from_config(config, trust_remote_code=False).num_parameters()
    if weights > WEIGHTS_A_BYTE * held:
        raise ProbingError(
            f"{name}: cannot be loaded as a language model: its config.json asks for {weights:,} weights, "
            f"its files hold {held:,} bytes"
        )


def _checked_device(name: str) -> torch.device:
    device = device_here(name)
    if device is None:
        raise ProbingError(f"expected a device that this machine has, got {name!r}")
    return device


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the warnings of transformers, and without progress bars, of which those for GGUF heed no setting."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity_error()
    try:
        with redirect_stderr(StringIO()):
            yield
    finally:
        logging.set_verbosity(verbosity)
