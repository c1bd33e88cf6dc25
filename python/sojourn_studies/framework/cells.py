"""The cells of a study as CSV."""

from collections.abc import Mapping, Sequence

from sojourn.analysis.statistics import Value
from sojourn.base.csv_text import csv_bytes

from .rows import KEYS, Row


def cells_csv(values: Mapping[Row, Value]) -> bytes:
    """The cells, with their intervals if there are any."""
    columns, lines = _cells(values, _has_intervals(values))
    return csv_bytes(columns, lines)


def alternatives_csv(otherwise: Mapping[str, Mapping[Row, Value]]) -> bytes:
    """The cells under each alternative, which the first column names."""
    has_intervals = any(map(_has_intervals, otherwise.values()))
    tables = {name: _cells(values, has_intervals) for name, values in otherwise.items()}
    columns = next(columns for columns, _ in tables.values())
    lines = ((name, *line) for name, (_, lines) in tables.items() for line in lines)
    return csv_bytes(("alternative", *columns), lines)


def _has_intervals(values: Mapping[Row, Value]) -> bool:
    return any(value.low is not None for value in values.values())


def _cells(
    values: Mapping[Row, Value], has_intervals: bool
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """The columns, and a line for each cell."""
    columns = [*KEYS, "value", *(("ci_low", "ci_high") if has_intervals else ()), "unit"]

    def line(row: Row, value: Value) -> Sequence[str]:
        interval = (_end_text(value.low), _end_text(value.high)) if has_intervals else ()
        return [*row.keys, cell_text(value.mean), *interval, row.unit]

    return columns, [line(row, value) for row, value in values.items()]


def _end_text(value: float | None) -> str:
    """An end of an interval: five seeds do not tell more than four digits."""
    return "" if value is None else f"{value:.4g}"


def cell_text(value: float | None) -> str:
    """A value as files of cells have it, in nine digits; empty for none."""
    return "" if value is None else f"{value:.9g}"
