"""Runs tasks on a Dask cluster, for batches that are too large for one machine.

Workers get the same tasks that would run locally and return the content of their files. Only this
process writes files. If a worker is lost, another one repeats its task with identical results.
"""

import logging
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .._sojourn import version as this_version
from ..base.optional import required
from ..base.progress import Progress
from ..base.terminal import tell
from .checksums import StoreError
from .task import Ran, Task, execute

_CONNECT_S = 10


class ClusterError(Exception):
    """A cluster cannot be reached, was lost, or loses every worker that runs some task."""


@dataclass(frozen=True)
class Cluster:
    """A connected cluster."""

    address: str
    client: Any
    """The Dask client."""


@contextmanager
def cluster_at(address: str) -> Iterator[Cluster]:
    """Connects to the scheduler at `address`, such as `tcp://HOST:PORT`.

    Raises `ClusterError` if no cluster answers.
    """
    distributed = _distributed()
    _quieten()
    try:
        # The client itself is slow to report an invalid address.
        distributed.comm.get_address_host_port(address, strict=True)
        client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"--dask {address}: no cluster answers at this address ({error})"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_S)
        except TimeoutError:
            tell(f"--dask {address}: the cluster has no worker yet; waiting")
        yield Cluster(address, client)


def run_on_cluster(
    tasks: Sequence[Task], cluster: Cluster, progress: Progress | None
) -> Generator[tuple[int, tuple[Ran, float]], None, None]:
    """Yields index in `tasks`, what came of it, and run time in s of each task when it is done.

    Closing the iterator cancels tasks that have not started. Raises `ClusterError` if the cluster
    is lost, and `StoreError` if a worker has another version of sojourn.
    """
    distributed, client = _distributed(), cluster.client
    done_s, total_s = 0.0, sum(task.duration_s for task in tasks)
    pending = {
        client.submit(_timed, task, this_version, pure=False): number
        for number, task in enumerate(tasks)
    }
    try:
        for future in distributed.as_completed(list(pending), loop=client.loop):
            number = pending.pop(future)
            yield number, future.result()
            future.release()
            done_s += tasks[number].duration_s
            if progress:
                progress(done_s, total_s)
    except distributed.KilledWorker as error:
        raise ClusterError(
            f"--dask {cluster.address}: every worker that started one of the runs was lost"
        ) from error
    except (OSError, CancelledError) as error:
        raise ClusterError(f"--dask {cluster.address}: the cluster was lost") from error
    finally:
        client.cancel(list(pending))


def _quieten() -> None:
    """Silences Dask's long reports of a lost cluster; sojourn reports it in one line."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _timed(task: Task, version: str) -> tuple[Ran, float]:
    """Runs on a worker; requires the version of the process that sent the task."""
    if version != this_version:
        raise StoreError(
            f"a worker has sojourn {this_version}, this machine {version}; install the same version"
        )
    start = time.perf_counter()
    return Ran(execute(task).files, {}), time.perf_counter() - start


def _distributed() -> ModuleType:
    return required("distributed", "--dask", '"sojourn[dask]"')
