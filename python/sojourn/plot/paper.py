"""Drawing with matplotlib: pictures as files for papers, and figures of studies."""

import logging
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from markupsafe import Markup

from ..base.optional import required
from .shapes import Marks, Path, Picture, Text
from .svg import OUTLINES, THEME, head_of, shown_controls

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_IN = (7.0, 4.0)
_DPI = 300
_STYLE: Any = {
    "hatch.linewidth": 0.7,
    "lines.solid_capstyle": "butt",
    # Users choose the names: a dollar sign is not a formula.
    "text.parse_math": False,
    # Embeds fonts, so that text stays text.
    "pdf.fonttype": 42,
    "svg.hashsalt": "sojourn",
}


def require_matplotlib(what: str) -> None:
    """Raises `MissingPackageError` without matplotlib, which `what` needs."""
    required("matplotlib", what, '"sojourn[plot]"')


def blank(
    size_in: tuple[float, float] = _SIZE_IN, layout: Literal["constrained"] | None = "constrained"
) -> tuple["Figure", "Axes"]:
    """An empty figure with one axes; the size is in inches, `layout` is that of matplotlib.

    Raises `MissingPackageError` without matplotlib.
    """
    require_matplotlib("figures of studies")
    figure = _figure(size_in, layout)
    return figure, figure.subplots()


def to_svg(figure: "Figure") -> bytes:
    """The figure as SVG, without a date or random identifiers."""
    with _style({"svg.hashsalt": "sojourn"}):
        return shown_controls(_saved(figure, "svg", metadata={"Date": None}).decode()).encode()


def file_of(picture: Picture, format: str) -> bytes:
    """A picture as a file of this format. The same picture gives the same bytes.

    Raises `MissingPackageError` without matplotlib.
    """
    require_matplotlib(f"pictures as {format.upper()}")
    with _style(_STYLE):
        figure = _figure((picture.width_pt / 72, picture.height_pt / 72), None)
        for artist in _artists(picture, figure):
            figure.add_artist(artist)
        dated: dict[str, dict[str, Any]] = {"pdf": {"CreationDate": None}}
        return _saved(figure, format, dpi=_DPI, metadata=dated.get(format))


def themed(svg: bytes, name: str, title: str, caption: str = "") -> Markup:
    """Turns an SVG of matplotlib into an element of a page, with the colours of the page.

    `name` is the prefix of its identifiers and must be unique on the page.
    """
    text = svg[svg.index(b"<svg") :].decode()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"\s*\n\s*", "\n", text)
    text = re.sub(r'(\bid="|url\(#|xlink:href="#)', rf"\g<1>{name}-", text)
    text = re.sub(r"#[0-9a-f]{6}\b", lambda color: THEME.get(color[0], color[0]), text)
    view = re.search(r'viewBox="[^"]*"', text)
    assert view
    return Markup(re.sub(r"^<svg[^>]*>", lambda _: head_of(view[0], name, title, caption), text))


@contextmanager
def _style(style: Any) -> Iterator[None]:
    from matplotlib import rc_context

    with rc_context(style), warnings.catch_warnings():
        # For glyphs missing in the font, browsers use another font; files show boxes.
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def _figure(size_in: tuple[float, float], layout: Literal["constrained"] | None) -> "Figure":
    # On first use matplotlib builds a font cache and reports it on stderr.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    return Figure(figsize=size_in, layout=layout)


def _artists(picture: Picture, figure: "Figure") -> Iterator["Artist"]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path as Outline
    from matplotlib.text import Text as Words
    from matplotlib.transforms import Affine2D

    upwards = Affine2D().translate(0, -picture.height_pt).scale(1 / 72, -1 / 72)
    transform = upwards + figure.dpi_scale_trans
    for order, shape in enumerate(picture.shapes):
        look: Any = {"transform": transform, "alpha": shape.opacity, "zorder": order}
        match shape:
            case Path() if shape.is_area:
                points = np.column_stack((shape.x, shape.y))
                starts = np.isnan(np.vstack(([[np.nan, np.nan]], points[:-1]))).any(axis=1)
                codes = np.where(starts, Outline.MOVETO, Outline.LINETO)
                there = ~np.isnan(points).any(axis=1)
                yield PathPatch(
                    Outline(points[there], codes[there]),
                    facecolor=shape.fill or "none",
                    edgecolor=shape.color,
                    hatch=shape.hatch * 4,
                    linewidth=shape.width,
                    **look,
                )
            case Path():
                dash = (0, tuple(shape.dash)) if shape.dash else "-"
                yield Line2D(shape.x, shape.y, lw=shape.width, ls=dash, color=shape.color, **look)
            case Marks():
                corners = OUTLINES.get(shape.mark)
                yield Line2D(
                    shape.x,
                    shape.y,
                    ls="none",
                    marker=Outline([*corners, corners[0]]) if corners else shape.mark,
                    ms=shape.size,
                    color=shape.color,
                    mec=shape.color if shape.mark == "x" else "none",
                    **look,
                )
            case Text():
                yield Words(
                    shape.x[0],
                    shape.y[0],
                    shown_controls(shape.text),
                    fontsize=shape.size,
                    fontweight="bold" if shape.is_bold else "normal",
                    color=shape.color,
                    ha={"start": "left", "middle": "center", "end": "right"}[shape.anchor],
                    va="center_baseline",
                    rotation=90 if shape.is_turned else 0,
                    rotation_mode="anchor",
                    **look,
                )


def _saved(figure: "Figure", format: str, **options: Any) -> bytes:
    content = BytesIO()
    figure.savefig(content, format=format, **options)
    return content.getvalue()
