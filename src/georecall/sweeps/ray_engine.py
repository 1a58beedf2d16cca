"""Cells as tasks of a Ray cluster.

Ray's own backend for joblib is not used: it cannot yield results as they come, hands tasks to its workers in
turn though they be busy, and ends all of them when one dies.
"""

import socket
from collections.abc import Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from georecall.errors import GeorecallError, MissingPackageError
from georecall.progress import Progress
from georecall.sweeps.cells import Cell
from georecall.sweeps.engines import TRIES, Ended, Engine, attempt_on_one_thread, checked_workers


class RayEngine(Engine):
    """One CPU for each cell, and a GPU each where the cluster has any; all nodes must share the sweep's folder.

    Without an address it is the cluster that Ray finds (`RAY_ADDRESS`, or one on this machine), or else a new one
    on this machine. The connection is kept until the program ends, and one that is there is used.

    Raises:
        MissingPackageError: Ray is not installed.
        GeorecallError: fewer than one worker.
    """

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        try:
            import ray  # noqa: PLC0415 - optional
        except ImportError as error:
            raise MissingPackageError(
                "the engine ray needs Ray, which is not installed; install it with: pip install 'georecall[ray]'"
            ) from error
        self._ray: Any = ray
        self._address = address
        self._limit = None if workers is None else checked_workers(workers)

    @cached_property
    def _resources(self) -> dict[str, float]:
        """What the cluster has, after connecting to it.

        Raises:
            GeorecallError: there is no cluster at the address.
        """
        if not self._ray.is_initialized():
            try:
                _check_reachable(self._address)
                self._ray.init(
                    address=self._address, include_dashboard=False, log_to_driver=False, logging_level="ERROR"
                )
            except (OSError, RuntimeError, ValueError) as error:
                where = "started" if self._address is None else f"reached at {self._address!r}"
                raise GeorecallError(f"no Ray cluster can be {where}: {error}") from error
        return dict(self._ray.cluster_resources())

    @property
    def _gpus(self) -> int:
        return int(self._resources.get("GPU", 0))

    @property
    def workers(self) -> int:
        """How many cells are measured at once: as asked for, else one for each GPU, or CPU where there is none."""
        return self._limit or max(1, self._gpus or int(self._resources.get("CPU", 1)))

    def run(
        self,
        cells: Sequence[Cell],
        root: Path,
        *,
        retry_failed: bool,
        progress: Progress,  # noqa: ARG002 - workers report nothing
    ) -> Generator[Ended, None, None]:
        """Attempt every cell; Ray hands out again what a dead worker or node held, up to `TRIES` tries in all."""
        waiting, running = list(reversed(cells)), dict[Any, Cell]()
        task = self._ray.remote(attempt_on_one_thread).options(
            num_cpus=1, num_gpus=min(1, self._gpus), max_retries=TRIES - 1
        )
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    cell = waiting.pop()
                    running[task.remote(cell, root, retry_failed=retry_failed)] = cell
                (ended,), _ = self._ray.wait(list(running), num_returns=1)
                yield running[ended], self._loss(ended)
                del running[ended]
        finally:
            for task_left in running:
                self._ray.cancel(task_left, force=True)

    def _loss(self, ended: Any) -> str | None:
        """What happened if no worker brought a task to its end, else None."""
        try:
            self._ray.get(ended)
        except self._ray.exceptions.RayError as error:
            return f"no worker brought it to an end: {error}"
        return None


def _check_reachable(address: str | None) -> None:
    """Try the port of an address, as Ray itself would try for minutes.

    Raises:
        OSError: nothing answers there.
        ValueError: the port is not a number.
    """
    host, colon, port = (address or "").removeprefix("ray://").rpartition(":")
    if colon:
        socket.create_connection((host, int(port)), timeout=10).close()
