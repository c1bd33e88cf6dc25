"""Measured quantiles and what each scheme predicts, a panel a condition and way."""

from collections.abc import Sequence

import numpy as np

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber, Row, published
from .cells import cases_of, value_of

_NAME = "quantiles"


def _rows() -> Sequence[Row]:
    return [row for row in published("lines") if row.metric.startswith("p")]


def _draw(runs: Runs) -> Drawing:
    panels: dict[str, list[Plot]] = {}
    rows = _rows()
    for table, experiment in dict.fromkeys((row.table, row.experiment) for row in rows):
        here = [row for row in rows if (row.table, row.experiment) == (table, experiment)]
        schemes = list(dict.fromkeys(row.scheme for row in here))
        first = [row for row in here if row.scheme == schemes[0]]
        percents = np.array([int(row.metric.removeprefix("p")) for row in first], dtype=float)
        plots = [Plot("measured", np.array([float(row.published) for row in first]), percents)]
        for scheme in schemes:
            values = [value_of(row, runs) for row in here if row.scheme == scheme]
            ours = np.array([np.nan if value is None else value for value in values])
            plots.append(Plot(scheme, ours, percents))
        panels[f"{table}, {experiment}"] = plots
    labels = ("delay less the median (ms)", "percentile")
    title = "Delay of probes on a cable line: measured, and as predicted"
    return drawing_of_panels(title, panels, 2, *labels)


FIGURES: dict[FigureNumber, Figure] = {
    _NAME: Figure(_draw, [case for row in _rows() for case in cases_of(row)])
}
PICTURES: dict[FigureNumber, str] = {
    _NAME: "Percentiles of delay, measured and as each scheme predicts them"
}
