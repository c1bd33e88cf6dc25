"""The runs of a search, a round at a time: in memory, or into a store."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from .._sojourn import Variant
from ..analysis.tables import RunTables
from ..base.csv_text import csv_bytes
from ..base.errors import Warning
from ..base.lookup import UnknownError
from ..base.progress import Progress
from ..base.toml_text import toml_value
from ..runs.result import Result
from ..runs.seeds import seeded
from ..runs.threads import run_all
from .batch import run_tasks
from .search import Search
from .store import ANSWER, ORIGIN, REPORT, RUN_LIST, Store
from .sweep import Sweep
from .task import Task

POINTS, VALUES, FIGURES = "points.csv", "values.csv", "find*.svg"
"""The files of a search beside its runs."""

Place = tuple[str, float, int]
"""Variant, value of the key and seed of a run."""

Runner = Callable[[Mapping[Place, Variant], Progress | None], Sequence[RunTables]]
"""Runs variants and returns their results in the same order."""


class Rounds:
    """Runs values with all seeds, and follows the progress of all rounds."""

    def __init__(self, search: Search, run: Runner, progress: Progress | None) -> None:
        """Takes how to run them; `progress` gets the simulated time of all rounds."""
        self._search, self._run, self._progress = search, run, progress
        self._before_s = 0.0
        self._warned: dict[tuple[str, ...], tuple[Warning, set[float]]] = {}
        self.early_s: dict[str, float] = {}
        """How long the start lasts that makes the tail of a run, by variant, as warnings say."""
        self._values: set[float] = set()
        self._names: set[str] = set()

    @property
    def warnings(self) -> list[str]:
        """The warnings of runs, with their values; those that differ in numbers alone are one."""
        return [
            f"warning: {warning} (at {_listed(sorted(values), len(self._values))})"
            for warning, values in self._warned.values()
        ]

    def results(
        self, wanted: Sequence[tuple[str, float]]
    ) -> dict[tuple[str, float], dict[int, RunTables]]:
        """The results of variants with values, by seed."""
        at = {value: self._at(value) for value in dict.fromkeys(value for _, value in wanted)}
        runs = {
            (name, value, at[value][name].seed + place): seeded(at[value][name], place)
            for name, value in wanted
            for place in range(self._search.seeds)
        }
        results = self._run(runs, self._tell if self._progress else None)
        self._before_s += sum(variant.duration_s for variant in runs.values())
        found: dict[tuple[str, float], dict[int, RunTables]] = {}
        for (name, value, seed), result in zip(runs, results, strict=True):
            found.setdefault((name, value), {})[seed] = result
            self._keep_warnings(result.warnings, name, value)
        return found

    def _keep_warnings(self, warnings: Sequence[Warning], name: str, value: float) -> None:
        self._values.add(value)
        for warning in warnings:
            if warning.code == "early-tail":
                self.early_s[name] = max(warning.values["at_s"], self.early_s.get(name, 0.0))
            _, values = self._warned.setdefault(warning.kind, (warning, set()))
            values.add(value)

    def _at(self, value: float) -> dict[str, Variant]:
        """The variants with a value, which must be the same ones everywhere."""
        variants = self._search.at(value)
        self._names = self._names or set(variants)
        if set(variants) != self._names:
            raise UnknownError(
                f"{self._search.name('key')} {self._search.key}: at {value:.15g} two "
                "variants are the same, and elsewhere they differ; allowed: a range without this "
                "value"
            )
        return variants

    def _tell(self, simulated_s: float, total_s: float) -> None:
        assert self._progress
        self._progress(self._before_s + simulated_s, self._before_s + total_s)


def _listed(values: Sequence[float], of: int) -> str:
    """At which values something is so: the first, and how many more, unless at all."""
    if len(values) == of:
        return "all values"
    more = f" and at {len(values) - 1} more" if len(values) > 1 else ""
    return f"{values[0]:g}{more}, of {of} probed values"


def run_here(
    runs: Mapping[Place, Variant], progress: Progress | None, jobs: int | None
) -> list[RunTables]:
    """The results of all runs, in memory."""
    variants = list(runs.values())
    natives = run_all(variants, progress, jobs)
    return [Result(variant, native) for variant, native in zip(variants, natives, strict=True)]


class StoredRuns:
    """Runs into a store, which lists them when all are there."""

    def __init__(self, store: Store, search: Search, resume: bool, jobs: int | None) -> None:
        """Removes what an earlier search found, but not its runs."""
        self._store, self._search, self._jobs = store, search, jobs
        self._resume = resume
        self._sweep = Sweep(search.key, search.request, {})
        """What it stores of each run, a sweep would store too."""
        self._rows: list[tuple[str, ...]] = []
        self.tasks: dict[Task, None] = {}
        about = json.dumps(search.about(store.directory), indent=2) + "\n"
        self._about = {ORIGIN: about.encode()}
        store.sweep_drafts()
        for name in (REPORT, RUN_LIST, ANSWER, POINTS, VALUES, FIGURES):
            for old in store.directory.glob(name):
                old.unlink()
        store.describe(self._about)

    def run(self, runs: Mapping[Place, Variant], progress: Progress | None) -> list[RunTables]:
        """Runs what is not there yet; a damaged run is repeated."""
        tasks = [self._sweep.task(variant) for variant in runs.values()]
        new = [task for task in dict.fromkeys(tasks) if task not in self.tasks]
        self.tasks |= dict.fromkeys(tasks)
        self._rows += [
            (toml_value(value), name, str(seed), task.run)
            for (name, value, seed), task in zip(runs, tasks, strict=True)
        ]
        missing = [task for task in new if not (self._resume and self._is_whole(task))]
        if missing:
            with closing(run_tasks(missing, progress, self._jobs)) as done:
                for number, (ran, _) in done:
                    self._store.put(missing[number], ran)
            self._store.sync_names()
        return [self._store[task] for task in tasks]

    def finish(self, files: Mapping[str, bytes]) -> None:
        """Lists the runs and adds what was found. Without the list a store is incomplete."""
        self._rows.sort(key=lambda row: float(row[0]))
        columns = (self._search.key, "variant", "seed", "run")
        listed = {RUN_LIST: csv_bytes(columns, self._rows)}
        self._store.describe({**self._about, **listed, **files})

    def _is_whole(self, task: Task) -> bool:
        return task in self._store and self._store.damage_of(task.run) is None
