"""What a document leaves open: the baseline assumption, and how alternatives to it score."""

from collections.abc import Sequence
from dataclasses import dataclass

from sojourn.base.grid import Grid

from .cases import Alternative
from .references import filled
from .results import Results
from .score import compared
from .study import Study


@dataclass(frozen=True)
class Option:
    """An alternative assumption, and of the cells that it is run for how many agree."""

    name: str
    what: str
    cells: int
    agree: int
    agree_at_baseline: int


@dataclass(frozen=True)
class OpenPoint:
    """A question that a document does not answer."""

    question: str
    baseline: str
    why: str
    options: Sequence[Option]

    @property
    def grid(self) -> Grid:
        """Its alternatives and how they score."""
        headings = ["alternative", "what", "cells", "agree at the baseline", "agree under it"]
        return Grid(
            f"Alternatives: {self.question}", headings, [_row(option) for option in self.options]
        )


def open_points(study: Study, results: Results) -> list[OpenPoint]:
    """All of a study."""
    alternatives = {one.name: one for one in study.alternatives}
    return [
        OpenPoint(
            choice.question,
            " ".join(choice.baseline.split()),
            filled(choice.why, study.rows, results),
            [_option(alternatives[name], results) for name in choice.alternatives],
        )
        for choice in study.choices
    ]


def _option(one: Alternative, results: Results) -> Option:
    here = compared(results.under(one.name))
    baseline = {cell.row: cell.agrees for cell in compared(results.baseline)}
    return Option(
        one.name,
        one.what,
        len(here),
        sum(cell.agrees for cell in here),
        sum(baseline[cell.row] for cell in here),
    )


def _row(option: Option) -> list[str]:
    if not option.cells:
        return [option.name, option.what, "not run", "", ""]
    counts = (option.cells, option.agree_at_baseline, option.agree)
    return [option.name, option.what, *map(str, counts)]
