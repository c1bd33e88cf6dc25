"""What of a study is to be run."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from sojourn.base.lookup import UnknownError, look_up
from sojourn.store.task import Task

from .cases import Alternative, Case
from .changes import with_law
from .registry import study
from .rows import FigureNumber, Row, figure_number
from .study import Study

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
    with_alternatives: bool = False
    """Run the alternative assumptions too."""
    law: str = ""
    """Run everything with this law too, in the place of the laws that it has."""

    @property
    def study(self) -> Study:
        """The study."""
        return study(self.name)

    def check(self) -> None:
        """Raises `UnknownError` for what the study does not have."""
        for key, words in self.choices.items():
            for asked in getattr(self, key):
                look_up(f"{key} of {self.name}", _bare(asked) if key == "table" else asked, words)
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
        """What is to be run beside the baseline, and the cells that it is run for."""
        asked = [*(self.study.alternatives if self.with_alternatives else ())]
        if self.law:
            asked.append(with_law(self.law))
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
