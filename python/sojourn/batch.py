"""Many runs into one store, on all cores."""

import os
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from . import _sojourn
from .runner import Work, run_each
from .store import Files, Store, Task, execute


class BatchStopped(Exception):
    """A batch that ended early, with what is kept of it; `status` is how to exit."""

    def __init__(self, reason: str, store: Store, tasks: Sequence[Task], status: int) -> None:
        """Counts what of `tasks` is in `store`."""
        kept = sum(task in store for task in tasks)
        super().__init__(
            f"{reason}; {kept} of {len(tasks)} runs are kept in {store.directory}, "
            "--resume runs the rest"
        )
        self.status = status


def run_batch(
    tasks: Sequence[Task],
    directory: Path,
    *,
    resume: bool = False,
    jobs: int | None = None,
    labels: Sequence[str] = (),
) -> Store:
    """Runs the tasks into the store at `directory`; with `resume` only those that are not there.

    `jobs` run at the same time, as many as there are cores by default. `labels` name the tasks for
    the lines that a terminal shows. Raises `BatchStopped` when cut off by Ctrl-C or by a directory
    that cannot be written.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    store = Store(directory)
    store.sweep_drafts()
    named = dict(zip(tasks, labels or [task.run for task in tasks], strict=True))
    missing = [task for task in named if not (resume and task in store)]
    try:
        _run(missing, [named[task] for task in missing], store, jobs)
    except KeyboardInterrupt:
        raise BatchStopped("stopped", store, list(named), 130) from None
    except OSError as error:
        reason = f"error: cannot write {directory}: {os.strerror(error.errno or 0)}"
        raise BatchStopped(reason, store, list(named), 2) from error
    return store


def _run(tasks: Sequence[Task], labels: Sequence[str], store: Store, jobs: int | None) -> None:
    from .console import batch_bar

    works = [_timed(task) for task in tasks]
    total_s = sum(task.duration_s for task in tasks)
    with (
        batch_bar(len(tasks)) as (progress, finished),
        closing(run_each(works, total_s, progress, jobs)) as done,
    ):
        for number, (files, took_s) in done:
            store.put(tasks[number], files)
            finished(labels[number], tasks[number].duration_s, took_s)


def _timed(task: Task) -> Work[tuple[Files, float]]:
    def work(job: _sojourn.Job) -> tuple[Files, float]:
        start = time.perf_counter()
        return execute(task, job), time.perf_counter() - start

    return work
