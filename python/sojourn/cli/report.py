"""The command `sojourn report`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Directory
from .say import say


def report(
    directory: Directory,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write; default: DIR/report.html.")
    ] = None,
) -> None:
    """Write the report of stored results as one HTML file.

    The file opens offline and loads nothing.
    """
    from ..base.files import write_file
    from ..store.store import REPORT

    path = out or directory / REPORT
    write_file(path, _page(directory).encode())
    say(f"report: {path}")


def _page(directory: Path) -> str:
    """The page of a plug-in that claims the directory, or else the report of its runs."""
    from ..report.html import report_of
    from ..store.read import read_results
    from .plugins import page_of

    page = page_of(directory)
    return report_of(read_results(directory)) if page is None else page(directory)
