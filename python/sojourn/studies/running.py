"""Runs a study into a directory, and reads one back."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path

from ..batch import run_batch, telling_what_is_kept
from ..csv_text import csv_bytes
from ..seeds import Value, over_seeds
from ..store import MARKER, PLAN, RUN_LIST, Store, StoredRun, StoreError, Task, open_store
from . import UnknownError, known, study
from .study import (
    KEYS,
    Alternative,
    Case,
    Drawing,
    FigureNumber,
    Row,
    Runs,
    Study,
    figure_number,
    measure,
)

CELLS = "cells.csv"
EACH_WAY = "each-way.csv"
_FIRST = {MARKER, PLAN, RUN_LIST}
_RUN_COLUMNS = ("case", "seed", "run")
SHORTEST_RUN_S = 0.1
"""In less next to nothing has come through a modem, and there is nothing to measure."""


@dataclass(frozen=True)
class Plan:
    """What was asked for: part of a study, how long its runs are, and how many seeds."""

    name: str
    table: Sequence[str] = ()
    """Only these; empty: all. So with the next four."""
    experiment: Sequence[str] = ()
    scheme: Sequence[str] = ()
    load: Sequence[str] = ()
    figure: Sequence[FigureNumber] = ()
    duration_scale: float = 1.0
    seeds: int = 1
    each_way: bool = False
    """Run the study's alternatives too."""

    @property
    def study(self) -> Study:
        """The study."""
        return study(self.name)

    def check(self) -> None:
        """Raises `UnknownError` for what the study does not have."""
        for key, words in self.choices.items():
            for asked in getattr(self, key):
                known(f"{key} of {self.name}", _bare(asked) if key == "table" else asked, words)
        selecting = [key for key in self.choices if getattr(self, key)]
        if len(selecting) > 1 and not self.rows:
            found = ", ".join(
                f"{key} {' or '.join(map(repr, getattr(self, key)))}" for key in selecting
            )
            raise UnknownError(
                f"{self.name} has nothing that is of {found} at once; allowed: one of them alone, "
                "or such as go together"
            )
        shortest_s = min((case.duration_s for case in self.cases), default=None)
        if shortest_s is not None and self.duration_scale < SHORTEST_RUN_S / shortest_s:
            least = _rounded_up(SHORTEST_RUN_S / shortest_s)
            raise UnknownError(
                f"duration scale of {self.name}: found {self.duration_scale:g}, by which runs "
                f"last {shortest_s * self.duration_scale:.2g} s; allowed: {least:g} or more"
            )

    @property
    def choices(self) -> Mapping[str, Sequence[FigureNumber]]:
        """By what its runs can be selected, and all the values there are."""
        rows = self.study.rows
        shown = [number for row in rows if (number := _figure(row.table)) is not None]
        return {
            "table": _distinct(_bare(row.table) for row in rows),
            "experiment": _distinct(row.experiment for row in rows),
            "scheme": _distinct(row.scheme for row in rows),
            "load": _distinct(row.load for row in rows),
            "figure": list(dict.fromkeys([*self.study.figures, *shown])),
        }

    @property
    def rows(self) -> list[Row]:
        """The cells to be produced."""
        return [row for row in self.study.rows if self._wants(row)]

    @property
    def figures(self) -> list[FigureNumber]:
        """The figures to be drawn."""
        if self.figure:
            return [number for number in self.study.figures if number in self.figure]
        is_whole = not (self.table or self.experiment or self.scheme or self.load)
        return list(self.study.figures) if is_whole else []

    @property
    def alternatives(self) -> Mapping[Alternative, Sequence[Row]]:
        """What is to be run beside what is taken, and the cells that it is run for."""
        asked = self.study.alternatives if self.each_way else ()
        rows = self.rows
        wanted = {one: [row for row in rows if one.wants(row)] for one in asked}
        return {one: of_one for one, of_one in wanted.items() if of_one}

    @property
    def cases(self) -> list[Case]:
        """The runs that these need, each once."""
        of_rows = self._cases_of(self.rows)
        of_figures = [case for n in self.figures for case in self.study.figures[n].cases]
        otherwise = [
            one.case(case)
            for one, rows in self.alternatives.items()
            for case in self._cases_of(rows)
        ]
        return list({case.name: case for case in [*of_rows, *of_figures, *otherwise]}.values())

    def _cases_of(self, rows: Sequence[Row]) -> list[Case]:
        cases = [case for row in rows for case in self.study.cases_of(row)]
        return list({case.name: case for case in cases}.values())

    @cached_property
    def tasks(self) -> Mapping[tuple[str, int], Task]:
        """The runs, by the names of their cases and by seed, from 1."""
        return {
            (case.name, seed): case.task(seed, self.duration_scale)
            for seed in range(1, self.seeds + 1)
            for case in self.cases
        }

    @property
    def run_count(self) -> int:
        """How many runs they are; cases that are alike share one."""
        return len(set(self.tasks.values()))

    def _wants(self, row: Row) -> bool:
        named = all(
            not getattr(self, key) or getattr(row, key) in getattr(self, key)
            for key in ("experiment", "scheme", "load")
        )
        in_table = not self.table or _bare(row.table) in map(_bare, self.table)
        in_figure = not self.figure or _figure(row.table) in self.figure
        return named and in_table and in_figure


@dataclass(frozen=True)
class Outcome:
    """A study that was run."""

    plan: Plan
    store: Store
    seeds: Sequence[Runs]

    @property
    def values(self) -> dict[Row, Value]:
        """Every cell."""
        return self._measured(self.plan.rows, self.seeds)

    @property
    def otherwise(self) -> dict[Alternative, dict[Row, Value]]:
        """The cells that each alternative is run for."""
        return {
            one: self._measured(rows, [one.runs(runs) for runs in self.seeds])
            for one, rows in self.plan.alternatives.items()
        }

    @property
    def means(self) -> dict[Row, float | None]:
        """Every cell, without its interval."""
        return {row: value.mean for row, value in self.values.items()}

    @property
    def drawings(self) -> dict[FigureNumber, Drawing]:
        """Every figure, of the first seed."""
        from ..console import counting_bar

        with counting_bar(self.plan.figures, "figures") as numbers:
            return {n: self.plan.study.figures[n].draw(self.seeds[0]) for n in numbers}

    def _measured(self, rows: Sequence[Row], seeds: Sequence[Runs]) -> dict[Row, Value]:
        by_seed = [measure(self.plan.study, rows, runs) for runs in seeds] if rows else []
        return {row: over_seeds([values[row] for values in by_seed]) for row in rows}


def run_plan(
    plan: Plan,
    directory: Path,
    *,
    resume: bool = False,
    jobs: int | None = None,
    dask: str | None = None,
) -> Outcome:
    """Runs what is asked for, as `run_batch`, into a directory and writes its cells and figures."""
    plan.check()
    _refuse_another(plan, directory)
    tasks = plan.tasks
    labels = [name + (f", seed {seed}" if plan.seeds > 1 else "") for name, seed in tasks]
    plan_json = (json.dumps(asdict(plan), indent=2) + "\n").encode()
    store = run_batch(
        list(tasks.values()),
        directory,
        resume=resume,
        jobs=jobs,
        dask=dask,
        labels=labels,
        about={PLAN: plan_json, RUN_LIST: _runs_csv(tasks)},
    )
    outcome = _outcome(plan, store, tasks)
    with telling_what_is_kept(store, tasks.values()):
        _write(outcome)
    return outcome


def _write(outcome: Outcome) -> None:
    plan, store = outcome.plan, outcome.store
    store.write(CELLS, cells_csv(outcome.values))
    if plan.alternatives:
        store.write(EACH_WAY, each_way_csv(outcome.otherwise))
    else:  # what stands there is of another selection
        (store.directory / EACH_WAY).unlink(missing_ok=True)
    for number, drawing in outcome.drawings.items():
        store.write(f"{plan.name}-figure-{number}.csv", drawing.csv.encode())
        store.write(f"{plan.name}-figure-{number}.svg", drawing.svg)


def _refuse_another(plan: Plan, directory: Path) -> None:
    """Raises `StoreError` where another study is, or the same one with runs of another length.

    Or a sweep. A study that was stopped before anything came of it is none.
    """
    list_of_runs, headings = directory / RUN_LIST, csv_bytes(_RUN_COLUMNS, ())
    if list_of_runs.exists() and not list_of_runs.read_bytes().startswith(headings):
        raise StoreError(f"{directory}: holds a sweep; allowed: another directory")
    if not (directory / PLAN).exists() or {path.name for path in directory.iterdir()} <= _FIRST:
        return
    there = _plan(directory)
    if (there.name, there.duration_scale) != (plan.name, plan.duration_scale):
        raise StoreError(
            f"{directory}: holds {there.name} with duration scale {there.duration_scale:g}; "
            "allowed: another directory, or that study and scale"
        )


def _plan(directory: Path) -> Plan:
    try:
        plan = Plan(**json.loads((directory / PLAN).read_text()))
        plan.check()
    except UnknownError:
        raise
    except (ValueError, TypeError):
        raise StoreError(
            f"{directory / PLAN}: not the plan of a study; remove it, and run with --resume"
        ) from None
    return plan


def read(directory: Path) -> Outcome:
    """A study that was run into this directory."""
    store = open_store(directory)
    try:
        plan = _plan(directory)
    except FileNotFoundError:
        raise StoreError(
            f"{directory}: no study was run there; allowed: what `sojourn study run` wrote"
        ) from None
    tasks = plan.tasks
    store.check([task in store for task in tasks.values()])
    return _outcome(plan, store, tasks)


def cells_csv(values: Mapping[Row, Value]) -> bytes:
    """The cells, with their intervals if there are any."""
    columns, lines = _cells(values, _has_intervals(values))
    return csv_bytes(columns, lines)


def each_way_csv(otherwise: Mapping[Alternative, Mapping[Row, Value]]) -> bytes:
    """The cells under each alternative, which the first column names."""
    has_intervals = any(map(_has_intervals, otherwise.values()))
    tables = {one.name: _cells(values, has_intervals) for one, values in otherwise.items()}
    columns = next(columns for columns, _ in tables.values())
    lines = ((name, *line) for name, (_, lines) in tables.items() for line in lines)
    return csv_bytes(("alternative", *columns), lines)


def _has_intervals(values: Mapping[Row, Value]) -> bool:
    return any(value.low is not None for value in values.values())


def _cells(
    values: Mapping[Row, Value], has_intervals: bool
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns, and a line for each cell."""
    columns = [*KEYS, "value", *(("ci_low", "ci_high") if has_intervals else ()), "unit"]

    def line(row: Row, value: Value) -> Sequence[str]:
        interval = (_text(value.low), _text(value.high)) if has_intervals else ()
        return [*row.keys, _text(value.mean), *interval, row.unit]

    return columns, [line(row, value) for row, value in values.items()]


def _outcome(plan: Plan, store: Store, tasks: Mapping[tuple[str, int], Task]) -> Outcome:
    seeds: list[dict[str, StoredRun]] = [{} for _ in range(plan.seeds)]
    for (name, seed), task in tasks.items():
        seeds[seed - 1][name] = store[task]
    return Outcome(plan, store, seeds)


def _runs_csv(tasks: Mapping[tuple[str, int], Task]) -> bytes:
    """Which run of the store is which case and seed."""
    rows = [(name, seed, task.run) for (name, seed), task in tasks.items()]
    return csv_bytes(_RUN_COLUMNS, rows)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:.9g}"


def _bare(table: str) -> str:
    return table.removeprefix("table-")


def _figure(table: str) -> FigureNumber | None:
    return figure_number(table.removeprefix("fig-")) if table.startswith("fig-") else None


def _distinct(words: Iterable[str]) -> list[str]:
    return [word for word in dict.fromkeys(words) if word]


def _rounded_up(value: float) -> float:
    """To two digits, so that what a message allows is allowed."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit
