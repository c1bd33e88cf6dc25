"""Lines at the bottom of a terminal, below what other programs write there."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

_SAVE, _RESTORE = "\x1b7", "\x1b8"
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[2K", "\x1b[J"


class BottomLines:
    """The last lines of a terminal, above which all else scrolls."""

    def __init__(self, terminal: TextIO, count: int) -> None:
        """Takes a terminal and how many of its lines to use."""
        self._terminal, self._count = terminal, count
        self._rows = 0

    def show(self, lines: Sequence[str]) -> None:
        """Shows these lines, cut where the terminal ends."""
        columns, rows = os.get_terminal_size(self._terminal.fileno())
        if rows <= 2 * self._count:
            return
        text = self._reserve(rows) if rows != self._rows else ""
        first = rows - self._count + 1
        for place, line in enumerate(lines[: self._count]):
            text += f"\x1b[{first + place};1H{_CLEAR_LINE}{line[: columns - 1]}"
        self._write(f"{_SAVE}{text}{_RESTORE}")

    def clear(self) -> None:
        """Gives the lines back."""
        if self._rows:
            first = self._rows - self._count + 1
            self._write(f"{_SAVE}\x1b[r\x1b[{first};1H{_CLEAR_BELOW}{_RESTORE}")

    def _reserve(self, rows: int) -> str:
        """Scrolls what is there away, and lets only the lines above scroll from now on."""
        if not self._rows:
            self._write("\n" * self._count + f"\x1b[{self._count}A")
        self._rows = rows
        return f"\x1b[1;{rows - self._count}r"

    def _write(self, text: str) -> None:
        self._terminal.write(text)
        self._terminal.flush()


@contextmanager
def bottom_lines(terminal: TextIO, count: int) -> Iterator[BottomLines]:
    """The last lines of a terminal during the block."""
    lines = BottomLines(terminal, count)
    try:
        yield lines
    finally:
        lines.clear()
