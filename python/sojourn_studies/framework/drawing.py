"""The figures of a study: pictures, and the numbers that they show."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sojourn.base.csv_text import csv_bytes

from .cases import Case, Runs


@dataclass(frozen=True)
class Drawing:
    """A figure of a study: the picture, and the numbers that it shows."""

    title: str
    svg: bytes
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def csv(self) -> bytes:
        """The numbers as CSV in UTF-8, below their headings; floats to 9 significant digits."""
        return csv_bytes(self.columns, ([_cell(value) for value in row] for row in self.rows))


@dataclass(frozen=True)
class Figure:
    """A figure of the document: the cases it shows, and how it is drawn from their runs."""

    draw: Callable[[Runs], Drawing]
    cases: Sequence[Case] = ()
    draw_seeds: Callable[[Sequence[Runs]], Drawing] | None = None
    """How it is drawn from the runs of all seeds, if it shows how they differ."""

    def drawn(self, seeds: Sequence[Runs]) -> Drawing:
        """The figure, of the first seed unless it shows all of them."""
        return self.draw_seeds(seeds) if self.draw_seeds else self.draw(seeds[0])


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
