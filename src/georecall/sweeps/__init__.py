"""Sweeps: independent measurements that are made once, resume, and run on one machine or many."""

from georecall.sweeps.cells import Cell, Measured
from georecall.sweeps.choice import choose_engine
from georecall.sweeps.engines import Engine, ProcessEngine, SerialEngine
from georecall.sweeps.ray_engine import RayEngine
from georecall.sweeps.status import SweepStatus, sweep_status
from georecall.sweeps.sweep import SweepReport, run_sweep

__all__ = [
    "Cell",
    "Engine",
    "Measured",
    "ProcessEngine",
    "RayEngine",
    "SerialEngine",
    "SweepReport",
    "SweepStatus",
    "choose_engine",
    "run_sweep",
    "sweep_status",
]
