"""Terminal output: tables on stdout, progress on stderr."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar
from rich.table import Column, Table
from rich.text import Text

from .grid import Grid
from .plain_text import plain
from .progress import Finished, Progress

_LINE_EACH_S = 2.0
_WIDTH_OF_FILES = 120
_UNBOUNDED = 10_000
_LONGEST_WORD = 20
"""Words up to this length are not broken."""

T = TypeVar("T")


def print_grids(grids: Iterable[Grid]) -> Console:
    """Prints tables to stdout and returns the console for further output."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_FILES
    for grid in grids:
        table = _table(grid)
        unbounded = console.options.update(max_width=_UNBOUNDED)
        is_wide = console.measure(table, options=unbounded).maximum > console.width
        if is_wide:
            table = _table(grid, between="\n± ")
            # Rather a line that the terminal breaks than a number without its last digits.
            least = console.measure(table, options=unbounded).minimum
            console.print(table, width=max(console.width, least), crop=False)
        else:
            console.print(table)
    return console


def tell(line: str) -> None:
    """Prints a text to stderr in one line; invisible characters in it are shown as escapes."""
    sys.stderr.write(f"{' '.join(plain(line).splitlines())}\n")


@contextmanager
def progress_bar(lines: bool = False) -> Iterator[Progress | None]:
    """Shows a progress bar on stderr during the block, if stderr is a terminal.

    If it is none, `lines` has a line each two seconds.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _line_teller() if lines else None
        return
    with _bar(console, _Simulated(Column(no_wrap=True))) as progress:
        yield _teller(progress)


@contextmanager
def batch_bar(runs: int) -> Iterator[tuple[Progress | None, Finished]]:
    """Like `progress_bar`, with the number of finished runs and a line for each of them."""
    console = Console(stderr=True)
    if not (runs and console.is_terminal):
        yield None, lambda label, simulated_s, took_s: None
        return
    simulated = _Simulated(Column(no_wrap=True))
    with _bar(console, simulated, TextColumn("{task.description}")) as progress:
        tell = _teller(progress)
        progress.update(progress.task_ids[0], description=f"0 of {runs} runs")
        done = 0

        def finished(label: str, simulated_s: float, took_s: float) -> None:
            nonlocal done
            done += 1
            progress.update(progress.task_ids[0], description=f"{done} of {runs} runs")
            progress.console.print(
                Text(f"{plain(label)}: {simulated_s:g} s in {took_s:.1f} s"), soft_wrap=True
            )

        yield tell, finished


@contextmanager
def counting_bar(steps: Sequence[T], what: str) -> Iterator[Iterable[T]]:
    """Yields the steps and shows how many of them are done, named `what` on the progress bar."""
    console = Console(stderr=True)
    if not (steps and console.is_terminal):
        yield steps
        return
    done = TextColumn(
        f"{{task.completed}} of {len(steps)} {what}", table_column=Column(no_wrap=True)
    )
    with _bar(console, done) as progress:
        yield progress.track(steps, len(steps), progress.task_ids[0])


def _bar(console: Console, reached: ProgressColumn, *first: ProgressColumn) -> Bar:
    columns = (
        *first,
        BarColumn(bar_width=None),
        reached,
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    progress = Bar(*columns, console=console, transient=True, expand=True)
    progress.add_task("", total=None)
    return progress


def _teller(progress: Bar) -> Progress:
    def tell(simulated_s: float, total_s: float) -> None:
        progress.update(progress.task_ids[0], completed=simulated_s, total=total_s)

    return tell


def _line_teller() -> Progress:
    last_s = monotonic()

    def tell_now_and_then(simulated_s: float, total_s: float) -> None:
        nonlocal last_s
        if monotonic() - last_s >= _LINE_EACH_S:
            last_s = monotonic()
            tell(f"simulated {simulated_s:.0f} of {total_s:.0f} s")

    return tell_now_and_then


def _table(grid: Grid, between: str = " ± ") -> Table:
    """The table; `between` separates a mean from its interval, which may go below it."""
    table = Table(
        title=plain(grid.title),
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    columns = zip(*grid.rows, strict=True) if grid.rows else [()] * len(grid.headings)
    for heading, numeric, cells in zip(grid.headings, grid.numeric, columns, strict=True):
        words = [len(word) for cell in cells for word in cell.split()]
        table.add_column(
            Text(plain(heading)),
            justify="right" if numeric else "left",
            # A name that is cut could be that of another variant.
            overflow="fold",
            min_width=min(max(words, default=0), _LONGEST_WORD),
        )
    for row in grid.rows:
        table.add_row(*(Text(between.join(plain(cell).split(" ± "))) for cell in row))
    return table


class _Simulated(ProgressColumn):
    def render(self, task: Task) -> Text:
        reached = f"simulated {task.completed:.0f} of {task.total or 0:.0f} s"
        return Text(f"{reached}, {task.speed or 0:.0f} × real time")
