"""Measured quantiles and what each scheme predicts, a panel a condition and way."""

import math
from collections.abc import Sequence

import numpy as np

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber, Row, published
from .cells import cases_of, first_half, value_of

Points = list[tuple[Row, float | None]]
"""Values of cells."""

_NAME = "quantiles"
_SCHEMES = {"fitted": "fitted", "jitter": "fitted", "default": "default"}
"""What is drawn, by the scheme's curve: with jitter on the path it is the fitted line too."""


def _rows() -> Sequence[Row]:
    rows = [row for row in published("lines") if row.metric.startswith("p")]
    return [row for row in rows if row.scheme in _SCHEMES]


def _draw(runs: Runs) -> Drawing:
    rows = _rows()
    places = dict.fromkeys((row.table, row.experiment) for row in rows)
    panels = {f"{table}, {way}": _plots(table, way, runs) for table, way in places}
    labels = ("percentile", "delay less the median (ms)")
    title = "Delay of probes on a cable line: measured, and as predicted"
    return drawing_of_panels(title, panels, 2, *labels, share_y=False)


def _plots(table: str, way: str, runs: Runs) -> list[Plot]:
    curves: dict[str, list[Row]] = {}
    for row in _rows():
        if (row.table, row.experiment) == (table, way):
            curves.setdefault(_SCHEMES[row.scheme], []).append(row)
    rows = curves["fitted"]
    measured: Points = [(row, float(row.published)) for row in rows]
    other: Points = [(row, first_half()[table, way, row.metric]) for row in rows]
    predicted: dict[str, Points] = {
        name: [(row, value_of(row, runs)) for row in of] for name, of in curves.items()
    }
    return [
        Plot(name, *np.array([_point(*each) for each in of]).T)
        for name, of in {"measured": measured, "other half": other, **predicted}.items()
    ]


def _point(row: Row, value: float | None) -> tuple[float, float]:
    return float(row.metric.removeprefix("p")), math.nan if value is None else value


FIGURES: dict[FigureNumber, Figure] = {
    _NAME: Figure(_draw, [case for row in _rows() for case in cases_of(row)])
}
PICTURES: dict[FigureNumber, str] = {
    _NAME: "Percentiles of delay, measured and as each scheme predicts them"
}
