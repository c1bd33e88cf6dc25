"""Which cells agree with published values: `published/tolerances.toml`."""

import math
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from .rows import Row, data


@dataclass(frozen=True)
class Compared:
    """A cell with a published value."""

    row: Row
    ours: float | None
    published: float
    tolerance: float

    @property
    def miss(self) -> float:
        """Distance from the published value in tolerances; infinite where there is no value."""
        if self.ours is None:
            return math.inf
        low, high = self.row.spread or (self.published, self.published)
        beyond = self.ours - min(max(self.ours, low), high)
        if self.row.note.startswith((">", "range low")):
            beyond = min(beyond, 0.0)
        elif self.row.note.startswith(("<", "range high")):
            beyond = max(beyond, 0.0)
        if self.tolerance == 0:
            return 0.0 if beyond == 0 else math.inf
        return abs(beyond) / self.tolerance

    @property
    def deviation(self) -> str:
        """The distance from the published value in percent of it; of a bound or of zero none."""
        if self.ours is None or self.published == 0 or self.row.is_bound:
            return ""
        percent = round(100 * (self.ours / self.published - 1), 1)
        return f"{percent:+.1f} %" if percent else "0.0 %"

    @property
    def agrees(self) -> bool:
        """Is it within the tolerance, or on the right side of a bound or a range's end?"""
        return self.miss <= 1 + 1e-9

    @property
    def mark(self) -> str:
        """What stands behind the value in tables: a cross if it does not agree."""
        return "" if self.agrees else " ✗"


@dataclass(frozen=True)
class Score:
    """How many of some cells agree."""

    name: str
    """Of the table that they are of, or of what else they share."""
    cells: Sequence[Compared]

    @property
    def agree(self) -> int:
        """Cells that agree."""
        return sum(cell.agrees for cell in self.cells)

    @property
    def missing(self) -> int:
        """Cells without a value: what they tell of did not happen, or not in runs so short."""
        return sum(cell.ours is None for cell in self.cells)

    @property
    def percent(self) -> float:
        """Their share; 0 of none."""
        return 100 * self.agree / max(len(self.cells), 1)

    @property
    def texts(self) -> list[str]:
        """A line of a table: name, cells, how many agree, and their share in percent."""
        return [self.name, str(len(self.cells)), str(self.agree), f"{self.percent:.0f}"]


def compared(values: Mapping[Row, float | None]) -> list[Compared]:
    """The cells that have a published value, without what is no result."""
    return [
        Compared(row, ours, published, _tolerance(row, published))
        for row, ours in values.items()
        if (published := row.result) is not None
    ]


def scores(
    cells: Iterable[Compared], name_of: Callable[[Row], str] = lambda row: row.table
) -> list[Score]:
    """The score of each table, or of the cells with another name in common, and then of all."""
    by_name = defaultdict(list)
    for cell in cells:
        by_name[name_of(cell.row)].append(cell)
    each = [Score(name, of_name) for name, of_name in by_name.items()]
    return [*each, Score("all", [cell for one in each for cell in one.cells])]


def worst(cells: Iterable[Compared], most: int = 10) -> list[Compared]:
    """The cells furthest from published values, of those with a value that do not agree.

    One of each metric in a table: where one kind of cell is off throughout, others are shown too.
    """
    off = [cell for cell in cells if not cell.agrees and math.isfinite(cell.miss)]
    furthest: dict[tuple[str, str], Compared] = {}
    for cell in sorted(off, key=lambda cell: -cell.miss):
        furthest.setdefault((cell.row.table, cell.row.metric), cell)
    return list(furthest.values())[:most]


@cache
def _tolerances() -> Mapping[str, Mapping[str, float]]:
    return tomllib.loads(data("published", "tolerances.toml"))


def _tolerance(row: Row, published: float) -> float:
    """By table and metric where there is such a rule, else by metric."""
    rules = _tolerances()
    by_metric = rules.get(row.metric, rules["default"])
    rule = rules.get(f"{row.table}/{row.metric}", by_metric)
    return max(rule.get("abs", 0.0), rule.get("rel", 0.0) * abs(published))
