"""What a study is: rows that its document publishes, runs, and how the one comes from the other."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

from sojourn.analysis.statistics import Value
from sojourn.base.grid import Grid
from sojourn.base.terminal import counting_bar
from sojourn.store.stored_run import AbsentError

from . import texts
from .cases import Alternative, Case, Runs
from .claims import Cells, Choice, Claim, Remark
from .drawing import Figure
from .rows import FigureNumber, Row, published
from .score import Compared


@dataclass(frozen=True)
class Terms:
    """What texts call the source of a study and its values."""

    question: str = "Does the simulator give what the document reports?"
    source: str = "document"
    values: str = "published"
    open_points: str = "What the paper leaves open"
    legend: str = ""
    """What the names of experiments and metrics on the page mean."""


@dataclass(frozen=True)
class Study:
    """A study of published values. `value_of` computes a row from its runs, those of `cases_of`."""

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
    terms: Terms = Terms()
    overview: Callable[[Sequence[Compared]], Sequence[Grid]] = lambda cells: ()
    """What is shown beside the score: the cells in other orders."""
    measured: Callable[[Mapping[Row, Value]], Sequence[Grid]] = lambda values: ()
    """What is shown of cells that are compared with nothing."""
    ranked: Callable[[Mapping[Row, Value]], Sequence[Grid]] = lambda values: ()
    """What these cells say first: the schemes in their order."""
    pictures: Mapping[FigureNumber, str] = field(default_factory=dict)
    """The figures that its page shows, and what each of them is."""
    seeds: int = 1
    """A run of full length is with the seeds 1 to this one."""

    @cached_property
    def rows(self) -> Sequence[Row]:
        """The contract: every cell, in the order of the document."""
        return (*published(self.name), *self.unpublished)

    @property
    def is_scored(self) -> bool:
        """Is any cell compared with a published one?"""
        return bool(published(self.name))


def assemble(package: str, title: str, terms: Terms = Terms(), seeds: int = 1) -> Study:
    """The study that the modules of a package make."""
    name = package.rpartition(".")[-1]
    cells, claims, figures = (
        import_module(f"{package}.{module}") for module in ("cells", "claims", "figures")
    )
    return Study(
        name=name,
        title=title,
        figures=figures.FIGURES,
        cases_of=cells.cases_of,
        value_of=cells.value_of,
        summed_up=getattr(cells, "summed_up", lambda row, others: None),
        unpublished=getattr(cells, "UNPUBLISHED", ()),
        claims=texts.claims(name, claims),
        choices=texts.choices(name),
        alternatives=texts.alternatives(name, _changes(package)),
        remarks=texts.remarks(name),
        terms=terms,
        overview=getattr(cells, "overview", lambda compared: ()),
        measured=getattr(cells, "measured", lambda values: ()),
        ranked=getattr(cells, "ranked", lambda values: ()),
        pictures=getattr(figures, "PICTURES", {}),
        seeds=seeds,
    )


def _changes(package: str) -> ModuleType | None:
    """Changes that are more than keys, where a study has any."""
    name = f"{package}.alternatives"
    return import_module(name) if find_spec(name) else None


def measure(study: Study, rows: Sequence[Row], runs: Runs) -> dict[Row, float | None]:
    """The cells, from the runs of one seed; nothing where a run was too short for one."""

    def value(row: Row) -> float | None:
        try:
            value = study.value_of(row, runs)
        except AbsentError:
            return None
        return None if value is None or math.isnan(value) else value

    with counting_bar(rows, "cells") as counted:
        return {row: value(row) for row in counted}
