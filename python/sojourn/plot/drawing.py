"""Renders charts: inline in a page, or as files for a paper."""

from markupsafe import Markup

from ..base.lookup import look_up
from .charts.base import Chart
from .layout import picture_of
from .svg import inline, standalone

COLUMNS_IN = {1: 3.5, 2: 7.16}
"""Widths in inches of one and two columns in the IEEE paper format."""

FORMATS = ("pdf", "svg", "png")

_PAGE_IN = 4.6


def picture(chart: Chart, format: str, columns: int) -> bytes:
    """Renders a chart as a file, one or two paper columns wide.

    Raises `UnknownError` for unknown formats, and `MissingPackageError` for PDF and PNG without
    matplotlib. The same chart gives the same bytes.
    """
    look_up("format", format, FORMATS)
    drawn = picture_of(chart, 72 * COLUMNS_IN[columns])
    if format == "svg":
        return standalone(drawn)
    from .paper import file_of

    return file_of(drawn, format)


def inline_svg(chart: Chart, name: str) -> Markup:
    """Renders a chart as an SVG element of a page; see `inline` for `name`."""
    return inline(picture_of(chart, 72 * _PAGE_IN), name, chart.title, chart.caption)
