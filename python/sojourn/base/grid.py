"""Tables of text, and numbers formatted for reading."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._sojourn import digits as _digits

NOTHING = "–"


@dataclass(frozen=True)
class Grid:
    """A table of formatted text; a heading may have several lines."""

    title: str
    headings: list[str]
    rows: list[list[str]]

    @cached_property
    def numeric(self) -> list[bool]:
        """Which columns hold only numbers and are aligned right."""
        columns = zip(*self.rows, strict=True) if self.rows else [[""]] * len(self.headings)
        return [all(map(_is_number, column)) for column in columns]


def informative(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Grid:
    """A table without columns of zeros and blanks alone; without rows if no number is left.

    The first column names the rows.
    """
    columns = list(zip(headings, *rows, strict=True))
    kept = [columns[0], *(column for column in columns[1:] if any(map(_says, column[1:])))]
    first, *others = zip(*kept, strict=True)
    grid = Grid(title, list(first), list(map(list, others)))
    return grid if any(grid.numeric) else Grid(title, [], [])


def digits(value: Any) -> str:
    """A value for readers: measured ones have three significant digits, counts have all.

    Digits before the point are never cut.
    """
    match value:
        case None:
            return NOTHING
        case float() if math.isnan(value):
            return NOTHING
        case float():
            return _digits(value)
    return str(value)


def _says(cell: str) -> bool:
    """Is there anything but a zero, or a mean of zero?"""
    return cell.partition(" ± ")[0] not in ("", "0", NOTHING)


def _is_number(cell: str) -> bool:
    return cell == NOTHING or cell.lstrip("-")[:1].isdigit()
