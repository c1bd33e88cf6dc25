"""Tables of text, and numbers formatted for reading."""

import math
from dataclasses import dataclass
from typing import Any

NOTHING = "–"


@dataclass(frozen=True)
class Grid:
    """A table of formatted text; a heading may have several lines."""

    title: str
    headings: list[str]
    rows: list[list[str]]

    @property
    def numeric(self) -> list[bool]:
        """Which columns hold only numbers and are aligned right."""
        columns = zip(*self.rows, strict=True) if self.rows else [[""]] * len(self.headings)
        return [all(map(_is_number, column)) for column in columns]


def shown(value: Any, digits: int) -> str:
    """A value formatted with this many digits after the point."""
    match value:
        case None:
            return NOTHING
        case float():
            return f"{value:.{digits}f}"
    return str(value)


def digits(value: float | None) -> str:
    """A number with three significant digits; digits before the point are never cut."""
    if value is None or math.isnan(value):
        return NOTHING
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(places, 4)}f}"


def _is_number(cell: str) -> bool:
    return cell == NOTHING or cell.lstrip("-")[:1].isdigit()
