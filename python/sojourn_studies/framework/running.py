"""Runs a study into a directory, and reads one back."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from sojourn.analysis.statistics import Value, over_seeds
from sojourn.base.csv_text import csv_bytes
from sojourn.base.json_text import json_of
from sojourn.base.lookup import UnknownError
from sojourn.plot.paper import require_matplotlib
from sojourn.store.batch import run_batch, telling_what_is_kept
from sojourn.store.checksums import SUMS, Checksums, DamagedError, StoreError, read_result
from sojourn.store.shard import Shard, about_part, refuse_other_part
from sojourn.store.store import MARKER, PLAN, RUN_LIST, SHARD, Store, held_for_runs, open_store
from sojourn.store.stored_run import StoredRun
from sojourn.store.verify import require_whole

from .cases import Runs
from .cells import alternatives_csv, cells_csv
from .drawing import Drawing
from .plan import Plan
from .results import Results, without_intervals
from .rows import FigureNumber, Row
from .study import measure

CELLS = "cells.csv"

ALTERNATIVES = "alternatives.csv"

_PLAN = {
    "name": str,
    **dict.fromkeys(("table", "experiment", "scheme", "load", "figure"), list),
    "duration_scale": float,
    "seeds": int,
    "with_alternatives": bool,
    "law": str,
}
"""What the file of a plan has."""

_FIRST = {MARKER, PLAN, RUN_LIST, SHARD, SUMS}

_RUN_NAMES = ("case", "seed")


@dataclass(frozen=True)
class Outcome:
    """A study that was run."""

    plan: Plan
    store: Store
    seeds: Sequence[Runs]

    @cached_property
    def values(self) -> dict[Row, Value]:
        """Every cell."""
        return self._measured(self.plan.rows, self.seeds)

    @cached_property
    def otherwise(self) -> dict[str, dict[Row, Value]]:
        """The cells that each alternative is run for, by its name."""
        return {
            one.name: self._measured(rows, [one.runs(runs) for runs in self.seeds])
            for one, rows in self.plan.alternatives.items()
        }

    @property
    def with_own_law(self) -> dict[Row, Value]:
        """Every cell, and schemes again with the law of one's own, once where they are alike."""
        found = dict(self.values)
        seen = [cells for _, cells in _by_scheme(found)]
        for scheme, cells in _by_scheme(self.otherwise.get(f"law {self.plan.law}", {})):
            if cells not in seen:
                seen.append(cells)
                name = f"{scheme} with {self.plan.law}"
                found |= {row._replace(scheme=name): value for row, value in cells.items()}
        return found

    @property
    def means(self) -> dict[Row, float | None]:
        """Every cell, without its interval."""
        return without_intervals(self.values)

    @property
    def results(self) -> Results:
        """Every cell at the baseline, and under each alternative without intervals."""
        return Results.of(self.values, self.otherwise)

    @cached_property
    def drawings(self) -> dict[FigureNumber, Drawing]:
        """Every figure."""
        from sojourn.base.terminal import counting_bar

        with counting_bar(self.plan.figures, "figures") as numbers:
            return {n: self.plan.study.figures[n].drawn(self.seeds) for n in numbers}

    def _measured(self, rows: Sequence[Row], seeds: Sequence[Runs]) -> dict[Row, Value]:
        by_seed = [measure(self.plan.study, rows, runs) for runs in seeds] if rows else []
        return {row: over_seeds([values[row] for values in by_seed]) for row in rows}


def _by_scheme(values: Mapping[Row, Value]) -> Iterable[tuple[str, dict[Row, Value]]]:
    """The cells of each scheme, by rows that do not name it."""
    found: dict[str, dict[Row, Value]] = {}
    for row, value in values.items():
        found.setdefault(row.scheme, {})[row._replace(scheme="")] = value
    return found.items()


def run_plan(
    plan: Plan,
    directory: Path,
    *,
    resume: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
) -> Outcome:
    """Runs what is asked for, as `run_batch`, into a directory and writes its cells and figures.

    Raises `MissingPackageError` if it has figures and there is no matplotlib, before it runs.
    """
    plan.check()
    if plan.figures:
        require_matplotlib("figures of studies")
    store = run_part(plan, directory, None, resume=resume, jobs=jobs, dask=dask)
    outcome = _outcome(plan, store)
    with telling_what_is_kept(store, plan.tasks.values()):
        _write(outcome)
    return outcome


def run_part(
    plan: Plan,
    directory: Path,
    shard: Shard | None,
    *,
    resume: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
) -> Store:
    """Runs a shard of what is asked for, or all of it, as `run_batch`."""
    plan.check()
    _refuse_another(plan, directory, shard)
    tasks, about = about_part(_RUN_NAMES, plan.tasks, shard)
    labels = [name + (f", seed {seed}" if plan.seeds > 1 else "") for name, seed in tasks]
    plan_json = (json.dumps(asdict(plan), indent=2) + "\n").encode()
    return run_batch(
        list(tasks.values()),
        directory,
        resume=resume,
        jobs=jobs,
        dask=dask,
        labels=labels,
        about={PLAN: plan_json, **about},
    )


def _write(outcome: Outcome) -> None:
    store, derived = outcome.store, _derived(outcome)
    if ALTERNATIVES not in derived:  # what stands there is of another selection
        (store.directory / ALTERNATIVES).unlink(missing_ok=True)
    with held_for_runs(store.directory):
        store.add(derived)


def _derived(outcome: Outcome) -> dict[str, bytes]:
    """The files that are computed from the runs: cells and figures."""
    derived = tables(outcome)
    for number, drawing in outcome.drawings.items():
        figure = f"{outcome.plan.name}-figure-{number}"
        derived |= {f"{figure}.csv": drawing.csv, f"{figure}.svg": drawing.svg}
    return derived


def files_of(directory: Path) -> dict[str, bytes]:
    """The files computed from the store in a directory, whose runs are all there."""
    return _derived(_outcome(_plan(directory), open_store(directory)))


def tables(outcome: Outcome) -> dict[str, bytes]:
    """The files of all cells, and of those under alternatives if there are any."""
    files = {CELLS: cells_csv(outcome.values)}
    if outcome.plan.alternatives:
        files[ALTERNATIVES] = alternatives_csv(outcome.otherwise)
    return files


def _refuse_another(plan: Plan, directory: Path, shard: Shard | None) -> None:
    """Raises `StoreError` where another study is, or the same one with runs of another length.

    Or a sweep, or another part. A study that was stopped before anything came of it is none.
    """
    list_of_runs, headings = directory / RUN_LIST, csv_bytes((*_RUN_NAMES, "run"), ())
    is_planned = (directory / PLAN).exists()
    if (
        list_of_runs.exists()
        and not is_planned
        and not read_result(list_of_runs).startswith(headings)
    ):
        raise StoreError(f"{directory}: holds a sweep; allowed: another directory")
    if not is_planned or {path.name for path in directory.iterdir()} <= _FIRST:
        return
    refuse_other_part(directory, shard)
    try:
        there = _plan(directory)
    except DamagedError:  # the batch writes the plan again, and checks each run
        return
    if (there.name, there.duration_scale) != (plan.name, plan.duration_scale):
        raise StoreError(
            f"{directory}: holds {there.name} with duration scale {there.duration_scale:g}; "
            "allowed: another directory, or that study and scale"
        )


def _plan(directory: Path) -> Plan:
    try:
        found = json_of(Checksums(directory).read(PLAN))
        if not all(isinstance(found[key], kind) for key, kind in _PLAN.items()):
            raise TypeError
        plan = Plan(**found)
        plan.check()
    except (UnknownError, DamagedError):
        raise
    except (ValueError, TypeError, KeyError, AttributeError):
        raise StoreError(
            f"{directory / PLAN}: not the plan of a study; remove it, and run with --resume"
        ) from None
    return plan


def read(directory: Path) -> Outcome:
    """A study that was run into this directory."""
    store = open_store(directory)
    if not (directory / PLAN).exists():
        raise StoreError(
            f"{directory}: no study was run there; allowed: what `sojourn study run` wrote"
        )
    require_whole(directory)
    plan = _plan(directory)
    store.check([task in store for task in plan.tasks.values()])
    return _outcome(plan, store)


def _outcome(plan: Plan, store: Store) -> Outcome:
    seeds: list[dict[str, StoredRun]] = [{} for _ in range(plan.seeds)]
    for (name, seed), task in plan.tasks.items():
        seeds[seed - 1][name] = store[task]
    return Outcome(plan, store, seeds)
