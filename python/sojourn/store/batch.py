"""Runs many tasks in parallel and writes their results to one store."""

import os
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path

from .._sojourn import Job
from ..base.errors import Stopped
from ..base.files import reason_of
from ..base.memory import allowed_bytes, side_by_side
from ..base.progress import Progress
from ..base.terminal import batch_bar, counting_bar, tell
from ..runs.threads import Work, run_each
from .cluster import Cluster, ClusterError, cluster_at, run_on_cluster
from .isolated import execute_fairly
from .store import REPORT, Store, held_for_runs
from .task import Ran, Task

Done = Generator[tuple[int, tuple[Ran, float]], None, None]
"""The index of a finished task, what came of it, and its run time in s."""


class BatchStopped(Stopped):
    """A batch that was stopped; its message says how many runs are saved.

    `status` is the exit status.
    """

    def __init__(self, reason: str, store: Store, tasks: Collection[Task], status: int) -> None:
        """Counts how many of `tasks` have a run in `store`."""
        kept = sum(task in store for task in tasks)
        super().__init__(
            f"{reason}; {kept} of {len(tasks)} runs are saved in {store.directory}; "
            "repeat the command with --resume to run the rest"
        )
        self.status = status


@contextmanager
def telling_what_is_kept(store: Store, tasks: Collection[Task]) -> Iterator[None]:
    """Turns what interrupts a batch into `BatchStopped`.

    That is Ctrl-C, a file that cannot be written or read, or a lost cluster.
    """
    try:
        yield
    except KeyboardInterrupt:
        raise BatchStopped("stopped", store, tasks, 130) from None
    except ClusterError as error:
        raise BatchStopped(f"error: {error}", store, tasks, 2) from error
    except OSError as error:
        raise BatchStopped(f"error: {reason_of(error)}", store, tasks, 2) from error


def run_batch(
    tasks: Sequence[Task],
    directory: Path,
    *,
    resume: bool = False,
    overwrite: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
    labels: Sequence[str] = (),
    about: Mapping[str, bytes] | None = None,
    check: Callable[[], None] | None = None,
    quiet: bool = False,
) -> Store:
    """Runs the tasks and writes their results to the store at `directory`.

    With `resume`, complete runs in the store are kept and not rerun. With `overwrite`, those of
    other tasks are removed when all of these are there. `jobs` is the number of parallel runs
    (default: the number of CPU cores). With `dask`, the address of a Dask scheduler,
    the tasks run on that cluster. `labels` name the tasks in the terminal, where `quiet` shows no
    progress. `about` are files that describe the runs; they are written first, so that an
    interrupted store has them too. `check` is called when no other process can write there any
    more; it raises if the directory holds something else. Raises `BatchStopped` if it is
    interrupted, `OSError` if another process writes there, and `ClusterError` before anything is
    written if no cluster answers.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    if jobs is not None and dask is not None:
        raise ValueError(
            "jobs, dask: found both; allowed: one of them (a cluster has its own workers)"
        )
    named = dict(zip(tasks, labels or [task.run for task in tasks], strict=True))
    with cluster_at(dask) if dask else nullcontext() as cluster, held_for_runs(directory):
        if check:
            check()
        store = Store(directory)
        with telling_what_is_kept(store, named):
            store.sweep_drafts()
            missing = _missing(store, list(named), quiet) if resume else list(named)
            if missing or not store.is_described(about or {}):
                (directory / REPORT).unlink(missing_ok=True)
            if overwrite:
                store.remove_description()
            store.describe(about or {})
            if resume:
                _remove_damaged(store, set(store.runs) - {task.run for task in named})
            _run(missing, [named[task] for task in missing], store, jobs, cluster, quiet)
            store.check([task in store for task in named])
            if overwrite:
                store.keep_only(named)
    return store


def _missing(store: Store, tasks: Sequence[Task], quiet: bool) -> Sequence[Task]:
    """The tasks whose runs are missing or damaged; damage is reported."""
    missing, damaged = [], []
    with nullcontext(tasks) if quiet else counting_bar(tasks, "saved runs checked") as each:
        for task in each:
            damage = store.damage_of(task.run) if store.keeps(task.run) else None
            if damage or task not in store:
                missing.append(task)
            if damage:
                damaged.append(damage)
    for damage in damaged:
        tell(f"{damage.path}: damaged ({damage.reason}); this run is repeated")
    return missing


def _remove_damaged(store: Store, runs: Collection[str]) -> None:
    """Removes those of earlier batches that are damaged: nothing would ever repeat them."""
    for run in sorted(runs):
        if damage := store.damage_of(run):
            store.remove_run(run)
            tell(f"{damage.path}: damaged ({damage.reason}); this run is removed")


def _run(
    tasks: Sequence[Task],
    labels: Sequence[str],
    store: Store,
    jobs: int | None,
    cluster: Cluster | None,
    quiet: bool,
) -> None:
    with batch_bar(0 if quiet else len(tasks)) as (progress, finished):
        if cluster:
            done = run_on_cluster(tasks, cluster, progress)
        else:
            done = run_tasks(tasks, progress, jobs)
        with closing(done):
            for number, (ran, took_s) in done:
                store.put(tasks[number], ran)
                finished(labels[number], tasks[number].duration_s, took_s)
        if tasks:
            store.sync_names()


def run_tasks(tasks: Sequence[Task], progress: Progress | None, jobs: int | None) -> Done:
    """Runs the tasks on this machine, as many at once as `jobs` and memory allow."""
    works = [_timed(task) for task in tasks]
    needs = [task.memory_bytes for task in tasks]
    fitting = side_by_side(jobs or os.cpu_count() or 1, needs, allowed_bytes())
    return run_each(works, sum(task.duration_s for task in tasks), progress, fitting)


def _timed(task: Task) -> Work[tuple[Ran, float]]:
    def work(job: Job) -> tuple[Ran, float]:
        start = time.perf_counter()
        ran = execute_fairly(task, job)
        return ran, time.perf_counter() - start

    return work
