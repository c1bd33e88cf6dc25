"""Rate ratios, delays and signals of the rows with mixed round trips: published and simulated."""

import numpy as np

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Case, Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber, Row, published
from .cells import cases_of, value_of

_PANELS = {
    "rate ratio": ("rate_ratio", "both"),
    "mean delay of L (ms)": ("delay_mean", "low"),
    "p99 of L (ms)": ("delay_p99", "low"),
    "mean delay of C (ms)": ("delay_mean", "classic"),
    "marks of L (%)": ("marks", "low"),
    "drops of C (%)": ("drop_rate", "classic"),
}


def _rows(metric: str, flow: str) -> list[Row]:
    """Those under DualPI2 with two flows, by the round trip of the classic one."""
    return [
        row
        for row in published("l4s")
        if (row.table, row.scheme, row.metric, row.flow) == ("mixed", "dualpi2", metric, flow)
        and "alone" not in row.experiment
    ]


def _plots(rows: list[Row], low_ms: str, runs: Runs) -> list[Plot]:
    here = [row for row in rows if row.experiment.startswith(f"{low_ms}-")]
    classic_ms = np.array([float(row.experiment.split("-")[1]) for row in here])
    theirs = np.array([float(row.published) for row in here])
    ours = np.array([value_of(row, runs) for row in here], dtype=float)
    return [
        Plot(f"published, L {low_ms} ms", classic_ms, theirs),
        Plot(f"simulator, L {low_ms} ms", classic_ms, ours),
    ]


def _mixed(runs: Runs) -> Drawing:
    panels = {
        name: [plot for low_ms in ("5", "100") for plot in _plots(_rows(*what), low_ms, runs)]
        for name, what in _PANELS.items()
    }
    title = "DualPI2, one Prague and one CUBIC flow at 40 Mbps"
    return drawing_of_panels(title, panels, 3, "round trip of C (ms)", "", share_y=False)


def _cases() -> list[Case]:
    return [case for what in _PANELS.values() for row in _rows(*what) for case in cases_of(row)]


FIGURES: dict[FigureNumber, Figure] = {"mixed": Figure(_mixed, _cases())}
