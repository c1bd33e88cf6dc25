"""Sweeps from Python: `sojourn.sweep` and its results."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from ..analysis.groups import Results
from ..analysis.summary import print_summary
from ..analysis.verdict import Verdict, verdict
from ..base.files import read_text
from ..runs.frames import Frames
from ..runs.parts import Given, in_scope
from ..runs.request import Request
from ..runs.result import Result
from ..runs.scenario import Config, Scenario, Settings, file_of
from ..runs.sweep_summary import means
from ..runs.tables import known_table
from ..runs.tidy import tidy
from .read import results_of_store
from .store import Store
from .sweep import Sweep, names_scenario, overridden, read_sweep, run_sweep

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
    >>> list(swept.settings)[0]
    'Cable, sustained 50 Mbps'
    """

    def __init__(self, store: Store) -> None:
        """Reads the list of the runs in the store."""
        self.directory = store.directory
        self._results = results_of_store(store)

    def __repr__(self) -> str:
        return f"<Swept {len(self)} runs in {self.directory}>"

    def __len__(self) -> int:
        return sum(len(group.runs) for group in self._results.groups)

    @property
    def results(self) -> Results:
        """The runs of each setting, as reports show them."""
        return self._results

    @property
    def settings(self) -> Mapping[str, Sequence[Result]]:
        """The runs of each setting by its name: a `Result` for each seed."""
        groups = self._results.groups
        return {group.name: cast(Sequence[Result], group.runs) for group in groups}

    @cached_property
    def verdict(self) -> Verdict:
        """The question of the sweep, its answer, and the grades of each setting by its name."""
        return verdict(self._results)

    def summary(self, *, in_full: bool = False) -> None:
        """Prints the answer, what users notice and where the time goes; `in_full` all tables."""
        print_summary(self._results, in_full=in_full)

    def means(self) -> pa.Table:
        """The measures of all settings over their seeds: a row per setting and measure.

        The swept keys and the variant are in front. `mean` is the mean over the `n` seeds that had
        a value, `low` and `high` bound its 95 % interval.
        """
        return means(self._results)

    def tidy(self, table: str = "flows") -> pa.Table:
        """A table of all runs together; its first columns are the swept keys, variant and seed."""
        return tidy(self._results, known_table(table))


def sweep(
    scenario: Scenario,
    keys: Mapping[str, Sequence[Any]] | None = None,
    *,
    together: Sequence[Mapping[str, Sequence[Any]]] = (),
    seeds: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: Config | Sequence[Config] = (),
    vary: Settings = (),
    scale: Settings = (),
    series: bool | None = None,
    out: str | os.PathLike[str] = "out/sweep",
    resume: bool = False,
    overwrite: bool = False,
    jobs: int | None = None,
    parts: Iterable[Given] = (),
) -> Swept:
    """Runs a scenario for all combinations of values and seeds, and stores the results in `out`.

    `scenario` is that of `run`; without `keys` and `together` it runs as it is with each seed, or
    it is the path of a sweep file, of which the other arguments override what it says. `keys` are
    lists of values by key. In each mapping of `together` the values change together: the first of
    each key, the second of each and so on. The seeds are 1 to `seeds` (default: 1). `set` overrides
    keys in all runs. `config` is a modem configuration file, or several that are swept side by
    side; their services override the scenario's. For each `key.path=value` of `vary` all variants
    are swept once more with that key changed. `scale` is that of `load`, and the values of a key
    such as `"homes.*.count"` are factors too. `series` keeps what is measured over time. `resume`
    keeps the runs that are there and adds what is missing; `overwrite` replaces those of another
    sweep, or of other seeds and values. `parts` are parts of your own, as for `run`; their runs are
    made in processes of their own. Raises `ScenarioError` for keys and values that the
    scenario refuses, and `StoreError` (a `ValueError`) for a directory of something else.

        >>> tiers = {"downstream.sustained_mbps": [50, 100], "upstream.sustained_mbps": [10, 20]}
        >>> swept = sojourn.sweep(
        ...     "scenarios/fibre.toml", together=[tiers], duration_s=0.5, out="out/tiers"
        ... )
        >>> len(swept)
        8
        >>> len(sojourn.sweep("scenarios/fibre.toml", seeds=3, duration_s=0.5, out="out/seeds"))
        12
    """
    if keys is None and not together and (file := _sweep_file(scenario)):
        wanted = read_sweep(file)
    else:
        wanted = Sweep(_NAME, Request((scenario,)), keys or {}, together)
    request = Request.of(
        duration_s=duration_s, set=set, config=config, vary=vary, scale=scale, parts=parts
    )
    wanted = overridden(wanted, request, seeds, series)
    with in_scope(request.parts):
        store = run_sweep(wanted, Path(out), resume=resume, overwrite=overwrite, jobs=jobs)
    return Swept(store)


def _sweep_file(scenario: Scenario) -> Path | None:
    """The file, if it names a scenario. A scenario itself has no such key."""
    file = file_of(scenario)
    return file if file and names_scenario(read_text(file)) else None
