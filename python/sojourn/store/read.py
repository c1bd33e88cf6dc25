"""Reads the results in a directory."""

import errno
import json
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from math import isclose
from pathlib import Path
from typing import Any

from ..analysis.groups import THIS_RUN, Group, Results
from ..analysis.keys import setting_in_words
from ..analysis.tables import RunTables
from ..base.lookup import UnknownError
from ..base.plain_text import plain, plain_name
from ..base.toml_text import key_path
from ..runs.result import Result
from .checksums import DamagedError, StoreError
from .listing import SUMMARY, is_toml_value, listed_runs, runs_of_summary
from .store import ANSWER, RUN_LIST, Store, is_store, open_store
from .verify import require_whole

_NOT_KEYS = ("variant", "case", "seed", "run")


def read_results(directory: Path) -> Results:
    """Reads the results that `run --out`, `sweep` or `study run` wrote to a directory.

    Raises `OSError` or `StoreError` if there are none, if any of its files is damaged, or if they
    are one part of a sweep.
    """
    is_of_run = (directory / SUMMARY).exists()
    if not is_of_run and not is_store(directory):
        reason = (
            "holds no results of run --out, sweep or study run"
            if directory.exists()
            else "no such directory"
        )
        raise FileNotFoundError(errno.ENOENT, reason, str(directory))
    require_whole(directory)
    if is_of_run:
        return Results.of_seeds(runs_of_summary(directory))
    return results_of_store(open_store(directory))


def side_by_side(directories: Sequence[Path]) -> Results:
    """The results of several directories, each named by its directory.

    Runs of the same setting that differ in their seed alone are one group, and runs that are in
    several directories are there once. If the directories hold the same settings, groups have the
    names that they have in each. Raises `OSError`, `StoreError`, or `UnknownError` if a directory
    is given twice.
    """
    names = _names(directories)
    found = [read_results(directory) for directory in directories]
    same: dict[str, list[tuple[str, Group]]] = {}
    for name, results in zip(names, found, strict=True):
        for group in results.groups:
            same.setdefault(_setting(group.first), []).append((name, group))
    if all(len(dict(groups)) == len(names) for groups in same.values()):
        return Results([_joined(groups) for groups in same.values()], found[0].keys)
    return Results(
        [_named(_joined(groups), [name for name, _ in groups]) for groups in same.values()]
    )


def _names(directories: Sequence[Path]) -> list[str]:
    """The last part of each path, or the whole path where two have the same."""
    for place, directory in enumerate(directories):
        if directory.resolve() in [other.resolve() for other in directories[:place]]:
            raise UnknownError(f"{directory}: found twice; allowed: different directories")
    last = [directory.resolve().name for directory in directories]
    names = last if len(set(last)) == len(last) else map(str, directories)
    return list(map(plain_name, names))


def _joined(groups: Sequence[tuple[str, Group]]) -> Group:
    """The first group with the runs of all of them, in the order of their seeds."""
    runs = {run.meta["seed"]: run for _, group in reversed(groups) for run in group.runs}
    return replace(groups[0][1], runs=[runs[seed] for seed in sorted(runs)])


def _named(group: Group, names: Sequence[str]) -> Group:
    """The group with a name that says in which directories its runs are."""
    others = len(set(names)) - 1
    where = f"{names[0]} and {others} more" if others else names[0]
    label = where if group.name in ("", THIS_RUN) else f"{where}: {group.name}"
    return Group(label, group.runs, (), label)


def _setting(run: RunTables) -> str:
    """What runs that differ only in their seed have in common."""
    aside = dict.fromkeys(("title", "description", "seed"), "")
    return json.dumps([run.meta["version"], {**run.settings, **aside}], sort_keys=True, default=str)


def results_of_store(store: Store) -> Results:
    """The results in a store, by setting; raises `StoreError` if a run is missing."""
    lines = listed_runs(store)
    if not lines:
        raise StoreError(f"{store.directory / RUN_LIST}: lists no runs")
    keys = [key for key in lines[0] if key not in _NOT_KEYS]
    if not all(map(is_toml_value, {line[key] for line in lines for key in keys})):
        raise DamagedError(store.directory / RUN_LIST, "a value of a key is not TOML")
    named = cache(store.named)  # a run may be listed again and again
    groups: dict[tuple[str, ...], list[Result]] = {}
    for line in lines:
        variant = line.get("variant") or line.get("case") or ""
        place = (*(line[key] for key in keys), variant)
        run = named(line["run"], variant)
        found = f"run {line['run']} has"
        if line["seed"] != str(run.meta["seed"]):
            raise DamagedError(store.directory / RUN_LIST, f"{found} seed {run.meta['seed']}")
        for key in keys:
            if not _is_value(line[key], run.settings, key, variant):
                raise DamagedError(store.directory / RUN_LIST, f"{found} another {key}")
        groups.setdefault(place, []).append(run)
    settings = [_group(keys, place, runs) for place, runs in groups.items()]
    return Results(settings, keys, _answer(store))


def _is_value(text: str, settings: Any, key: str, variant: str) -> bool:
    """Does a scenario have this value, as TOML, of a key? It does not have all keys as given."""
    path = key_path(key)
    if path[:1] == ("compare",):
        path = path[2:] if path[1:2] == (variant,) else ()
    for name in path:
        settings = settings.get(name) if isinstance(settings, dict) else None
    return not path or _agree(tomllib.loads(f"value = {text}")["value"], settings)


def _agree(given: Any, found: Any) -> bool:
    """Can a scenario with the value `given` have `found`? It has whole bits, and whole paths."""
    match given, found:
        case dict(), dict():
            return all(_agree(value, found[key]) for key, value in given.items() if key in found)
        case list(), list():
            return len(given) == len(found) and all(map(_agree, given, found))
        case int() | float(), int() | float():
            return isclose(given, found, rel_tol=1e-6, abs_tol=1e-6)
        case str(), str():
            return given == found or not given.isidentifier()
    return True


def _answer(store: Store) -> list[str]:
    """What a search came to; empty for other stores."""
    if not (store.directory / ANSWER).exists():
        return []
    return plain(store.read(ANSWER).decode(errors="replace")).splitlines()


def _group(keys: Sequence[str], place: tuple[str, ...], runs: Sequence[Result]) -> Group:
    *point, variant = place
    values = [setting_in_words(key, value, keys) for key, value in zip(keys, point, strict=True)]
    return Group(", ".join(filter(None, (variant, *values))), runs, point, variant)
