"""Tables as CSV, in which no text is a formula.

Spreadsheets evaluate a cell that begins with `=`, `+`, `-`, `@`, a tab or the end of a line. Such a
text gets an apostrophe in front, unless it is a number. A text that would look like one with this
apostrophe gets another, so `true_text` finds the true one.
"""

import csv
import re
from collections.abc import Iterable, Sequence
from itertools import chain

_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
"""The beginning of a text that gets an apostrophe."""

_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*([eE][+-]?[0-9]+)?|inf|nan)")


def csv_bytes(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A heading row and the rows, in UTF-8. No text in them is a formula."""
    return csv_rows(chain([columns], rows))


def csv_rows(rows: Iterable[Sequence[object]]) -> bytes:
    """The rows alone."""
    lines = _Lines()
    # The writer puts quotes around the line ends that are in its own alone, up to Python 3.12.
    csv.writer(lines, lineterminator="\r\n").writerows(map(_cell, row) for row in rows)
    return "".join(lines).encode()


def true_text(cell: str) -> str:
    """The text of a cell that `csv_bytes` wrote."""
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell[1:]) else cell


class _Lines(list[str]):
    def write(self, line: str) -> None:
        self.append(line.removesuffix("\r\n") + "\n")


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value
