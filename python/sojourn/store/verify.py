"""Checks all files of a directory of results against their checksums."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ..base.plain_text import sojourn_command
from .checksums import Checksums, StoreError
from .listing import SUMMARY, listed_runs, runs_of_summary
from .shard import require_whole_batch
from .store import Store, open_store


@dataclass(frozen=True)
class Verified:
    """What a check found."""

    runs: int
    """How many runs were checked."""
    problems: list[StoreError]
    """One for each damaged run, and one if other files are damaged or runs are missing."""


def verify(directory: Path) -> Verified:
    """Checks what `run --out`, `sweep` or `study run` wrote to a directory.

    Raises `OSError` or `StoreError` if there are no results.
    """
    checks = list(_checks(directory))
    found = [_problem_of(check) for _, check in checks]
    runs = sum(is_run for is_run, _ in checks)
    return Verified(runs, [problem for problem in found if problem])


def require_whole(directory: Path) -> None:
    """Raises `StoreError` if a file of the directory is damaged, also one that is not needed.

    So it does if the directory holds one part of a batch. That takes half a second for 300 runs.
    """
    problems = verify(directory).problems
    require_whole_batch(directory)
    if len(problems) == 1:
        raise problems[0]
    if problems:
        command = sojourn_command("verify", directory)
        raise StoreError(f"{problems[0]}; {len(problems) - 1} more, which `{command}` lists")


def _checks(directory: Path) -> Iterator[tuple[bool, Callable[[], object]]]:
    """Is it the check of a run, and the check."""
    if (directory / SUMMARY).exists():
        runs = runs_of_summary(directory)
        yield False, Checksums(directory).verify
        yield from ((True, run.verify) for of in runs.values() for run in of)
        return
    store = open_store(directory)
    yield False, partial(_verify_description, store)
    yield from ((True, partial(store.verify_run, name)) for name in store.runs)


def _verify_description(store: Store) -> None:
    store.verify()
    listed_runs(store)


def _problem_of(check: Callable[[], object]) -> StoreError | None:
    try:
        check()
    except StoreError as problem:
        return problem
    return None
