"""Sweeps: a scenario run for every combination of key values and seeds, into a store."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from .._sojourn import ScenarioError
from ..base.csv_text import csv_bytes
from ..base.files import read_text
from ..base.toml_text import toml_value
from ..runs.scenario import Loaded, load
from .batch import run_batch
from .store import PLAN, RUN_LIST, Store
from .stored_run import StoreError
from .task import Task, task_of

_KEYS = {"scenario", "seeds", "duration_s", "keys", "series", "latencies"}
_A_KEY = "upstream.queue.limit_bytes"
_SEEDS = "a whole number from 1 to 10000"


@dataclass(frozen=True)
class Sweep:
    """A sweep file: a scenario, lists of values for its keys, and seeds 1 to `seeds`."""

    file: Path
    """The path of the sweep file, for error messages."""
    scenario: Path
    keys: Mapping[str, Sequence[Any]]
    seeds: int = 1
    duration_s: float | None = None
    series: bool = False
    """Store the time series."""
    latencies: bool = True
    """Store the latency distributions."""

    @property
    def tasks(self) -> dict[tuple[str, ...], Task]:
        """The tasks by key values, variant and seed."""
        tables = [name for name in ("series", "latencies") if getattr(self, name)]
        return {
            (*map(toml_value, values), variant.name, str(seed)): task_of(variant, tables)
            for values in product(*self.keys.values())
            for seed in range(1, self.seeds + 1)
            for variant in self._load(seed, dict(zip(self.keys, values, strict=True)))
        }

    def _load(self, seed: int, point: Mapping[str, Any]) -> Loaded:
        try:
            return load(self.scenario, seed=seed, duration_s=self.duration_s, set=point)
        except ScenarioError as error:
            raise self._named(error, point) from None

    def _named(self, error: ScenarioError, point: Mapping[str, Any]) -> ScenarioError:
        """Restates an error for these key values as one of the sweep file."""
        for key in (*point, "duration_s"):
            if not error.source.startswith(f"--set {key}="):
                continue
            place = f"keys.{key}" if key in point else key
            if not error.path:
                message = f"not a valid key; allowed: a dotted TOML key, such as {_A_KEY}"
                return _problem(self.file, place, message)
            problem = str(error).removeprefix(f"{error.source}: ").removeprefix(f"{key}: ")
            return _problem(self.file, place, problem)
        values = ", ".join(f"{key} = {toml_value(value)}" for key, value in point.items())
        return _problem(self.file, "keys", f"at {values}: {error}") if point else error


def read_sweep(path: Path) -> Sweep:
    """Reads a sweep file; raises `ScenarioError` if it is invalid."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: {error}") from None
    if strange := sorted(set(table) - _KEYS):
        allowed = f"unknown key; allowed here: {', '.join(sorted(_KEYS))}"
        raise _problem(path, strange[0], allowed)
    scenario = _checked(path, table, "scenario", str, "the path of a scenario file")
    keys = _checked(path, table, "keys", dict, "a table with a list of values for each key", {})
    for key, values in keys.items():
        if not isinstance(values, list) or not values:
            raise _refusal(path, f"keys.{key}", _shown(values), "a list of one or more values")
        if strange := [value for value in values if not _is_in_scenarios(value)]:
            allowed = "numbers, strings, true, false, and lists and tables of these"
            raise _refusal(path, f"keys.{key}", _shown(strange[0]), allowed)
    seeds = _checked(path, table, "seeds", int, _SEEDS, 1)
    if not 1 <= seeds <= 10_000:
        raise _refusal(path, "seeds", str(seeds), _SEEDS)
    duration_s = _checked(path, table, "duration_s", (int, float), "a number of seconds", None)
    series = _checked(path, table, "series", bool, "true or false", False)
    latencies = _checked(path, table, "latencies", bool, "true or false", True)
    if "seed" in keys:
        raise _problem(path, "keys.seed", "not allowed here; set seeds = N to run the seeds 1 to N")
    if "duration_s" in keys and duration_s is not None:
        raise _problem(path, "keys.duration_s", "duration_s is set too; allowed: one of them")
    if not (path.parent / scenario).exists():
        allowed = "the path of an existing file, relative to the sweep file"
        raise _refusal(path, "scenario", _shown(scenario), allowed)
    return Sweep(path, path.parent / scenario, keys, seeds, duration_s, series, latencies)


def run_sweep(
    sweep: Sweep,
    directory: Path,
    *,
    resume: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
) -> Store:
    """Runs every combination with `run_batch`; `runs.csv` in the store lists them.

    Raises `StoreError` if the directory holds a study.
    """
    if (directory / PLAN).exists():
        raise StoreError(f"{directory}: holds a study; allowed: another directory")
    tasks = sweep.tasks
    columns = (*sweep.keys, "variant", "seed")
    labels = [
        ", ".join(f"{column} {value}" for column, value in zip(columns, name, strict=True) if value)
        for name in tasks
    ]
    rows = [(*name, task.run) for name, task in tasks.items()]
    return run_batch(
        list(tasks.values()),
        directory,
        resume=resume,
        jobs=jobs,
        dask=dask,
        labels=labels,
        about={RUN_LIST: csv_bytes((*columns, "run"), rows)},
    )


def _checked(
    path: Path, table: Mapping[str, Any], key: str, kind: Any, allowed: str, *default: Any
) -> Any:
    if key not in table and default:
        return default[0]
    value = table.get(key)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _refusal(path, key, "nothing" if value is None else _shown(value), allowed)
    return value


def _shown(value: Any) -> str:
    return toml_value(value) if _is_in_scenarios(value) else "a date or time"


def _is_in_scenarios(value: Any) -> bool:
    try:
        toml_value(value)
    except TypeError:
        return False
    return True


def _refusal(path: Path, key: str, found: str, allowed: str) -> ScenarioError:
    return _problem(path, key, f"found {found}; allowed: {allowed}")


def _problem(path: Path, key: str, message: str) -> ScenarioError:
    problem = ScenarioError(f"{path}: {key}: {message}")
    problem.source, problem.path = str(path), key
    return problem
