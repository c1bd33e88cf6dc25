"""Runs jobs in threads while the main thread reports progress.

A run releases the interpreter lock, so threads are as fast as processes. Unlike processes they can
report progress and be cancelled.
"""

import ctypes
import os
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import Context
from typing import TypeVar

from .._sojourn import Job, RunResult, Variant
from .._sojourn import run as _run_native
from ..base.memory import allowed_bytes, side_by_side
from ..base.progress import Progress
from .part_import import hooks
from .parts import files_of, refuse_in_parts

T = TypeVar("T")
Work = Callable[[Job], T]
"""A function to run; its `Job` reports progress and can cancel it."""

_WATCH_INTERVAL_S = 0.1


def run_all(
    variants: Sequence[Variant],
    progress: Progress | None,
    workers: int | None,
    max_memory_gb: float | None = None,
) -> list[RunResult]:
    """Results in the order of `variants`. A failure or Ctrl-C stops all runs."""
    works = [_running(variant) for variant in variants]
    total_s = sum(variant.duration_s for variant in variants)
    fitting = side_by_side(
        workers or os.cpu_count() or 1,
        [variant.memory_bytes for variant in variants],
        allowed_bytes(max_memory_gb),
    )
    done = dict(run_each(works, total_s, progress, fitting))
    return [done[number] for number in range(len(variants))]


def run_each(
    works: Sequence[Work[T]], total_s: float, progress: Progress | None, workers: int | None
) -> Generator[tuple[int, T], None, None]:
    """Yields each result with its index in `works` as soon as it is ready.

    A failure, Ctrl-C or closing the iterator stops all work. `progress` gets `total_s` as total.
    """
    refuse_in_parts()
    jobs = [Job() for _ in works]
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        # Ctrl-C may come at any point. Without cancelling, the pool would wait for all runs.
        try:
            pending = {
                pool.submit(work, job): number
                for number, (work, job) in enumerate(zip(works, jobs, strict=True))
            }
            while pending:
                for future in _first_done(pending):
                    yield pending.pop(future), future.result()
                if progress:
                    progress(sum(job.simulated_s for job in jobs), total_s)
        except BaseException:
            for job in jobs:
                job.cancel()
                _end_loop(job)
            raise


def run_native(variant: Variant, job: Job) -> RunResult:
    """Runs a variant. A loop of Python that never ends ends with the job if that is cancelled."""
    if not variant.calls_python:
        return _run_native(variant, job)
    thread = threading.get_ident()
    with _lock:
        _calling_python[job] = thread
    try:
        # What methods set in the thread ends with the run.
        return Context().run(_run_with_parts, variant, job)
    finally:
        with _lock:
            is_ended = _calling_python.pop(job, None) is None
        if is_ended:
            _take_late(thread)


def _run_with_parts(variant: Variant, job: Job) -> RunResult:
    files = files_of(variant)
    with hooks(files):
        result = _run_native(variant, job)
    files.end()
    return result


_lock = threading.Lock()
_calling_python: dict[Job, int] = {}
"""The threads of runs that call classes of Python."""


def _end_loop(job: Job) -> None:
    with _lock:
        if thread := _calling_python.pop(job, None):
            _raise_in(thread, KeyboardInterrupt)


def _take_late(thread: int) -> None:
    """Takes the error that may still come to this thread, where the loop ended by itself.

    An error that is taken back with null leaves the interpreter looking for it for ever: all code
    is slower then, and code under a debugger or a profiler stands still.
    """
    with suppress(KeyboardInterrupt):
        _raise_in(thread, KeyboardInterrupt)
        while True:
            pass


def _raise_in(thread: int, error: type[BaseException]) -> None:
    """Raises an error in Python code of another thread."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(error))


def _running(variant: Variant) -> Work[RunResult]:
    return lambda job: run_native(variant, job)


def _first_done(pending: dict[Future[T], int]) -> list[Future[T]]:
    """Finished futures in the order of submission, failed ones first."""
    done, _ = wait(pending, _WATCH_INTERVAL_S, FIRST_COMPLETED)
    return sorted(done, key=lambda future: (future.exception() is None, pending[future]))
