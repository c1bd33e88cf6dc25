"""The command `sojourn report`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Directory


def report(
    directory: Directory,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; default: DIR/report.html.")
    ] = None,
) -> None:
    """Write the report of stored results: one HTML file that needs nothing else."""
    from ..base.files import write_file
    from ..store.store import REPORT

    path = out or directory / REPORT
    write_file(path, _page(directory).encode())
    typer.echo(f"report: {path}")


def _page(directory: Path) -> str:
    """The page of a package that knows such directories, or else that of the runs in it."""
    from ..report.html import report_of
    from ..store.read import read_results
    from .plugins import page_of

    page = page_of(directory)
    return report_of(read_results(directory)) if page is None else page(directory)
