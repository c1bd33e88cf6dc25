"""Any scenario, any of its keys, any number of seeds: every combination, into a store of runs."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from ._sojourn import ScenarioError
from .api import load
from .batch import run_batch
from .csv_text import csv_bytes
from .store import RUN_LIST, Store, Task, task_of
from .text_file import read_text
from .toml_text import toml_value

_KEYS = {"scenario", "seeds", "duration_s", "keys", "series", "latencies"}


@dataclass(frozen=True)
class Sweep:
    """What a sweep's file says: a scenario, values of keys, and seeds 1 to `seeds`."""

    scenario: Path
    keys: Mapping[str, Sequence[Any]]
    seeds: int = 1
    duration_s: float | None = None
    series: bool = False
    """Keep what is measured over time."""
    latencies: bool = True
    """Keep the distributions of latency."""

    @property
    def tasks(self) -> dict[tuple[str, ...], Task]:
        """The runs, by the values of the keys, the variant and the seed."""
        tables = [name for name in ("series", "latencies") if getattr(self, name)]
        return {
            (*map(toml_value, values), variant.name, str(seed)): task_of(variant, tables)
            for values in product(*self.keys.values())
            for seed in range(1, self.seeds + 1)
            for variant in load(
                self.scenario,
                seed=seed,
                duration_s=self.duration_s,
                set=dict(zip(self.keys, values, strict=True)),
            )
        }


def read_sweep(path: Path) -> Sweep:
    """Reads a sweep's file; raises `ScenarioError` for what is not one."""
    try:
        table = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise ScenarioError(f"{path}: {error}") from None
    if strange := sorted(set(table) - _KEYS):
        raise _refusal(path, strange[0], "an unknown key", ", ".join(sorted(_KEYS)))
    scenario = _checked(path, table, "scenario", str, "the path of a scenario")
    keys = _checked(path, table, "keys", dict, "a table of lists of values", {})
    for key, values in keys.items():
        if not isinstance(values, list) or not values:
            raise _refusal(path, f"keys.{key}", repr(values), "a list of one value or more")
    seeds = _checked(path, table, "seeds", int, "1 to 10000", 1)
    if not 1 <= seeds <= 10_000:
        raise _refusal(path, "seeds", str(seeds), "1 to 10000")
    duration_s = _checked(path, table, "duration_s", (int, float), "a number of s", None)
    series = _checked(path, table, "series", bool, "true or false", False)
    latencies = _checked(path, table, "latencies", bool, "true or false", True)
    return Sweep(path.parent / scenario, keys, seeds, duration_s, series, latencies)


def run_sweep(
    sweep: Sweep,
    directory: Path,
    *,
    resume: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
) -> Store:
    """Runs every combination, as `run_batch`; the store's list of runs says which is which."""
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
        raise _refusal(path, key, "nothing" if value is None else repr(value), allowed)
    return value


def _refusal(path: Path, key: str, found: str, allowed: str) -> ScenarioError:
    return ScenarioError(f"{path}: {key}: found {found}; allowed: {allowed}")
