"""Many small fits on all cores: threads of ours, and none of the linear algebra."""

from collections.abc import Iterable, Iterator
from typing import Any

from joblib import Parallel
from threadpoolctl import ThreadpoolController


def in_threads(calls: Iterable[Any], *, n_jobs: int) -> Iterator[Any]:
    """Results of `joblib.delayed` calls, in order, from `n_jobs` threads of one core each.

    Threads inside a decomposition of a few hundred rows wait for one another more than they work, and their number
    changes the last bits of the results, which must not depend on `n_jobs`.
    """
    with one_thread():
        yield from Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(calls)


def one_thread() -> Any:
    """A context in which linear algebra runs on one thread."""
    return ThreadpoolController().limit(limits=1, user_api="blas")
