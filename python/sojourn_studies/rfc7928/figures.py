"""The graph of section 2.7: goodput over delay, which falls to the right, an ellipse a manager."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sojourn.analysis.distribution import Numbers
from sojourn.store.stored_run import StoredRun

from ..framework.canvas import Plot, svg_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from .cases import case
from .cells import completion_s, goodput_mbps
from .managers import LINKS, MANAGERS
from .scenarios import OBJECT_BYTES, RTT_MS, SCENARIOS

EXPERIMENT = "mix"
CLASSES = {"bulk TCP": "bulk", "pages": "page", "CBR": "cbr", "video": "video"}
"""Traffic classes, by what the names of their entries begin with."""

_CORNERS = 20


@dataclass(frozen=True)
class Cloud:
    """Delay and goodput of a class, a row a seed."""

    points: Numbers

    @property
    def mean(self) -> Numbers:
        """Their centre."""
        return np.asarray(self.points.mean(axis=0))

    @property
    def covariance(self) -> Numbers:
        """How they vary together; nothing of a single seed."""
        if len(self.points) < 2:
            return np.zeros((2, 2))
        return np.cov(self.points, rowvar=False)

    @property
    def ellipse(self) -> Numbers:
        """The centre, a gap, and the contour at one standard deviation."""
        sizes, axes = np.linalg.eigh(self.covariance)
        turns = np.linspace(0, 2 * np.pi, _CORNERS)
        circle = np.stack((np.cos(turns), np.sin(turns)))
        contour = self.mean[:, None] + axes @ (np.sqrt(np.maximum(sizes, 0))[:, None] * circle)
        return np.column_stack((self.mean, [np.nan, np.nan], contour))


def _point(run: StoredRun, prefix: str) -> tuple[float, float]:
    """Mean delay beyond that of the path, in ms, and goodput in Mbps.

    All pages are loaded in the end: their goodput is the rate at which an object comes.
    """
    flows = [
        flow
        for flow in run.rows("flows")
        if flow["direction"] == "up" and flow["traffic"].startswith(prefix)
    ]
    packets = sum(flow["delivered_packets"] for flow in flows)
    sum_ms = sum(flow["delivered_packets"] * (flow["latency_mean_ms"] or 0) for flow in flows)
    delay_ms = sum_ms / packets - RTT_MS / 2 if packets else np.nan
    if prefix == "page":
        seconds = completion_s(SCENARIOS[EXPERIMENT], run)
        return delay_ms, OBJECT_BYTES * 8e-6 / seconds if seconds else np.nan
    return delay_ms, sum(map(goodput_mbps, flows))


def _on(link: str) -> list[str]:
    """The managers that are run on a link."""
    return [name for name, manager in MANAGERS.items() if link in manager.links]


def _tradeoff(seeds: Sequence[Runs]) -> Drawing:
    clouds = {
        (f"{name}, {link}", manager): Cloud(
            np.array([_point(runs[case(EXPERIMENT, manager, link).name], p) for runs in seeds])
        )
        for name, p in CLASSES.items()
        for link in LINKS
        for manager in _on(link)
    }
    panels: dict[str, list[Plot]] = {}
    for (panel, manager), cloud in clouds.items():
        x, y = cloud.ellipse
        panels.setdefault(panel, []).append(Plot(manager, x, y, marked=True))
    delays = [cloud.ellipse[0] for cloud in clouds.values()]
    ends = float(np.nanmax(delays)) * 1.2, float(np.nanmin(delays)) / 1.2
    x_label, y_label = "mean delay beyond propagation (ms)", "goodput (Mbps)"
    picture = svg_of_panels(
        panels,
        len(LINKS),
        share_y=False,
        xlabel=x_label,
        ylabel=y_label,
        xscale="log",
        xlim=ends,
    )
    columns = ("panel", "manager", x_label, "its deviation", y_label, "its deviation", "covariance")
    rows = [[*names, *_numbers(cloud)] for names, cloud in clouds.items()]
    return Drawing("Goodput over delay in the traffic mix of section 9.1", picture, columns, rows)


def _numbers(cloud: Cloud) -> list[float]:
    delay, goodput = map(float, cloud.mean)
    delay_sd, goodput_sd = map(float, np.sqrt(np.diag(cloud.covariance)))
    return [delay, delay_sd, goodput, goodput_sd, float(cloud.covariance[0, 1])]


_CASES = [case(EXPERIMENT, manager, link) for link in LINKS for manager in _on(link)]

FIGURES: dict[FigureNumber, Figure] = {
    "2.7": Figure(lambda runs: _tradeoff([runs]), _CASES, _tradeoff)
}

PICTURES: dict[FigureNumber, str] = {
    "2.7": (
        "Goodput over delay in the mix of section 9, by traffic class and link. Delay "
        "falls to the right, as RFC 7928 section 2.7 has it, so the best place is the upper right "
        "corner. An ellipse is the contour at one standard deviation over five seeds; most are "
        "smaller than the mark of the mean. All pages are loaded in the end, so their goodput is "
        "the rate at which an object comes."
    )
}
"""Those that the page shows, and what they are."""
