"""Sweeps from Python: `sojourn.sweep` and its results."""

import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa

from ..base.files import read_text
from ..runs.frames import Frames, joined, labelled
from ..runs.scenario import Scenario
from .listing import listed_runs
from .store import Store
from .sweep import Sweep, checked, read_sweep, run_sweep

_NAME = "sweep"
"""What a sweep without a file is called in error messages."""


class Swept(Frames):
    """The results of a sweep, in a directory that `sojourn report` and `plot` read too.

    >>> swept = sojourn.sweep(
    ...     "scenarios/fibre.toml", {"downstream.sustained_mbps": [50, 100]},
    ...     duration_s=0.5, out="out/swept",
    ... )
    >>> swept.tidy().column_names[:4]
    ['downstream.sustained_mbps', 'variant', 'seed', 'traffic']
    """

    def __init__(self, store: Store) -> None:
        """Reads the list of the runs in the store."""
        self.directory = store.directory
        self._store = store
        self._lines = listed_runs(store)

    def __repr__(self) -> str:
        return f"<Swept {len(self)} runs in {self.directory}>"

    def __len__(self) -> int:
        return len(self._lines)

    def tidy(self, table: str = "flows") -> pa.Table:
        """A table of all runs together; its first columns are the swept keys, variant and seed."""
        return joined(
            labelled(
                self._store.named(line["run"]).table(table).drop_columns(["run"]),
                {key: _value(key, text) for key, text in line.items() if key != "run"},
            )
            for line in self._lines
        )


def sweep(
    scenario: Scenario,
    keys: Mapping[str, Sequence[Any]] | None = None,
    *,
    together: Sequence[Mapping[str, Sequence[Any]]] = (),
    seeds: int | None = None,
    duration_s: float | None = None,
    series: bool | None = None,
    out: str | os.PathLike[str] = "out/sweep",
    resume: bool = False,
    overwrite: bool = False,
    jobs: int | None = None,
) -> Swept:
    """Runs a scenario for all combinations of values and seeds, and stores the results in `out`.

    `scenario` is that of `run`; without `keys` and `together` it runs as it is with each seed, or
    it is the path of a sweep file, in which `seeds`, `duration_s` and `series` override what it
    says. `keys` are lists of values by key. In each mapping of `together` the values change
    together: the first of each key, the second of each and so on. The seeds are 1 to `seeds`
    (default: 1). `series` keeps what is measured over time. `resume` keeps the runs that are there
    and adds what is missing; `overwrite` replaces those of another sweep, or of other seeds and
    values. Raises `ScenarioError` for keys and values that the scenario refuses, and `StoreError`
    (a `ValueError`) for a directory of something else.

        >>> tiers = {"downstream.sustained_mbps": [50, 100], "upstream.sustained_mbps": [10, 20]}
        >>> swept = sojourn.sweep(
        ...     "scenarios/fibre.toml", together=[tiers], duration_s=0.5, out="out/tiers"
        ... )
        >>> len(swept)
        8
        >>> len(sojourn.sweep("scenarios/fibre.toml", seeds=3, duration_s=0.5, out="out/seeds"))
        12
    """
    if keys is None and not together and _is_sweep_file(scenario):
        wanted = read_sweep(Path(scenario))
    else:
        wanted = Sweep(_NAME, scenario, keys or {}, together)
    given: dict[str, Any] = {"seeds": seeds, "duration_s": duration_s, "series": series}
    wanted = replace(wanted, **{key: value for key, value in given.items() if value is not None})
    store = run_sweep(checked(wanted), Path(out), resume=resume, overwrite=overwrite, jobs=jobs)
    return Swept(store)


def _is_sweep_file(scenario: Scenario) -> TypeGuard[str | os.PathLike[str]]:
    """Does the file name a scenario? A scenario itself has no such key."""
    if isinstance(scenario, Mapping) or "\n" in os.fspath(scenario):
        return False
    try:
        return "scenario" in tomllib.loads(read_text(scenario))
    except tomllib.TOMLDecodeError:
        return False


def _value(key: str, text: str) -> Any:
    """The value of a key in the list of runs, which is TOML but for the variant and the seed."""
    if key == "variant":
        return text
    if key == "seed":
        return int(text)
    value = tomllib.loads(f"value = {text}")["value"]
    return value if isinstance(value, str | int | float | bool) else text
