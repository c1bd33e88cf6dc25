"""The cells of a study: what its document publishes, and the keys that name each."""

import csv
from collections import Counter
from functools import cache
from importlib.resources import files
from io import StringIO
from typing import NamedTuple

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

    @classmethod
    def unpublished(cls, *keys: str, unit: str) -> "Row":
        """A cell of which the document says nothing, by its keys in their order."""
        return cls._make((*keys, "", unit, "", 0))

    @property
    def keys(self) -> tuple[str, ...]:
        """What names the cell."""
        return tuple(map(str, self[: len(KEYS)]))

    @property
    def is_bound(self) -> bool:
        """Does the document say but what it is below or above?"""
        return self.note.startswith(("<", ">"))

    @property
    def spread(self) -> tuple[float, float] | None:
        """The ends of what several runs gave, whose mean it is."""
        if not self.note.startswith("runs "):
            return None
        low, _, high = self.note.removeprefix("runs ").partition(" to ")
        return float(low), float(high)

    @property
    def reported(self) -> str:
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
    """A text file of the package of all studies."""
    return files("sojourn_studies").joinpath(*path).read_text(encoding="utf-8")
