"""Where models run."""

import torch


def device_here(name: str) -> torch.device | None:
    """The device of a name such as `cpu` or `cuda:1`; None if torch does not know it or this machine has none."""
    try:
        device = torch.device(name)
        torch.empty(0, device=device).cpu()
    except (RuntimeError, AssertionError, ImportError):
        return None
    return device
