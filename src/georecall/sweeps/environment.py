"""What a measurement was made with: versions of packages, the machine, and when."""

import os
import platform
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("georecall", "torch", "numpy")
CPU_FACTS = Path("/proc/cpuinfo")


def environment() -> dict[str, str]:
    """Versions by package, `python`, `machine`, and the `date` in UTC."""
    return {**_versions(), "machine": machine(), "date": datetime.now(UTC).isoformat(timespec="seconds")}


@cache
def _versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES} | {"python": platform.python_version()}


@cache
def machine() -> str:
    """Processor, number of cores and system, in a few words; never the name of the computer."""
    return f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}"


def _processor() -> str:
    """The name that the processor gives itself, where the system tells it."""
    if CPU_FACTS.is_file():
        for line in CPU_FACTS.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name" and value.strip():
                return value.strip()
    return platform.processor() or "processor unknown"
