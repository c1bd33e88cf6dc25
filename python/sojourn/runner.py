"""Runs variants in threads, while the main thread watches."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

from . import _sojourn

Progress = Callable[[float, float], None]
"""Called with the simulated and the total time in s, summed over all variants."""

_WATCH_INTERVAL_S = 0.1


def run_all(
    variants: Sequence[_sojourn.Variant], progress: Progress | None, workers: int | None
) -> list[_sojourn.RunResult]:
    """The outcomes in the order of `variants`; a failure or Ctrl-C stops all runs."""
    jobs = [_sojourn.Job() for _ in variants]
    with ThreadPoolExecutor(workers or os.cpu_count()) as pool:
        # Ctrl-C may come at any point; left alone, the pool would wait for the runs to end.
        try:
            runs = [
                pool.submit(_sojourn.run, variant, job)
                for variant, job in zip(variants, jobs, strict=True)
            ]
            _watch(runs, lambda: _tell(variants, jobs, progress))
        except BaseException:
            for job in jobs:
                job.cancel()
            raise
    return [run.result() for run in runs]


def _watch(runs: Sequence[Future[_sojourn.RunResult]], tell: Callable[[], None]) -> None:
    pending = set(runs)
    while pending:
        done, pending = wait(pending, _WATCH_INTERVAL_S, FIRST_EXCEPTION)
        for run in done:
            run.result()
        tell()


def _tell(
    variants: Sequence[_sojourn.Variant], jobs: Sequence[_sojourn.Job], progress: Progress | None
) -> None:
    if progress:
        progress(sum(job.simulated_s for job in jobs), sum(v.duration_s for v in variants))
