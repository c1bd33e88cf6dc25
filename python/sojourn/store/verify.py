"""Checks all files of a directory of results against their checksums."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from .checksums import DamagedError
from .read import SUMMARY, runs_of_summary
from .store import open_store


@dataclass(frozen=True)
class Verified:
    """What a check found."""

    runs: int
    """How many runs were checked."""
    damage: list[DamagedError]
    """One for each damaged run, and one if a file that describes the runs is damaged."""


def verify(directory: Path) -> Verified:
    """Checks what `run --out`, `sweep` or `study run` wrote to a directory.

    Raises `OSError` or `StoreError` if there are no results.
    """
    checks = list(_checks(directory))
    found = [_damage_of(check) for _, check in checks]
    runs = sum(is_run for is_run, _ in checks)
    return Verified(runs, [damage for damage in found if damage])


def _checks(directory: Path) -> Iterator[tuple[bool, Callable[[], None]]]:
    """Is it the check of a run, and the check."""
    if (directory / SUMMARY).exists():
        yield from ((True, run.verify) for run in runs_of_summary(directory).values())
        return
    store = open_store(directory)
    yield False, store.verify
    yield from ((True, partial(store.verify_run, name)) for name in store.runs)


def _damage_of(check: Callable[[], None]) -> DamagedError | None:
    try:
        check()
    except DamagedError as damage:
        return damage
    return None
