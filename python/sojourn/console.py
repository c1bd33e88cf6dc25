"""What is shown in a terminal."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from .api import Result
from .runner import Progress as Tell
from .summary import Grid, summary_grids

_WIDTH_OF_FILES = 120


def print_summary(runs: Mapping[str, Result]) -> None:
    """Prints the summary tables, and what to know before trusting them, to stdout."""
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _WIDTH_OF_FILES
    for grid in summary_grids(runs):
        console.print(_table(grid))
    for name, result in runs.items():
        for warning in result.meta["warnings"]:
            console.print(Text(f"warning: {name + ': ' if name else ''}{warning}"), soft_wrap=True)


@contextmanager
def progress_bar() -> Iterator[Tell | None]:
    """A bar on stderr while in the context; nothing if stderr is not a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (
        BarColumn(bar_width=None),
        _Simulated(Column(no_wrap=True)),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, expand=True) as progress:
        task = progress.add_task("", total=None)

        def tell(simulated_s: float, total_s: float) -> None:
            progress.update(task, completed=simulated_s, total=total_s)

        yield tell


def _table(grid: Grid) -> Table:
    table = Table(
        title=grid.title,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        collapse_padding=True,
    )
    for heading, numeric in zip(grid.headings, grid.numeric, strict=True):
        table.add_column(Text(heading), justify="right" if numeric else "left")
    for row in grid.rows:
        table.add_row(*map(Text, row))
    return table


class _Simulated(ProgressColumn):
    def render(self, task: Task) -> Text:
        reached = f"simulated {task.completed:.0f} of {task.total or 0:.0f} s"
        return Text(f"{reached}, {task.speed or 0:.0f} × real time")
