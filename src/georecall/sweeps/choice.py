"""The engine that a user names."""

import joblib

from georecall.errors import GeorecallError
from georecall.sweeps.engines import Engine, ProcessEngine, SerialEngine
from georecall.sweeps.ray_engine import RayEngine

ENGINES = ("serial", "processes", "ray")


def choose_engine(name: str | None, *, workers: int | None, address: str | None, cells: int) -> Engine:
    """The engine of that name; for None, serial for one cell and else a process for each core.

    Raises:
        GeorecallError: the name is unknown, there is less than one worker, or the options do not fit the engine.
        MissingPackageError: Ray is asked for and not installed.
    """
    if name not in (None, *ENGINES):
        raise GeorecallError(f"expected an engine among {', '.join(ENGINES)}, got {name!r}")
    if address is not None and name != "ray":
        raise GeorecallError(f"the address of a cluster ({address!r}) needs the engine ray")
    if workers is not None and name == "serial":
        raise GeorecallError(f"the engine serial has no workers, got {workers}; choose processes or ray")
    if name == "ray":
        return RayEngine(address, workers)
    processes = ProcessEngine(joblib.cpu_count() if workers is None else workers)
    return SerialEngine() if name == "serial" or (name is None and cells <= 1) else processes
