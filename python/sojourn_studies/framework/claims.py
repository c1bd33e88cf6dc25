"""Claims of a document and their tests, choices that it leaves open, and remarks on its cells."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .cases import Runs
from .rows import Row


class Cells:
    """Values of cells by their keys, for claims."""

    def __init__(self, values: Mapping[Row, float | None], *, all_or_none: bool = False) -> None:
        """Values as `measure` gives them. With `all_or_none` a missing one raises `LookupError`."""
        self._values = values
        self._all_or_none = all_or_none

    @classmethod
    def published(cls, rows: Sequence[Row]) -> "Cells":
        """What the document reports there; of bounds nothing."""
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


@dataclass(frozen=True)
class Verdict:
    """Whether a claim holds, and the numbers that say so."""

    holds: bool
    numbers: str


def listed(values: Mapping[str, float], digits: int = 0) -> str:
    """Names with their values."""
    return ", ".join(f"{name} {value:.{digits}f}" for name, value in values.items())


Test = Callable[["Cells", Runs], Verdict]
"""Judges a claim by cells and runs."""


@dataclass(frozen=True)
class Claim:
    """A sentence of a section of the document, and the test of it."""

    number: int
    section: str
    sentence: str
    test: Test
    why: str = ""
    """If it does not hold: the mechanism."""
    is_of_cells: bool = True
    """Are all its numbers of cells or runs, and none computed by itself?"""


@dataclass(frozen=True)
class Choice:
    """What the document leaves open, the baseline assumption, and why it was chosen."""

    question: str
    baseline: str
    why: str = ""
    alternatives: Sequence[str] = ()
    """The alternative assumptions that are run, by name."""


@dataclass(frozen=True)
class Remark:
    """The mechanism by which cells do not agree: those of `tables` that the other words name."""

    tables: Sequence[str]
    mechanism: str
    experiment: str = ""
    """With what their experiment begins."""
    metric: str = ""
    """With what their metric begins."""
    schemes: Sequence[str] = ()
    """Theirs, if any are named."""

    def is_about(self, row: Row) -> bool:
        """Is it about this cell?"""
        return (
            row.table in self.tables
            and row.experiment.startswith(self.experiment)
            and row.metric.startswith(self.metric)
            and (not self.schemes or row.scheme in self.schemes)
        )
