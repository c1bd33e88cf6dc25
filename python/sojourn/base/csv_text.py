"""Tables as CSV, in which no text is a formula.

Spreadsheets evaluate a cell that begins with `=`, `+`, `-`, `@`, a tab or the end of a line. Such a
text gets an apostrophe in front, unless it is a number. A text that would look like one with this
apostrophe gets another, so `true_text` finds the true one.
"""

import csv
from collections.abc import Iterable, Sequence
from io import StringIO
from re import fullmatch, match

FORMULA = r"^('*[=+\-@\t\r\n])"
"""The beginning of a text that gets an apostrophe; for Python and RE2."""

NUMBER = r"^[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|inf|nan)$"
"""A text that is a number."""


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A heading row and the rows, in UTF-8. No text in them is a formula."""
    return "".join(_line(row) for row in (columns, *rows)).encode()


def true_text(cell: str) -> str:
    """The text of a cell that `csv_bytes` wrote."""
    return cell[1:] if cell[:1] == "'" and match(FORMULA, cell[1:]) else cell


def _line(row: Sequence[object]) -> str:
    text = StringIO(newline="")
    # The writer puts quotes around the line ends that are in its own alone, up to Python 3.12.
    csv.writer(text, lineterminator="\r\n").writerow(map(_cell, row))
    return text.getvalue().removesuffix("\r\n") + "\n"


def _cell(value: object) -> object:
    is_formula = isinstance(value, str) and match(FORMULA, value) and not fullmatch(NUMBER, value)
    return f"'{value}" if is_formula else value
