"""Sweeps: a scenario run for every combination of key values and seeds, into a store."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from .._sojourn import ScenarioError, read_document, schema_json
from ..base.csv_text import csv_bytes
from ..base.files import read_text
from ..base.toml_text import toml_value
from ..runs.scenario import Loaded, load
from .batch import run_batch
from .checksums import StoreError
from .store import PLAN, RUN_LIST, Store
from .task import Task, task_of

_SCHEMA = json.dumps(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["scenario"],
        "properties": {
            "scenario": {
                "type": "string",
                "description": "The path of the scenario, relative to this file.",
            },
            "seeds": {"type": "integer", "minimum": 1, "maximum": 10_000},
            "duration_s": {"type": "number"},
            "series": {"type": "boolean"},
            "latencies": {"type": "boolean"},
            "keys": {
                "type": "object",
                "additionalProperties": {"type": "array", "minItems": 1},
            },
        },
    }
)
_OF_A_SCENARIO = frozenset(json.loads(schema_json())["properties"])
_A_KEY = "upstream.queue.limit_bytes"


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
            (*map(toml_value, values), variant.kept_name, str(seed)): task_of(variant, tables)
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
    text = read_text(path)
    try:
        table = json.loads(read_document(text, _SCHEMA, str(path)))
    except ScenarioError as error:
        is_a_scenario = error.path in _OF_A_SCENARIO and "unknown key" in str(error)
        if is_a_scenario and "scenario" not in tomllib.loads(text):
            found = f'found a key of a scenario; a sweep file has scenario = "{path.name}" instead'
            raise _problem(path, error.path, found) from None
        raise
    keys, scenario = table.get("keys", {}), path.parent / table["scenario"]
    if "seed" in keys:
        raise _problem(path, "keys.seed", "not allowed here; set seeds = N to run the seeds 1 to N")
    if "duration_s" in keys and "duration_s" in table:
        raise _problem(path, "keys.duration_s", "duration_s is set too; allowed: one of them")
    if not scenario.exists():
        found = toml_value(table["scenario"])
        allowed = "the path of an existing file, relative to the sweep file"
        raise _problem(path, "scenario", f"found {found}; allowed: {allowed}")
    return Sweep(path, **{**table, "scenario": scenario, "keys": keys})


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


def _problem(path: Path, key: str, message: str) -> ScenarioError:
    problem = ScenarioError(f"{path}: {key}: {message}")
    problem.source, problem.path = str(path), key
    return problem
