"""The parts that all decoders share, whatever their family calls them, and a hand on the residual stream."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from transformers import PreTrainedModel

from georecall.errors import ProbingError

TOLERANCES = {torch.float32: 1e-4, torch.bfloat16: 2e-2, torch.float16: 5e-3}
"""How far logits made from state L may be from the model's own, as a share of the largest."""

Visit = Callable[[Float[Tensor, "batch time dim"]], Float[Tensor, "batch time dim"] | None]
"""Called with a state; what it returns, if anything, takes its place."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Parts:
    """The blocks of a model, what it applies to their last state (a norm, a projection, or nothing), and its head."""

    blocks: nn.ModuleList
    finish: tuple[nn.Module, ...]
    head: nn.Linear

    def decode(self, states: Float[Tensor, "*batch dim"]) -> Float[Tensor, "*batch vocabulary"]:
        """The logits `head(finish(states))`."""
        for module in self.finish:
            states = module(states)
        return self.head(states)

    def unembedding(self) -> Float[Tensor, "vocabulary dim"]:
        """The head's rows as directions of the residual stream: through the transpose of a projection before it."""
        rows: Tensor = self.head.weight
        for module in reversed(self.finish):
            if isinstance(module, nn.Linear):
                rows = rows @ module.weight
        return rows

    @contextmanager
    def visiting(self, state: int, visit: Visit) -> Iterator[None]:
        """Call `visit` with a state of the residual stream in every forward pass of the block.

        State 0 is the input of the first block, state l the output of block l, before the final norm.
        """
        if state == 0:
            hook = self.blocks[0].register_forward_pre_hook(_on_input(visit), with_kwargs=True)
        else:
            hook = self.blocks[state - 1].register_forward_hook(_on_output(visit))
        try:
            yield
        finally:
            hook.remove()


def find_parts(model: PreTrainedModel) -> Parts:
    """The parts of a model, found by watching one forward pass: what runs after the last block is its finish.

    Raises:
        ProbingError: the model has no such parts, or `decode` of its last state is not its logits.
    """
    decoder, blocks = _decoder(model)
    head = model.get_output_embeddings()
    if not isinstance(head, nn.Linear):
        raise _unknown(model, "it has no linear head")
    called: list[nn.Module] = []
    states: list[Tensor] = []
    with ExitStack() as hooks:
        for module in (*decoder.children(), blocks[-1]):
            hook = module.register_forward_hook(lambda module, *_: called.append(module))
            hooks.callback(hook.remove)
        unfinished = Parts(blocks=blocks, finish=(), head=head)
        hooks.enter_context(unfinished.visiting(len(blocks), states.append))
        tokens = torch.arange(2, device=model.device)[None]
        with torch.inference_mode():
            logits = model(tokens, attention_mask=torch.ones_like(tokens), use_cache=False).logits
    if not states:
        raise _unknown(model, "its last block does not run")
    parts = replace(unfinished, finish=tuple(called[called.index(blocks[-1]) + 1 :]))
    _check_logits(model, parts, states[0], logits)
    return parts


def _decoder(model: PreTrainedModel) -> tuple[nn.Module, nn.ModuleList]:
    """The module that holds the blocks, and the blocks: the first list of as many modules as there are layers."""
    layers = model.config.get_text_config().num_hidden_layers
    for module in model.base_model.modules():
        for child in module.children():
            if isinstance(child, nn.ModuleList) and len(child) == layers:
                return module, child
    raise _unknown(model, f"it has no list of {layers} blocks")


def _check_logits(model: PreTrainedModel, parts: Parts, state: Tensor, logits: Tensor) -> None:
    if not logits.isfinite().all():
        raise ProbingError(
            f"logits of {type(model).__name__} are not finite: a weight is NaN, or the format overflows"
        )
    with torch.inference_mode():
        found = parts.decode(state)
    off = (found - logits).abs().max() / logits.abs().max().clamp(min=1)
    if not off <= TOLERANCES[model.dtype]:
        raise _unknown(model, f"logits made from its last state are off by {off:.1e} of the largest")


def _unknown(model: PreTrainedModel, reason: str) -> ProbingError:
    return ProbingError(f"{type(model).__name__} is not a family that georecall knows: {reason}")


def _on_input(visit: Visit) -> Callable[..., Any]:
    def hook(_module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if args:
            new = visit(args[0])
            return None if new is None else ((new, *args[1:]), kwargs)
        new = visit(kwargs["hidden_states"])
        return None if new is None else (args, kwargs | {"hidden_states": new})

    return hook


def _on_output(visit: Visit) -> Callable[..., Any]:
    def hook(_module: nn.Module, _args: tuple[Any, ...], output: Any) -> Any:
        if isinstance(output, tuple):
            new = visit(output[0])
            return None if new is None else (new, *output[1:])
        return visit(output)

    return hook
