"""Plug-ins: what other installed packages add to the command line with entry points.

An entry point in the group `sojourn.commands` is a Typer application and has the name of the
command. One in the group `sojourn.reports` is a function from a directory to the page of its
report; its name is that of the file that marks such directories. One in the group `sojourn.files`
is likewise a function from a store to the files that are computed from its runs.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import typer


def commands() -> Iterator[tuple[str, typer.Typer]]:
    """Names of added commands with their Typer applications, in order of name."""
    for point in sorted(entry_points(group="sojourn.commands"), key=lambda point: point.name):
        yield point.name, point.load()


def page_of(directory: Path) -> Callable[[Path], str] | None:
    """The function that renders the report of a directory, if a plug-in claims it."""
    page: Callable[[Path], str] | None = _claiming("sojourn.reports", directory)
    return page


def files_of(directory: Path) -> Mapping[str, bytes]:
    """What a plug-in computes from the runs of a store, to be kept beside them."""
    files: Callable[[Path], Mapping[str, bytes]] | None = _claiming("sojourn.files", directory)
    return files(directory) if files else {}


def _claiming(group: str, directory: Path) -> Any:
    """The function of a group whose name is that of a file in the directory."""
    for point in entry_points(group=group):
        if (directory / point.name).exists():
            return point.load()
    return None
