"""Drawing for paper: one axes, one line or set of dots per series."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..report.curves import PALETTE, Numbers
from ..report.svg import blank, to_svg


@dataclass(frozen=True)
class Plot:
    """A series of an axes: a line, or `dots`."""

    name: str
    x: Numbers
    y: Numbers
    dots: bool = False


def svg(plots: Sequence[Plot], **axes: Any) -> bytes:
    """The picture of some series; `axes` are matplotlib's: labels, scales, limits."""
    figure, canvas = blank()
    for index, plot in enumerate(plots):
        style = {"marker": "o", "linestyle": "", "markersize": 4} if plot.dots else {"lw": 1.2}
        color = PALETTE[index % len(PALETTE)]
        canvas.plot(plot.x, plot.y, label=plot.name, color=color, **style)
    canvas.set(**axes)
    canvas.grid(alpha=0.3)
    if len(plots) > 1:
        figure.legend(loc="outside upper center", ncols=min(len(plots), 4), frameon=False)
    return to_svg(figure)
