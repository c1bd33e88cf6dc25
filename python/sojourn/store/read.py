"""Reads the results in a directory."""

import errno
from collections.abc import Sequence
from pathlib import Path

from ..analysis.groups import THIS_RUN, Group, Results
from ..analysis.keys import setting_in_words
from ..analysis.tables import RunTables
from ..base.lookup import UnknownError
from ..runs.result import Result
from .checksums import StoreError
from .listing import SUMMARY, listed_runs, runs_of_summary
from .store import MARKER, RUN_LIST, Store, open_store
from .verify import require_whole

_NOT_KEYS = ("variant", "case", "seed", "run")


def read_results(directory: Path) -> Results:
    """Reads the results that `run --out`, `sweep` or `study run` wrote to a directory.

    Raises `OSError` or `StoreError` if there are none, or if any of its files is damaged.
    """
    is_of_run = (directory / SUMMARY).exists()
    if not is_of_run and not (directory / MARKER).exists():
        reason = (
            "holds no results of run --out, sweep or study run"
            if directory.exists()
            else "no such directory"
        )
        raise FileNotFoundError(errno.ENOENT, reason, str(directory))
    require_whole(directory)
    if is_of_run:
        return Results.of_seeds(runs_of_summary(directory))
    return _of_store(open_store(directory))


def side_by_side(directories: Sequence[Path]) -> Results:
    """The results of several directories, each named by its directory.

    Groups that are equal in several of them are there once. Raises `OSError`, `StoreError`, or
    `UnknownError` if a directory is given twice.
    """
    names = _names(directories)
    groups: list[Group] = []
    for name, directory in zip(names, directories, strict=True):
        groups += [_within(name, group) for group in read_results(directory).groups]
    kept: list[Group] = []
    for group in groups:
        if not any(_is_same(group, other) for other in kept):
            kept.append(group)
    return Results(kept)


def _names(directories: Sequence[Path]) -> list[str]:
    """The last part of each path, or the whole path where two have the same."""
    for place, directory in enumerate(directories):
        if directory.resolve() in [other.resolve() for other in directories[:place]]:
            raise UnknownError(f"{directory}: found twice; allowed: different directories")
    last = [directory.resolve().name for directory in directories]
    return last if len(set(last)) == len(last) else [str(directory) for directory in directories]


def _within(name: str, group: Group) -> Group:
    is_alone = group.name in ("", THIS_RUN)
    label = name if is_alone else f"{name}: {group.name}"
    return Group(label, group.runs, (), label)


def _is_same(one: Group, other: Group) -> bool:
    """Are the runs of two groups the same, bit for bit?"""
    return [_identity(run) for run in one.runs] == [_identity(run) for run in other.runs]


def _identity(run: RunTables) -> tuple[str, int, dict[str, object]]:
    aside = {"title": "", "description": ""}
    return run.meta["fingerprint"], run.meta["seed"], {**run.settings, **aside}


def _of_store(store: Store) -> Results:
    lines = listed_runs(store)
    if not lines:
        raise StoreError(f"{store.directory / RUN_LIST}: lists no runs")
    keys = [key for key in lines[0] if key not in _NOT_KEYS]
    groups: dict[tuple[str, ...], list[Result]] = {}
    for line in lines:
        variant = line.get("variant") or line.get("case") or ""
        place = (*(line[key] for key in keys), variant)
        groups.setdefault(place, []).append(store.named(line["run"], variant))
    return Results([_group(keys, place, runs) for place, runs in groups.items()], keys)


def _group(keys: Sequence[str], place: tuple[str, ...], runs: Sequence[Result]) -> Group:
    *point, variant = place
    values = [setting_in_words(key, value, keys) for key, value in zip(keys, point, strict=True)]
    return Group(", ".join(filter(None, (variant, *values))), runs, point, variant)
