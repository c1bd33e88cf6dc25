"""Runs tasks on a Dask cluster, for what one machine is too small for.

What goes there is what would run here, and what comes back are the bytes of its files, which are
written on this side alone. A worker that is lost costs the time of its task: another is given it,
and gives the same bytes.
"""

import logging
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .._sojourn import version as this_version
from ..base.progress import Progress
from .stored_run import StoreError
from .task import Files, Task, execute

_CONNECT_S = 10


class ClusterError(Exception):
    """A cluster that cannot be reached, that was lost, or whose workers do not outlive a task."""


@dataclass(frozen=True)
class Cluster:
    """A cluster that answers."""

    address: str
    client: Any
    """Of Dask."""


@contextmanager
def cluster_at(address: str) -> Iterator[Cluster]:
    """The cluster whose scheduler is at `address`, as `tcp://HOST:PORT`.

    Raises `ClusterError` if none answers there.
    """
    distributed = _distributed()
    _quieten()
    try:
        # The client itself takes long to say that an address is none.
        distributed.comm.get_address_host_port(address, strict=True)
        client = distributed.Client(address, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ClusterError(f"--dask {address}: no cluster answers there ({error})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_CONNECT_S)
        except TimeoutError:
            sys.stderr.write(f"--dask {address}: no worker is there yet; waiting for one\n")
        yield Cluster(address, client)


def run_on_cluster(
    tasks: Sequence[Task], cluster: Cluster, progress: Progress | None
) -> Generator[tuple[int, tuple[Files, float]], None, None]:
    """The files of each task and the s it took, with its number in `tasks`, as they come.

    Closing the iterator takes back what has not begun. Raises `ClusterError` if the cluster is
    lost, and `StoreError` if a worker has another version.
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
            f"--dask {cluster.address}: workers are lost with a run each time one takes it"
        ) from error
    except (OSError, CancelledError) as error:
        raise ClusterError(f"--dask {cluster.address}: the cluster was lost") from error
    finally:
        client.cancel(list(pending))


def _quieten() -> None:
    """Keeps Dask from reporting a lost cluster at length; sojourn reports it in one line."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] == "distributed":
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _timed(task: Task, version: str) -> tuple[Files, float]:
    """On a worker: as on this side, if both are of one version."""
    if version != this_version:
        raise StoreError(f"a worker has sojourn {this_version}; this is {version}")
    start = time.perf_counter()
    return execute(task), time.perf_counter() - start


def _distributed() -> ModuleType:
    try:
        import distributed
    except ImportError:
        raise ClusterError('--dask needs Dask: pip install "sojourn[dask]"') from None
    module: ModuleType = distributed
    return module
