"""Searches by simulation: `sojourn.find`."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from .._sojourn import ScenarioError
from ..analysis.conditions import bound
from ..analysis.keys import is_factor
from ..analysis.search import Values, probes
from ..analysis.tables import RunTables
from ..base.csv_text import csv_bytes
from ..base.json_text import json_of
from ..base.progress import Progress
from ..plot.drawing import picture
from ..runs.factors import total
from ..runs.parts import Given, in_scope
from ..runs.request import Request
from ..runs.scenario import Config, Scenario, Settings, file_of
from .batch import telling_what_is_kept
from .checksums import Checksums, StoreError
from .found import Condition, Found
from .rounds import FIGURES, POINTS, VALUES, Rounds, Runner, StoredRuns, run_here
from .search import Search, values_of
from .store import ANSWER, ORIGIN, PLAN, Store, held_for_runs


def find(
    scenario: Scenario,
    *,
    key: str,
    until: str | Sequence[str],
    low: float | None = None,
    high: float | None = None,
    step: float | None = None,
    seeds: int = 5,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: Config | Sequence[Config] = (),
    vary: Settings = (),
    scale: Settings = (),
    out: str | os.PathLike[str] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    jobs: int | None = None,
    parts: Iterable[Given] = (),
) -> Found:
    """Finds the values of a key at which conditions hold: how many homes, how small a buffer.

    The values of a key such as `"homes.*.count"` are factors of what the scenario sets.
    `until` is a condition such as `"game p99 < 30"`, or several that must all hold. The search
    bisects between `low` and `high`. Without one of them it doubles and halves from the scenario's
    value. It stops at a distance of 2 % (1 for whole numbers), or of `step`. Each value is run with
    `seeds` seeds, the same for all values. A condition holds surely if it does for the whole 95 %
    interval. With `out` the runs, the points and a figure are stored there; `resume` keeps the runs
    that are there. The other parameters are those of `run`.

        >>> found = sojourn.find(
        ...     "scenarios/gallery/02-codel.toml", key="upstream.queue.limit_bytes",
        ...     until="game p99 < 100", low=16_000, high=256_000, step=16_000,
        ...     seeds=2, duration_s=2,
        ... )
        >>> found["drop-tail"].interval
        (96000, 112000)
    """
    request = Request.of(
        file_of(scenario) or scenario,
        seed=seed,
        duration_s=duration_s,
        set=set,
        config=config,
        vary=vary,
        scale=scale,
        parts=parts,
    )
    bounds = [bound(text) for text in ([until] if isinstance(until, str) else until)]
    search = Search(request, key, bounds, low, high, step, seeds)
    directory = None if out is None else Path(out)
    with in_scope(request.parts):
        return run_search(
            search, directory, resume=resume, overwrite=overwrite, progress=progress, jobs=jobs
        )


def run_search(
    search: Search,
    directory: Path | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Found:
    """Runs the search, and stores it in the directory if there is one.

    Raises `UnknownError` for a key, a measure or a range that cannot be searched, `ScenarioError`
    for a value that the scenario refuses, `StoreError` for a directory of something else, and
    `BatchStopped` if it is interrupted while it stores its runs.
    """
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    steps = values_of(search)
    if directory is None:
        return _searched(search, steps, lambda runs, tell: run_here(runs, tell, jobs), progress)
    with held_for_runs(directory):
        _check(directory, search, resume=resume, overwrite=overwrite)
        store = Store(directory)
        stored = StoredRuns(store, search, resume, jobs)
        with telling_what_is_kept(store, stored.tasks):
            found = _searched(search, steps, stored.run, progress)
            stored.finish(dict(_files(found)))
            if overwrite:
                store.keep_only(stored.tasks)
    return found


def _searched(search: Search, steps: Values, run: Runner, progress: Progress | None) -> Found:
    """Probes what each variant needs next, all variants together, until none needs more."""
    rounds = Rounds(search, run, progress)
    ends = [steps.low, steps.high] if steps.start is None else [steps.start]
    loaded = [search.at(end) for end in ends]  # an end that is refused is known before any run
    names = list(loaded[0])
    results = rounds.results([(name, ends[0]) for name in names])
    runs = [result for by_seed in results.values() for result in by_seed.values()]
    conditions = [Condition(one, one.named.among(runs)) for one in search.bounds]
    found = Found(search.key, search.seeds, conditions, steps)
    _add(found, results)
    accepts = _accepting(search, found)
    wanting = {}
    for name in names:
        of = found.points_of[name]
        wanting[name] = probes(of, [one.bound.is_upper for one in conditions], steps, accepts)
    while wanted := _wanted(wanting, found):
        _add(found, rounds.results(wanted))
    found.remarks += rounds.warnings
    found.early_s = rounds.early_s
    return found


def _wanted(wanting: Mapping[str, Iterator[list[float]]], found: Found) -> list[tuple[str, float]]:
    """What is to be probed next, of which nothing is known yet; empty if nothing is."""
    wanted: list[tuple[str, float]] = []
    for name, of_variant in wanting.items():
        for values in of_variant:
            new = [value for value in values if value not in found.points_of[name][0]]
            if new:
                wanted += [(name, value) for value in new]
                break
    return wanted


def _add(found: Found, results: Mapping[tuple[str, float], Mapping[int, RunTables]]) -> None:
    for (name, value), by_seed in results.items():
        if is_factor(found.key) and found.key.endswith("count"):
            found.totals[value] = total(found.key, next(iter(by_seed.values())).settings)
        found.add(name, value, {seed: run.facts.measures for seed, run in by_seed.items()})


def _accepting(search: Search, found: Found) -> Callable[[float], bool]:
    """Does the scenario take a value? If not, the reason becomes a remark."""
    known: dict[float, bool] = {}

    def accepts(value: float) -> bool:
        if value not in known:
            try:
                search.at(value)
                known[value] = True
            except ScenarioError as error:
                known[value] = False
                reason = error.problems[0].values["reason"]
                found.remarks.append(f"The scenario refuses {found.say(value)}: {reason}.")
        return known[value]

    return accepts


def _check(directory: Path, search: Search, *, resume: bool, overwrite: bool) -> None:
    """Raises `StoreError` if the directory holds anything but this search.

    With `resume` it may be one of the same scenario and key, whose runs may be of use.
    """
    if (directory / PLAN).exists():
        raise StoreError(f"{directory}: holds a study; allowed: another directory")
    try:
        earlier = dict(json_of(Checksums(directory).read(ORIGIN)))
    except (ValueError, TypeError):
        return
    now = json.loads(json.dumps(search.about(directory)))
    compared = ("sweep", "key") if resume else (*now, *earlier)
    if not overwrite and any(earlier.get(name) != now.get(name) for name in compared):
        what = f"the search of {earlier['key']}" if "key" in earlier else "a sweep"
        raise StoreError(
            f"{directory}: holds the results of {what} with other parameters; allowed: another "
            "directory, or --overwrite (in Python, overwrite=True) to replace them"
        )


def _files(found: Found) -> Iterator[tuple[str, bytes]]:
    """The points, the measures of all runs, and the figures."""
    yield ANSWER, "".join(f"{line}\n" for line in found.lines()).encode()
    yield POINTS, _csv(found.points)
    yield VALUES, _csv(found.runs)
    for number, chart in enumerate(found.charts(), 1):
        name = FIGURES.replace("*", f"-{number}" if number > 1 else "")
        yield name, picture(chart, "svg", 2)


def _csv(table: pa.Table) -> bytes:
    return csv_bytes(table.column_names, [tuple(row.values()) for row in table.to_pylist()])
