"""Renders charts: inline in a page, or as files for a paper."""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from math import ceil, log10
from textwrap import fill
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ..base.lookup import look_up
from .charts.base import LETTER_IN, Chart
from .palette import PALETTE
from .svg import blank

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import XAxis, YAxis
    from matplotlib.figure import Figure

COLUMNS_IN = {1: 3.5, 2: 7.16}
"""Widths in inches of one and two columns in the IEEE paper format."""

FORMATS = ("pdf", "svg", "png")

_PAGE_IN = 4.6
_LINE_IN = 0.13
_POINTS = 8.0
_EDGE_SHARE = 0.01
"""What stays free around everything."""
_MARGINS_AT_MOST = 0.8
"""Of a figure's width or height, even if labels do not fit."""
_AROUND_IN = 4.0
"""What labels above and below the axes get at most, however long they are."""
_MANY_ROWS = 12
"""With more rows, they are narrower."""
_DPI = 300

_GRID = "#b0b0b0"
_STYLE: Any = {
    "font.size": _POINTS,
    "axes.labelsize": _POINTS,
    "legend.fontsize": _POINTS,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.5,
    "grid.alpha": 0.6,
    "hatch.linewidth": 0.7,
    "legend.frameon": False,
    "legend.columnspacing": 1.2,
    "legend.handlelength": 2.4,
    "lines.solid_capstyle": "butt",
    # Users choose the names: a dollar sign is not a formula.
    "text.parse_math": False,
    "svg.hashsalt": "sojourn",
    # Embeds fonts, so that text stays text.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
}

# Colours of a file, and the CSS variables that replace them in a page for dark mode.
_THEME = {
    "#000000": "var(--text)",
    "#ffffff": "var(--ground)",
    _GRID: "var(--rule)",
    **{color.lower(): f"var(--c{index})" for index, color in enumerate(PALETTE)},
}


def picture(chart: Chart, format: str, columns: int) -> bytes:
    """Renders a chart as a file, one or two paper columns wide.

    Raises `UnknownError` for unknown formats. The same chart gives the same bytes.
    """
    look_up("format", format, FORMATS)
    dated: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}, "svg": {"Date": None}}
    with _style():
        return _saved(
            _drawn(chart, COLUMNS_IN[columns]), format, dpi=_DPI, metadata=dated.get(format)
        )


def inline_svg(chart: Chart, name: str) -> Markup:
    """Renders a chart as an SVG element of a page; see `themed` for `name`."""
    with _style({"svg.fonttype": "none"}):
        svg = _saved(_drawn(chart, _PAGE_IN), "svg", metadata={"Date": None}, transparent=True)
    return themed(svg, name, chart.title, chart.caption)


def themed(svg: bytes, name: str, title: str, caption: str = "") -> Markup:
    """Turns an SVG of matplotlib into an element of a page, with the colours of the page.

    `name` is the prefix of its identifiers and must be unique on the page.
    """
    text = svg[svg.index(b"<svg") :].decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", text)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda color: _THEME.get(color[0], color[0]), text)
    view = re.search(r'viewBox="[^"]*"', text)
    assert view
    head = (
        f'<svg {view[0]} role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-desc">{escape(caption)}</desc>'
    )
    return Markup(re.sub(r"^<svg[^>]*>", lambda _: head, text))


@contextmanager
def _style(more: Any = None) -> Iterator[None]:
    from matplotlib import rc_context

    with rc_context({**_STYLE, **(more or {})}), warnings.catch_warnings():
        # For glyphs missing in the font, browsers use another font; files show boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _drawn(chart: Chart, width_in: float) -> "Figure":
    columns = _legend_columns(chart, width_in)
    legend_in = 0.17 * ceil(len(chart.names) / columns) if chart.has_legend else 0.0
    # Row names are wrapped if they would take more than a third of the width.
    name_letters = int(width_in / 3 / LETTER_IN)
    rows = [fill(_joined_units(name), name_letters) for name in chart.rows]
    lines = max((row.count("\n") + 1 for row in rows), default=0)
    row_in = max(0.28, _LINE_IN * lines + 0.06)
    if len(rows) > _MANY_ROWS and lines == 1:
        row_in = 0.2
    rows_in = row_in * max(len(rows), 2)
    height_in = 0.6 + (rows_in if rows else min(0.55 * width_in, 2.6))
    figure, axes = blank((width_in, height_in + legend_in), layout=None)
    chart.draw(axes)
    if rows:
        axes.set_yticks(range(len(rows)), rows)
        # Browsers write the lines of a name from its left, and at 400 px with larger letters.
        axes.tick_params(axis="y", pad=10 if lines > 1 else 3.5)
    axes.set_xlabel(chart.x.label)
    if chart.has_row_title:
        _write_row_title(axes, fill(chart.y.label, name_letters))
    else:
        axes.set_ylabel(chart.y.label)
    if chart.x.log:
        axes.set_xscale("log")
        _log_ticks(axes.xaxis, axes.get_xlim())
    if chart.y.log:
        axes.set_yscale("log")
        _log_ticks(axes.yaxis, axes.get_ylim())
    above_in = _legend_in(figure, columns) if chart.has_legend else 0.0
    _fit(figure, axes, above_in)
    if chart.write_names(axes):
        _grow(figure, axes, above_in + rows_in)
        _fit(figure, axes, above_in)
    return figure


def _write_row_title(axes: "Axes", title: str) -> None:
    """Above the names of the rows, where it has room however few these are."""
    axes.annotate(
        title, (0, 1), (-14, 3), "axes fraction", "offset points", ha="right", va="bottom"
    )


def _joined_units(name: str) -> str:
    """A name whose numbers stay on a line with their units: the space between does not break."""
    return re.sub(r"(?<=\d) (?=[A-Za-z%]+\b)", "\u00a0", name)


def _legend_in(figure: "Figure", columns: int) -> float:
    """Draws the legend above the axes and returns its height in inches."""
    legend = figure.legend(loc="upper left", ncols=columns, borderaxespad=0.3)
    return legend.get_window_extent().height / figure.dpi


def _fit(figure: "Figure", axes: "Axes", above_in: float) -> None:
    """Makes room for all labels of the axes and for what is above them.

    It measures them once. The constrained layout of matplotlib measures twice, and then the figure
    is drawn twice.
    """
    inner, outer = axes.get_window_extent(), axes.get_tightbbox()
    assert outer
    width_in, height_in = figure.get_size_inches()
    left, right = _margins(inner.x0 - outer.x0, outer.x1 - inner.x1, width_in * figure.dpi)
    above_px = outer.y1 - inner.y1 + above_in * figure.dpi
    bottom, top = _margins(inner.y0 - outer.y0, above_px, height_in * figure.dpi)
    figure.subplots_adjust(left=left, bottom=bottom, right=1 - right, top=1 - top)


def _grow(figure: "Figure", axes: "Axes", needed_in: float) -> None:
    """Makes the figure higher if long names below the axes would leave less than is needed."""
    outer = axes.get_tightbbox()
    assert outer
    around_in = min(_AROUND_IN, (outer.height - axes.get_window_extent().height) / figure.dpi)
    figure.set_figheight(max(figure.get_figheight(), around_in + needed_in))


def _margins(before_px: float, after_px: float, whole_px: float) -> tuple[float, float]:
    """Two margins as shares of the whole, of which something remains between them."""
    shares = [px / whole_px + _EDGE_SHARE for px in (before_px, after_px)]
    scale = min(1.0, _MARGINS_AT_MOST / sum(shares))
    return shares[0] * scale, shares[1] * scale


def _log_ticks(axis: "XAxis | YAxis", limits: tuple[float, float]) -> None:
    """Ticks at powers of ten; at 2 and 5 too, and at no others, if there are few."""
    from matplotlib.ticker import LogLocator, NullLocator

    are_many = abs(log10(limits[1] / limits[0])) > 2.2
    axis.set_major_locator(LogLocator(subs=(1.0,) if are_many else (1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter("")
    if not are_many:
        axis.set_minor_locator(NullLocator())


def _legend_columns(chart: Chart, width_in: float) -> int:
    """The number of legend columns that fit."""
    if not chart.names:
        return 1
    # A letter is at most 0.66 of its height wide; a handle and its gaps take 5 letters.
    name_in = (max(map(len, chart.names)) * 0.66 + 5) * _POINTS / 72
    return max(1, min(len(chart.names), int(width_in / name_in)))


def _saved(figure: "Figure", format: str, **options: Any) -> bytes:
    content = BytesIO()
    figure.savefig(content, format=format, **options)
    return content.getvalue()
