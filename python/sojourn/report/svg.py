"""Pictures as SVG, the same bytes each time; and the latency figure for a README or a paper."""

import logging
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING

from ..api import Result
from ..summary import flows_of
from .curves import PALETTE, Curve, judged_by_latency, latency_cdfs

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE_IN = (7.0, 4.0)


def blank(size_in: tuple[float, float] = _SIZE_IN) -> tuple["Figure", "Axes"]:
    """An empty figure of one axes, width and height in inches."""
    # The first time it builds a cache of fonts, which it would tell on stderr.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_in, layout="constrained")
    return figure, figure.subplots()


def to_svg(figure: "Figure") -> bytes:
    """The figure as SVG, without date and random names."""
    from matplotlib import rc_context

    svg = BytesIO()
    with rc_context({"svg.hashsalt": "sojourn"}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return svg.getvalue()


def latency_cdf_svg(runs: Mapping[str, Result]) -> bytes | None:
    """The distribution of one-way latency, a line per variant; nothing if no packet got through."""
    quality = judged_by_latency(runs)
    curves = latency_cdfs(runs, flows_of(quality))
    return _drawn(curves, quality) if curves else None


def _drawn(curves: Sequence[Curve], quality: str) -> bytes:
    figure, axes = blank()
    for index, curve in enumerate(curves):
        color = PALETTE[index % len(PALETTE)]
        axes.step(curve.x, curve.y, where="post", label=curve.name, color=color)
    axes.set(xscale="log", xlabel=f"one-way latency of {quality} packets (ms)")
    axes.set(ylim=(0, 100.5), ylabel="packets (%)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(alpha=0.3, which="both")
    figure.legend(loc="outside upper center", ncols=min(len(curves), 5), frameon=False)
    return to_svg(figure)
