"""The command `sojourn report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from .options import Directories
from .say import say


def report(
    directories: Directories,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write; default: DIR/report.html.")
    ] = None,
) -> None:
    """Write the report of stored results as one HTML file.

    The file opens offline and loads nothing. Several directories are put side by side in one
    report; --out must then name its file.
    """
    from ..base.files import write_file
    from ..store.store import REPORT

    if len(directories) > 1 and out is None:
        raise typer.BadParameter(
            "--out: missing; several directories have no common place for a report"
        )
    path = out or directories[0] / REPORT
    write_file(path, _page(directories).encode())
    say(f"report: {path}")


def _page(directories: Sequence[Path]) -> str:
    """The page of a plug-in that claims the directory, or else the report of the runs."""
    from ..report.html import report_of
    from ..store.read import read_results, side_by_side
    from .plugins import page_of

    if len(directories) > 1:
        return report_of(side_by_side(directories))
    page = page_of(directories[0])
    return report_of(read_results(directories[0])) if page is None else page(directories[0])
