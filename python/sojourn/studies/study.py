"""What a study is: rows that its document publishes, runs, and how the one comes from the other."""

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from importlib import import_module
from importlib.resources import files
from io import StringIO
from typing import Any, NamedTuple

from ..store import AbsentError, StoredRun, Task, task

KEYS = ("study", "table", "experiment", "scheme", "load", "flow", "metric")


FigureNumber = int | str
"""16, or 4.1 in documents that number by chapter."""


def figure_number(text: str) -> FigureNumber:
    """The number of a figure as a document has it."""
    bare = text.removeprefix("fig-")
    return int(bare) if bare.isdigit() else bare


class Row(NamedTuple):
    """A row of the contract: a cell that a study produces, and what its document says there."""

    study: str
    table: str
    experiment: str
    scheme: str
    load: str
    flow: str
    metric: str
    published: str
    unit: str
    note: str
    turn: int = 0
    """Which of several rows with the same keys it is; the ends of a range share theirs."""

    @property
    def keys(self) -> tuple[str, ...]:
        """What names the cell."""
        return tuple(str(getattr(self, key)) for key in KEYS)

    @property
    def is_bound(self) -> bool:
        """Does the document say but what it is below or above?"""
        return self.note.startswith(("<", ">"))

    @property
    def printed(self) -> str:
        """What the document reports there, with its sign if it is a bound."""
        return (self.note[0] if self.is_bound else "") + self.published

    @property
    def is_background(self) -> bool:
        """Is it no result, but what others measured, was set up, aimed at or expected?"""
        return self.experiment in ("cited", "criterion", "config", "expectation")

    @property
    def result(self) -> float | None:
        """What the document reports there, if it is a result and a number."""
        if self.is_background:
            return None
        try:
            return float(self.published)
        except ValueError:
            return None


@dataclass(frozen=True)
class Case:
    """A run of a study, whatever the seed."""

    name: str
    scenario: Mapping[str, Any] = field(hash=False, compare=False)
    series: bool = False
    """Keep what is measured over time."""
    packets: bool = False
    """Keep the fate of every packet; the scenario must ask for it."""
    latencies: bool = False
    """Keep the distributions of latency."""
    draw: int = 0
    """Cases of another number have other random numbers, and so other hashes of their flows."""

    @property
    def duration_s(self) -> float:
        """How long the document's run is."""
        return float(self.scenario["duration_s"])

    def task(self, seed: int, duration_scale: float) -> Task:
        """The run with this seed, its duration scaled."""
        tables = [name for name in ("series", "packets", "latencies") if getattr(self, name)]
        scaled = {**self.scenario, "duration_s": self.duration_s * duration_scale}
        return task(scaled, seed=seed + _SEEDS * self.draw, tables=tables)


_SEEDS = 10_000  # the most that a study is run with

Runs = Mapping[str, StoredRun]
"""The runs of one seed, by the name of their case."""


@dataclass(frozen=True)
class Drawing:
    """A figure of a study: the picture, and the numbers that it shows."""

    title: str
    svg: bytes
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def csv(self) -> str:
        """The numbers, with a line of headings."""
        lines = [self.columns, *([_cell(value) for value in row] for row in self.rows)]
        return "".join(",".join(line) + "\n" for line in lines)


@dataclass(frozen=True)
class Figure:
    """A figure of the document: the cases it shows, and how it is drawn from their runs."""

    draw: Callable[[Runs], Drawing]
    cases: Sequence[Case] = ()


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the numbers that say so."""

    holds: bool
    numbers: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the document, in other words, and the test of it."""

    number: int
    text: str
    test: Callable[["Cells", Runs], Verdict]
    is_of_cells: bool = True
    """Are all its numbers of cells or runs, and none computed by itself?"""


@dataclass(frozen=True)
class Choice:
    """What the document leaves open, what is taken, and why."""

    what: str
    taken: str
    why: str


Change = Callable[[dict[str, Any]], None]
"""Changes a scenario in place."""


@dataclass(frozen=True)
class Alternative:
    """What might have been taken instead, to be run beside what is: the effect of a choice."""

    name: str
    what: str
    change: Change
    tables: Sequence[str] = ()
    """Whose cells it is run for; all if none is named."""
    experiments: Sequence[str] = ()
    schemes: Sequence[str] = ()
    draw: int = 0
    """What is added to the draw of a case: other random numbers, for what is chance."""

    def wants(self, row: Row) -> bool:
        """Is it run for this cell?"""
        return row.result is not None and all(
            not names or any(name in word.split("/") for name in names)
            for names, word in (
                (self.tables, row.table),
                (self.experiments, row.experiment),
                (self.schemes, row.scheme),
            )
        )

    def case(self, case: Case) -> Case:
        """The run made so."""
        scenario = deepcopy(dict(case.scenario))
        self.change(scenario)
        name, draw = case.name + self._suffix, case.draw + self.draw
        return replace(case, name=name, scenario=scenario, draw=draw)

    def runs(self, runs: Runs) -> Runs:
        """The runs made so, by the names of those taken."""
        suffix = self._suffix
        named = {name: run for name, run in runs.items() if name.endswith(suffix)}
        return {name.removesuffix(suffix): run for name, run in named.items()}

    @property
    def _suffix(self) -> str:
        return f" | {self.name}"


@dataclass(frozen=True)
class Remark:
    """Why cells that do not agree do not: those of `table` that `experiment` and `metric` begin.

    Of `schemes` alone, if any are named.
    """

    table: str
    text: str
    experiment: str = ""
    metric: str = ""
    schemes: Sequence[str] = ()

    def is_about(self, row: Row) -> bool:
        """Is it about this cell?"""
        return (
            row.table == self.table
            and row.experiment.startswith(self.experiment)
            and row.metric.startswith(self.metric)
            and (not self.schemes or row.scheme in self.schemes)
        )


@dataclass(frozen=True)
class Study:
    """A published study. `value_of` computes a row from its runs, those of `cases_of`."""

    name: str
    title: str
    figures: Mapping[FigureNumber, Figure]
    cases_of: Callable[[Row], Sequence[Case]]
    value_of: Callable[[Row, Runs], float | None]
    summed_up: Callable[[Row, "Cells"], float | None]
    """What other cells make of one that sums them up; nothing of one that stands for itself."""
    unpublished: Sequence[Row]
    """Cells of experiments that the document defines, and gives no results of."""
    claims: Sequence[Claim]
    choices: Sequence[Choice]
    alternatives: Sequence[Alternative]
    remarks: Sequence[Remark]
    claim_remarks: Mapping[int, str]
    """Why claims do not hold, by their numbers."""

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The contract: every cell, in the order of the document."""
        return (*published(self.name), *self.unpublished)


def assemble(package: str, title: str) -> Study:
    """The study that the modules of a package make."""
    cells, claims, figures, notes = (
        import_module(f"{package}.{name}") for name in ("cells", "claims", "figures", "notes")
    )
    return Study(
        name=package.rpartition(".")[-1],
        title=title,
        figures=figures.FIGURES,
        cases_of=cells.cases_of,
        value_of=cells.value_of,
        summed_up=getattr(cells, "summed_up", lambda row, others: None),
        unpublished=getattr(cells, "UNPUBLISHED", ()),
        claims=claims.CLAIMS,
        choices=notes.CHOICES,
        alternatives=import_module(f"{package}.alternatives").ALTERNATIVES,
        remarks=notes.REMARKS,
        claim_remarks=notes.CLAIMS,
    )


class Cells:
    """Values of cells by their keys, for claims."""

    def __init__(self, values: Mapping[Row, float | None], *, all_or_none: bool = False) -> None:
        """Values as `measure` gives them. With `all_or_none` a missing one raises `LookupError`."""
        self._values = values
        self._all_or_none = all_or_none

    @classmethod
    def of_print(cls, rows: Sequence[Row]) -> "Cells":
        """What the document has there; of bounds, and what it lacks or is kept back, nothing."""
        values = {row: None if row.is_bound else row.result for row in rows}
        return cls(values, all_or_none=True)

    def all(self, metric: str, **keys: str) -> dict[str, float]:
        """By experiment: the values of a metric in rows with these keys.

        Raises `LookupError` where there are none, as the study was not run there, or too short.
        """
        there = {row.experiment: value for row, value in self._where(metric, keys)}
        found = {experiment: value for experiment, value in there.items() if value is not None}
        if not found or (self._all_or_none and len(found) < len(there)):
            raise LookupError(metric)
        return found

    def one(self, metric: str, turn: int = 0, **keys: str) -> float:
        """The only value; NaN if it has none. Raises `LookupError` where the study was not run."""
        found = [value for row, value in self._where(metric, keys) if row.turn == turn]
        if not found or (self._all_or_none and found[0] is None):
            raise LookupError(metric)
        return math.nan if found[0] is None else found[0]

    def known(self, metric: str, turn: int = 0, **keys: str) -> float:
        """The only value; raises `LookupError` if it has none, or the study was not run there."""
        value = self.one(metric, turn, **keys)
        if math.isnan(value):
            raise LookupError(metric)
        return value

    def _where(self, metric: str, keys: Mapping[str, str]) -> Iterator[tuple[Row, float | None]]:
        for row, value in self._values.items():
            if row.metric == metric and all(getattr(row, key) == keys[key] for key in keys):
                yield row, value


@cache
def published(study: str) -> tuple[Row, ...]:
    """What the document of a study reports."""
    text = data("published", f"{study}.csv")
    turns: Counter[tuple[str, ...]] = Counter()
    rows = []
    for record in csv.DictReader(StringIO(text)):
        keys = tuple(record[key] for key in KEYS)
        rows.append(
            Row(
                **{key: record[key] for key in (*KEYS, "unit", "note")},
                published=record["value"],
                turn=turns[keys],
            )
        )
        turns[keys] += 1
    return tuple(rows)


def data(*path: str) -> str:
    """A text file of this package."""
    return files(__package__).joinpath(*path).read_text(encoding="utf-8")


def measure(study: Study, rows: Sequence[Row], runs: Runs) -> dict[Row, float | None]:
    """The cells, from the runs of one seed; nothing where a run was too short for one."""

    def value(row: Row) -> float | None:
        try:
            value = study.value_of(row, runs)
        except AbsentError:
            return None
        return None if value is None or math.isnan(value) else value

    from ..console import counting_bar

    with counting_bar(rows, "cells") as counted:
        return {row: value(row) for row in counted}


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
