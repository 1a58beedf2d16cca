"""Two workers against one, and the memory of a process over many cells."""

import shutil
import tempfile
from pathlib import Path

import psutil

from benchmarks.measure import report, seconds
from georecall.progress import no_progress
from georecall.sweeps import ProcessEngine, SerialEngine, run_sweep
from georecall.training.config import TrainConfig
from georecall.training.recall_cell import RecallCell

CELLS, FLAT_CELLS, WARM_CELLS = 8, 200, 40


def run() -> None:
    """Print both."""
    with tempfile.TemporaryDirectory() as root:
        speed_up(Path(root))
        flat_memory(Path(root) / "flat")


def speed_up(root: Path) -> None:
    """Equal cells with one worker process and with two, both warm."""
    times = {}
    for workers in (1, 2):
        engine = ProcessEngine(workers)
        run_sweep(_cells(workers, steps=5), root / "warm", engine=engine, progress=no_progress)
        work = _cells(CELLS, steps=4000)
        times[workers] = seconds(
            lambda work=work, engine=engine: run_sweep(
                work, root / "timed", engine=engine, progress=no_progress
            )
        )
        shutil.rmtree(root / "timed")
    report(f"{CELLS} equal cells, two workers against one", f"{times[1] / times[2]:.2f}×", "≥ 1.7×")


def flat_memory(root: Path) -> None:
    """Resident memory after many cells in this process over that after the first few."""
    cells, process = _cells(FLAT_CELLS, steps=20), psutil.Process()
    run_sweep(cells[:WARM_CELLS], root, engine=SerialEngine(), progress=no_progress)
    before = process.memory_info().rss
    run_sweep(cells, root, engine=SerialEngine(), progress=no_progress)
    grown = (process.memory_info().rss - before) / 2**20
    report(
        f"memory grown over {FLAT_CELLS - WARM_CELLS} more cells in one process", f"{grown:.1f} MiB", "flat"
    )


def _cells(count: int, *, steps: int) -> list[RecallCell]:
    """Cells that differ in their seed only and never stop early."""
    return [
        RecallCell(
            n_subjects=64,
            n_relations=4,
            training=TrainConfig(
                dim=3, width=12, seeds=4, first_seed=4 * seed, steps=steps, check_every=steps
            ),
            target=1.0,
        )
        for seed in range(count)
    ]
