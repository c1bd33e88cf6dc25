"""The command `sojourn plot`."""

from pathlib import Path
from typing import Annotated

from .options import Directory, flag, option
from .say import say


def plot(
    directory: Directory,
    kind: Annotated[
        str,
        option(
            "KIND", "cdf, ccdf, timeseries, box, ellipse, heatmap, sweep, interval, drops or delay."
        ),
    ],
    out: Annotated[Path, option("FILE", "File to write: .pdf, .svg or .png.")],
    columns: Annotated[
        int, option("N", "Width in columns of a paper: 3.5 or 7.16 in.", min=1, max=2)
    ] = 1,
    metric: Annotated[
        str | None, option("NAME", "Metric to draw; each kind has a default.")
    ] = None,
    traffic: Annotated[
        list[str] | None, option("ENTRY", "Draw only this traffic entry or queue; repeatable.")
    ] = None,
    variant: Annotated[
        list[str] | None, option("NAME", "Draw only this variant; repeatable.")
    ] = None,
    title: Annotated[str | None, option("TEXT", "Title above the figure; default: none.")] = None,
    xlabel: Annotated[str | None, option("TEXT", "Label of the horizontal axis.")] = None,
    ylabel: Annotated[str | None, option("TEXT", "Label of the vertical axis.")] = None,
    legend_title: Annotated[
        str | None, option("TEXT", "Title of the legend; default: none.")
    ] = None,
    bands: Annotated[
        bool,
        flag(
            "--bands/--no-bands",
            "Show the 95 % interval over seeds around lines, where there are several seeds.",
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
