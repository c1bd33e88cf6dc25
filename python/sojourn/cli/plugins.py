"""Plug-ins: what other installed packages add to the command line with entry points.

An entry point in the group `sojourn.commands` is a Typer application and has the name of the
command. One in the group `sojourn.reports` is a function from a directory to the page of its
report; its name is that of the file that marks such directories.
"""

from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path

import typer


def commands() -> Iterator[tuple[str, typer.Typer]]:
    """Names of added commands with their Typer applications, in order of name."""
    for point in sorted(entry_points(group="sojourn.commands"), key=lambda point: point.name):
        yield point.name, point.load()


def page_of(directory: Path) -> Callable[[Path], str] | None:
    """The function that renders the report of a directory, if a plug-in claims it."""
    for point in entry_points(group="sojourn.reports"):
        if (directory / point.name).exists():
            page: Callable[[Path], str] = point.load()
            return page
    return None
