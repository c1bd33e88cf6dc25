"""The latency figure for a README or a paper."""

import logging
from collections.abc import Mapping, Sequence
from io import BytesIO

from ..api import Result
from ..summary import flows_of
from .curves import PALETTE, Curve, judged_by_latency, latency_cdfs


def latency_cdf_svg(runs: Mapping[str, Result]) -> bytes | None:
    """The distribution of one-way latency, a line per variant; nothing if no packet got through."""
    quality = judged_by_latency(runs)
    curves = latency_cdfs(runs, flows_of(quality))
    return _drawn(curves, quality) if curves else None


def _drawn(curves: Sequence[Curve], quality: str) -> bytes:
    # The first time it builds a cache of fonts, which it would tell on stderr.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for index, curve in enumerate(curves):
        color = PALETTE[index % len(PALETTE)]
        axes.step(curve.x, curve.y, where="post", label=curve.name, color=color)
    axes.set(xscale="log", xlabel=f"one-way latency of {quality} packets (ms)")
    axes.set(ylim=(0, 100.5), ylabel="packets (%)")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.grid(alpha=0.3, which="both")
    figure.legend(loc="outside upper center", ncols=min(len(curves), 5), frameon=False)
    svg = BytesIO()
    with rc_context({"svg.hashsalt": "sojourn"}):
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return svg.getvalue()
