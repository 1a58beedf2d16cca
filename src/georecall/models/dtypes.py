"""Number formats that a memory can be saved in, for torch."""

import torch

from georecall.storage.tensors import DTYPE_CODES

DTYPES: dict[str, torch.dtype] = {name: getattr(torch, name) for name in DTYPE_CODES}
"""By name."""
