"""The command `sojourn plot`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Directory
from .say import say


def plot(
    directory: Directory,
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="cdf, ccdf, timeseries, box, ellipse, heatmap, sweep, interval, drops or delay.",
        ),
    ],
    out: Annotated[Path, typer.Option(metavar="FILE", help="File to write: .pdf, .svg or .png.")],
    columns: Annotated[
        int,
        typer.Option(
            metavar="N", min=1, max=2, help="Width in columns of a paper: 3.5 or 7.16 in."
        ),
    ] = 1,
    metric: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Metric to draw; each kind has a default."),
    ] = None,
    traffic: Annotated[
        list[str] | None,
        typer.Option(metavar="ENTRY", help="Draw only this traffic entry or queue; repeatable."),
    ] = None,
    variant: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Draw only this variant; repeatable.")
    ] = None,
    title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title above the figure; default: none.")
    ] = None,
    xlabel: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Label of the horizontal axis.")
    ] = None,
    ylabel: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Label of the vertical axis.")
    ] = None,
    legend_title: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Title of the legend; default: none.")
    ] = None,
    bands: Annotated[
        bool,
        typer.Option(
            "--bands/--no-bands",
            help="Show the 95 % interval over seeds around lines, where there are several seeds.",
        ),
    ] = True,
) -> None:
    """Draw a figure of stored results for a paper.

    Fonts are embedded, and the colours suit colour-blind readers.
    """
    from ..base.files import write_file
    from ..base.lookup import UnknownError
    from ..plot.drawing import FORMATS, picture
    from ..plot.figures.by_kind import chart
    from ..store.read import read_results

    form = out.suffix.removeprefix(".")
    if form not in FORMATS:
        allowed = ", ".join(f".{form}" for form in FORMATS)
        raise UnknownError(f"--out: found {out.name!r}; allowed: a name that ends in {allowed}")
    results = read_results(directory).only(variant or [])
    drawn = chart(results, kind, metric, traffic or [], bands=bands).with_texts(
        title=title, x=xlabel, y=ylabel, legend=legend_title
    )
    write_file(out, picture(drawn, form, columns))
    say(f"figure: {out}")
