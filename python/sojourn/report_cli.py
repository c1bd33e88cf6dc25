"""The commands that show results: `sojourn report` and `sojourn plot`."""

from pathlib import Path
from typing import Annotated

import typer

# Modules of this package are imported where they are used, so that help is shown at once.

Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="What run --out, sweep or study run wrote.")
]


def report(
    directory: Directory,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to; default: DIR/report.html.")
    ] = None,
) -> None:
    """Write the report of stored results: one HTML file that needs nothing else."""
    from .reading import read_results
    from .report import report_of
    from .store import PLAN, REPORT
    from .writing import write_file

    if (directory / PLAN).exists():
        from .studies.report import report_html
        from .studies.running import read

        page = report_html(read(directory))
    else:
        page = report_of(read_results(directory))
    path = out or directory / REPORT
    write_file(path, page.encode())
    typer.echo(f"report: {path}")


def plot(
    directory: Directory,
    kind: Annotated[
        str,
        typer.Option(help="cdf, ccdf, timeseries, box, ellipse, heatmap, drops or delay."),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where to: .pdf, .svg or .png.")],
    columns: Annotated[
        int, typer.Option(min=1, max=2, help="Columns of a paper that it spans: 3.5 or 7.16 in.")
    ] = 1,
    metric: Annotated[str | None, typer.Option(help="What is drawn, if not the usual.")] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option(metavar="ENTRY", help="Only this traffic or queue; may be repeated."),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
) -> None:
    """Draw a figure of stored results for a paper: vectors, embedded letters, safe colours."""
    from .known import known
    from .reading import read_results
    from .report.drawing import FORMATS, picture
    from .report.figures import chart
    from .writing import write_file

    suffix = known("suffix of --out", out.suffix.removeprefix("."), FORMATS)
    results = read_results(directory).only(variant or [])
    drawn = chart(results, kind, metric, traffic or [])
    write_file(out, picture(drawn, suffix, columns))
