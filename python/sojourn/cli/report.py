"""The command `sojourn report`."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .fail_below import FailBelow, Of, check_limits, read_limits
from .options import Directories, Parts, option
from .say import say

if TYPE_CHECKING:
    from ..analysis.groups import Results


def report(
    directories: Directories,
    out: Annotated[Path | None, option("FILE", "File to write; default: DIR/report.html.")] = None,
    fail_below: FailBelow = None,
    of: Of = None,
    part: Parts = None,
) -> None:
    """Write the report of stored results as one HTML file.

    The file opens offline and loads nothing. Several directories are put side by side in one
    report; --out must then name its file. A study that was run with --law needs its --part again.

    With --fail-below the exit status is 1 if a grade or a measure of any setting but an idle line
    is below that limit, or missing. With --of only that setting has to reach it.
    """
    from ..base.files import write_file
    from ..store.store import REPORT

    if len(directories) > 1 and out is None:
        raise typer.BadParameter(
            "--out: missing; several directories have no common place for a report"
        )
    limits = read_limits(fail_below, of)
    path = out or directories[0] / REPORT
    write_file(path, _page(directories).encode())
    say(f"report: {path}")
    if limits:
        check_limits(_results(directories), limits, of)


def _page(directories: Sequence[Path]) -> str:
    """The page of a plug-in that claims the directory, or else the report of the runs."""
    from ..report.html import report_of
    from .plugins import page_of

    page = page_of(directories[0]) if len(directories) == 1 else None
    return report_of(_results(directories)) if page is None else page(directories[0])


def _results(directories: Sequence[Path]) -> "Results":
    from ..store.read import read_results, side_by_side

    return side_by_side(directories) if len(directories) > 1 else read_results(directories[0])
