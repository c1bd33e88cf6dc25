"""A figure that holds the simulator against arithmetic or published values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sojourn.analysis.distribution import Numbers
from sojourn.plot.palette import PALETTE
from sojourn.plot.paper import blank, to_svg

from ..framework.drawing import Drawing

_SIZE_IN = (4.8, 3.6)
"""So that letters can be read where the figure is as wide as a phone."""
_MARKERS = "os^Dv"
_DOTS_APART = 0.03
"""Least distance of dots, in diagonals of the axes; more would hide the line."""


@dataclass(frozen=True)
class Series:
    """What is expected at each x, and what the simulator gave."""

    name: str
    x: Numbers
    expected: Numbers
    simulated: Numbers


def compare(title: str, expected: str, series: Sequence[Series], **axes: Any) -> Drawing:
    """Draws what is expected as lines and what was simulated as dots.

    `expected` names where the lines come from; `axes` are matplotlib's labels, scales and limits.
    """
    figure, canvas = blank(_SIZE_IN)
    handles: list[Any] = []  # of pairs, which matplotlib draws on top of each other
    for index, one in enumerate(series):
        style: dict[str, Any] = {"color": PALETTE[index], "zorder": 2 + index}
        (line,) = canvas.plot(one.x, one.expected, lw=1.4, **style)
        (dots,) = canvas.plot(
            one.x,
            one.simulated,
            linestyle="",
            marker=_MARKERS[index],
            markersize=4.5,
            markerfacecolor="white",
            markevery=_DOTS_APART if len(one.x) > 40 else None,
            **style,
        )
        handles.append((line, dots))
    canvas.set(**axes)
    canvas.xaxis.set_major_formatter("{x:g}")
    canvas.grid(alpha=0.3)
    figure.legend(
        handles,
        [one.name for one in series],
        title=f"lines: {expected}; marks: simulated",
        loc="outside upper center",
        ncols=min(len(series), 3),
        frameon=False,
    )
    return Drawing(title, to_svg(figure), ("series", "x", "expected", "simulated"), _rows(series))


@dataclass(frozen=True)
class Curve:
    """What the simulator gave at each x, or what is expected: dashed, and without marks."""

    name: str
    x: Numbers
    y: Numbers
    is_expected: bool = False


def curves(title: str, curves: Sequence[Curve], marks: bool = True, **axes: Any) -> Drawing:
    """Draws curves beside each other, for managers that do differently by design."""
    figure, canvas = blank(_SIZE_IN)
    for index, one in enumerate(curves):
        style: dict[str, Any] = {"color": PALETTE[index], "lw": 1.4, "label": one.name}
        if one.is_expected:
            style["linestyle"] = "--"
        elif marks:
            style |= {"marker": _MARKERS[index], "markersize": 4.5, "markerfacecolor": "white"}
        canvas.plot(one.x, one.y, **style)
    canvas.set(**axes)
    canvas.grid(alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    rows = [
        (one.name, float(x), float(y)) for one in curves for x, y in zip(one.x, one.y, strict=True)
    ]
    return Drawing(title, to_svg(figure), ("series", "x", "y"), rows)


def _rows(series: Sequence[Series]) -> list[tuple[str, float, float, float]]:
    return [
        (one.name, float(x), float(expected), float(simulated))
        for one in series
        for x, expected, simulated in zip(one.x, one.expected, one.simulated, strict=True)
    ]


def numbers(values: ArrayLike) -> Numbers:
    """Values as an array."""
    return np.asarray(values, dtype=np.float64)
