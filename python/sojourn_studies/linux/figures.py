"""The first 3 s: the queue of the kernel's upload and of ours, one over the other."""

import csv
from functools import cache
from io import StringIO

import numpy as np
from sojourn.analysis.distribution import Numbers

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber, Row, data, published
from .cases import CONTROLS, case
from .cells import case_name
from .measured import start_queue


@cache
def _kernel() -> dict[tuple[str, str], Numbers]:
    """By case and pacing the kernel's queue delay in ms, in bins of 100 ms."""
    lines = csv.DictReader(StringIO(data("published", "linux-start.csv")))
    return {
        (line["experiment"], line["scheme"]): np.array(line["values"].split(), dtype=float)
        for line in lines
        if line["metric"] == "qdelay"
    }


def _start(control: str) -> Figure:
    """All cases of a congestion control."""
    rows = {case_name(row): row for row in published("linux") if row.table == control}

    def draw(runs: Runs) -> Drawing:
        panels = {name: _plots(row, runs) for name, row in rows.items()}
        title = f"Queue delay of the first 3 s, {control}: rate, round trip, buffer"
        labels = ("time (s)", "queue delay (ms)")
        return drawing_of_panels(title, panels, 3, *labels, share_y=False)

    return Figure(draw, [case(row) for row in rows.values()])


def _plots(row: Row, runs: Runs) -> list[Plot]:
    time_s, ours = start_queue(row, runs[case(row).name])
    theirs = _kernel()[row.experiment, row.scheme]
    return [Plot("kernel", time_s, theirs), Plot("simulator", time_s, ours)]


FIGURES: dict[FigureNumber, Figure] = {f"start-{control}": _start(control) for control in CONTROLS}
