"""Reproducible SVG figures."""

import logging
import re
import warnings
from io import BytesIO
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_IN = (7.0, 4.0)
_CONTROLS = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")


def blank(
    size_in: tuple[float, float] = _SIZE_IN, layout: Literal["constrained"] | None = "constrained"
) -> tuple["Figure", "Axes"]:
    """An empty figure with one axes; the size is in inches, `layout` is that of matplotlib."""
    # On first use matplotlib builds a font cache and reports it on stderr.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_in, layout=layout)
    return figure, figure.subplots()


def to_svg(figure: "Figure") -> bytes:
    """The figure as SVG, without a date or random identifiers."""
    from matplotlib import rc_context

    svg = BytesIO()
    with rc_context({"svg.hashsalt": "sojourn"}), warnings.catch_warnings():
        # No font has pictures of control characters; a browser draws them.
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing", UserWarning)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return shown_controls(svg.getvalue())


def shown_controls(svg: bytes) -> bytes:
    """The SVG with pictures of control characters (U+2400 and on) in their place: XML has none."""
    return _CONTROLS.sub(lambda found: chr(0x2400 + found[0][0]).encode(), svg)
