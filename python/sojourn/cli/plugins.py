"""What other installed packages add to the command line, by their entry points.

In the group `sojourn.commands` an entry point is a Typer application, whose name is that of the
command. In the group `sojourn.reports` it is a function from a directory to the page of its report,
and its name that of the file by which such directories are known.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import typer


def commands() -> Iterator[tuple[str, typer.Typer]]:
    """The names of commands, and the applications that they are, by name."""
    for point in sorted(entry_points(group="sojourn.commands"), key=lambda point: point.name):
        yield point.name, point.load()


def page_of(directory: Path) -> Callable[[Path], str] | None:
    """The function that makes the report of a directory, if it is of a known kind."""
    for point in entry_points(group="sojourn.reports"):
        if (directory / point.name).exists():
            page: Callable[[Path], str] = point.load()
            return page
    return None
