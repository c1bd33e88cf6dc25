"""Runs simulations for pages, with limits on number and time; closed pages cancel theirs."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._sojourn import Cancelled, Job, RunResult, Variant, run

LIMIT_S = 20.0
"""The time limit for the runs of a request."""
MOST_REQUESTS = 8
"""The limit of concurrent requests; their runs share the CPU cores."""


class Refusal(Exception):
    """The runs of a request were not finished; the message gives the reason."""


class Gone(Refusal):
    """The client has disconnected."""


class Busy(Refusal):
    """There are too many concurrent requests."""


class TooLong(Refusal):
    """The runs exceeded the time limit."""


class JobPool:
    """Runs variants in a pool of threads."""

    def __init__(self, limit_s: float = LIMIT_S, most_requests: int = MOST_REQUESTS) -> None:
        """Sets the limits."""
        self._limit_s = limit_s
        self._most_requests = most_requests
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._open: list[list[Job]] = []

    @property
    def requests(self) -> int:
        """The number of requests in progress."""
        return len(self._open)

    async def results(
        self, variants: Sequence[Variant], gone: Callable[[], Awaitable[None]]
    ) -> list[RunResult]:
        """Runs the variants and returns their results in order.

        Cancels the runs and raises `Gone` if `gone` returns first, or `TooLong` at the time limit.
        Raises `Busy` without starting them if there are too many requests.
        """
        if len(self._open) >= self._most_requests:
            raise Busy(f"{self._most_requests} requests are in progress already; try again later")
        jobs = [Job() for _ in variants]
        self._open.append(jobs)
        try:
            return await self._watched(variants, jobs, gone)
        finally:
            self._open.remove(jobs)

    def close(self) -> None:
        """Stops all runs."""
        for jobs in self._open:
            _cancel(jobs)
        self._pool.shutdown(wait=False, cancel_futures=True)

    async def _watched(
        self,
        variants: Sequence[Variant],
        jobs: list[Job],
        gone: Callable[[], Awaitable[None]],
    ) -> list[RunResult]:
        loop = asyncio.get_running_loop()
        pairs = zip(variants, jobs, strict=True)
        runs = asyncio.gather(*(loop.run_in_executor(self._pool, run, *pair) for pair in pairs))
        watch = asyncio.ensure_future(gone())
        waiting: set[asyncio.Future[Any]] = {runs, watch}
        try:
            first, _ = await asyncio.wait(
                waiting, timeout=self._limit_s, return_when=asyncio.FIRST_COMPLETED
            )
            if runs in first:
                return list(runs.result())
            raise Gone if watch in first else TooLong(self._too_long())
        except Cancelled:
            raise Gone from None
        finally:
            watch.cancel()
            _cancel(jobs)
            # The request ends when its threads have ended.
            await asyncio.gather(runs, return_exceptions=True)

    def _too_long(self) -> str:
        return (
            f"stopped after {self._limit_s:g} s; "
            "simulate a shorter time, lower rates or less traffic"
        )


def _cancel(jobs: list[Job]) -> None:
    for job in jobs:
        job.cancel()
