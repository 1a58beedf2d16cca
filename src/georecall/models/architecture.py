"""What a stock architecture is: how a construction becomes its tensors, and how it answers.

Nothing here imports torch, so that a memory is asked without it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from georecall.constructions.certificate import Errors
from georecall.constructions.chain import Chain
from georecall.models.decode_step import DecodeStep, Reader
from georecall.storage.tensors import DTYPE_CODES, TensorForm, TensorSource

if TYPE_CHECKING:
    from torch import Tensor

    from georecall.models.arithmetic import Arithmetic

Held = TypeVar("Held")
AnyChain = TypeVar("AnyChain", bound=Chain)


@dataclass(frozen=True, kw_only=True)
class HiddenUnits:
    """How the stock layer makes its hidden units, and the modules that do so, by their names in the model.

        hidden = ReLU(reads(x))     or, if there are gates,     SiLU(gates(x)) · reads(x)

    `writes` takes them in.
    """

    reads: str
    writes: str
    gates: str | None = None

    @property
    def activation(self) -> str:
        """What lets a hidden unit pass, in a word."""
        return "ReLU" if self.gates is None else "gate"


@dataclass(frozen=True, kw_only=True)
class Architecture(Generic[AnyChain]):
    """A stock architecture: its configuration, tensors and single step for a construction.

    `model_class` and `config_class` are the names that its classes have in `transformers`, and `config` gives what the
    configuration says besides `models.stock_model.common_config`. `embedding` and `unembedding` are the names of the
    tensors that grow with the vocabulary; `attention` and `units` name the modules of its one layer.
    """

    name: str
    model_class: str
    config_class: str
    chain_class: type[AnyChain]
    config: Callable[[AnyChain], dict[str, Any]]
    tensors: Callable[[AnyChain], dict[str, TensorSource]]
    step: Callable[[AnyChain, Reader], DecodeStep]
    errors: "Callable[[AnyChain, Mapping[str, Tensor], Arithmetic], Errors]"
    embedding: str
    unembedding: str
    attention: str
    units: HiddenUnits

    def forms(self, chain: AnyChain, dtype: str) -> dict[str, TensorForm]:
        """Names and forms of the stock model's tensors."""
        code = DTYPE_CODES[dtype]
        return {name: TensorForm(code, source.shape) for name, source in self.tensors(chain).items()}

    def layer(self, tensors: Mapping[str, Held]) -> dict[str, Held]:
        """The tensors but for the two that grow with the vocabulary."""
        return {
            name: held for name, held in tensors.items() if name not in {self.embedding, self.unembedding}
        }
