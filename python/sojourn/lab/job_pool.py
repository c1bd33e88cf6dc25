"""Runs for pages: a few at a time, none for long, and none for a page that has gone."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .._sojourn import Cancelled, Job, RunResult, Variant, run

LIMIT_S = 20.0
"""How long the runs of one request may take together."""
MOST_REQUESTS = 8
"""Requests under way at the same time; their runs take turns on the machine's cores."""


class Refusal(Exception):
    """A request whose runs do not come to an end here; says why."""


class Gone(Refusal):
    """Nobody waits any more."""


class Busy(Refusal):
    """Too many requests at the same time."""


class TooLong(Refusal):
    """The runs take longer than is allowed."""


class JobPool:
    """Runs variants in threads."""

    def __init__(self, limit_s: float = LIMIT_S, most_requests: int = MOST_REQUESTS) -> None:
        """Allows so much."""
        self._limit_s = limit_s
        self._most_requests = most_requests
        self._pool = ThreadPoolExecutor(os.cpu_count())
        self._open: list[list[Job]] = []

    @property
    def requests(self) -> int:
        """How many requests are under way."""
        return len(self._open)

    async def results(
        self, variants: Sequence[Variant], gone: Callable[[], Awaitable[None]]
    ) -> list[RunResult]:
        """The outcomes in the order of `variants`.

        Stops all of them and raises `Gone` when `gone` returns first, `TooLong` when they take too
        long; raises `Busy` without a start.
        """
        if len(self._open) >= self._most_requests:
            raise Busy(f"{self._most_requests} requests are under way; try again soon")
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
            raise Gone if watch in first else TooLong(self._told())
        except Cancelled:
            raise Gone from None
        finally:
            watch.cancel()
            _cancel(jobs)
            # The place is free when the threads are.
            await asyncio.gather(runs, return_exceptions=True)

    def _told(self) -> str:
        return f"stopped after {self._limit_s:g} s: shorter time, slower service or fewer people"


def _cancel(jobs: list[Job]) -> None:
    for job in jobs:
        job.cancel()
