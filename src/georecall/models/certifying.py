"""What is known of a model: the proof or the answers behind a certificate."""

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from georecall.constructions.certificate import (
    KERNELS,
    Basis,
    Certificate,
    Errors,
    certified_margin,
    measured_errors,
    witnesses,
)
from georecall.constructions.chain import Chain
from georecall.models.architecture import Architecture
from georecall.models.arithmetic import Arithmetic
from georecall.models.asking import ask_every_step
from georecall.models.stock_model import stock_model
from georecall.progress import Progress, no_progress
from georecall.storage.tensors import TensorSource

WITNESS_BATCH = 1024


def certify(
    architecture: Architecture[Any],
    chain: Chain,
    tensors: Mapping[str, TensorSource],
    dtype: torch.dtype,
    *,
    progress: Progress = no_progress,
) -> Certificate:
    """What is known of the model with these tensors in one format.

    The stock layer is run on the witness subjects, under every attention kernel, and what the format can make
    of every level is worked out. A rotated memory is asked every step instead.
    """
    layer = {name: source.tensor(dtype) for name, source in architecture.layer(tensors).items()}
    errors = _measured(architecture, chain, layer)
    name, width = str(dtype).removeprefix("torch."), chain.width
    if chain.rotation is None:
        errors = errors.worst(architecture.errors(chain, layer, Arithmetic(dtype=dtype)))
        margin = certified_margin(chain, errors, epsilon=torch.finfo(dtype).eps)
        return Certificate(dtype=name, basis="proved", units=width, errors=errors, margin=margin)
    outer = {name: tensors[name].tensor(dtype) for name in (architecture.embedding, architecture.unembedding)}
    found = ask_every_step(chain, stock_model(architecture, chain, layer | outer), progress=progress)
    basis: Basis = "asked" if found.asked == found.steps else "sampled"
    return Certificate(
        dtype=name,
        basis=basis,
        units=width,
        errors=errors,
        margin=found.margin,
        asked=found.asked,
        steps=found.steps,
    )


def _measured(architecture: Architecture[Any], chain: Chain, layer: Mapping[str, Tensor]) -> Errors:
    """The errors of the stock layer on the witness subjects, under every attention kernel."""
    known = witnesses(chain)
    (dtype,) = {tensor.dtype for tensor in layer.values()}
    embedding = torch.from_numpy(known.embedding).to(dtype)
    model = stock_model(
        architecture, chain, {**layer, architecture.embedding: embedding, architecture.unembedding: embedding}
    )
    tokens = torch.from_numpy(known.tokens)
    if not all(tensor.isfinite().all() for tensor in layer.values()):
        # not every attention kernel hands on what is not a number
        return Errors(deviation=math.nan, leak=math.nan, constant_read=math.nan, constant_end=math.nan)
    found = []
    for kernel in KERNELS:
        model.set_attn_implementation(kernel)
        with torch.inference_mode():
            states = [model.base_model(part).last_hidden_state for part in tokens.split(WITNESS_BATCH)]
        found.append(measured_errors(chain, known, torch.cat(states).double().numpy()))
    return reduce(Errors.worst, found)
