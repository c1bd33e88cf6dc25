"""Figures 2 to 9 of White & Padden 2012, redrawn."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Numbers

from ..framework.canvas import Plot, drawing_of
from ..framework.cases import Case, Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from .cells import depth, depths, early

_ONE_AND_FIVE = {"D": ("D03", "D05"), "C": ("C03", "C05")}
_NAMES = ("one TCP", "five TCPs")


def _throughput(title: str, scheme: str) -> Figure:
    return _over_time(title, scheme, "ftp up", "throughput", "throughput (Mbps)")


def _delay(title: str, scheme: str) -> Figure:
    return _over_time(title, scheme, "upstream", "queue_delay", "queueing delay (ms)")


def _over_time(title: str, scheme: str, subject: str, metric: str, label: str) -> Figure:
    cases = [early(experiment, scheme) for experiment in _ONE_AND_FIVE[scheme[0]]]

    def draw(runs: Runs) -> Drawing:
        curves = [series_of(runs[case.name].series, subject, metric) for case in cases]
        plots = [Plot(name, *curve) for name, curve in zip(_NAMES, curves, strict=True)]
        return drawing_of(title, plots, "time (s)", label)

    return Figure(draw, cases)


def _of_depth(draw: Callable[[Numbers], Drawing]) -> Figure:
    cases: Sequence[Case] = [depth()]
    return Figure(lambda runs: draw(depths(runs)), cases)


def _depth_over_time(packets: Numbers) -> Drawing:
    time = np.arange(1, len(packets) + 1, dtype=np.float64) / 10
    plots = [Plot("queue", time, packets)]
    return drawing_of("Queue size in D04", plots, "time (s)", "packets")


def _depth_distribution(packets: Numbers) -> Drawing:
    sizes, counts = np.unique(packets, return_counts=True)
    share = np.cumsum(counts, dtype=np.float64) * (100 / len(packets))
    plots = [Plot("queue", sizes, share)]
    return drawing_of("Distribution of the queue size in D04", plots, "packets", "time (%)")


FIGURES: Mapping[FigureNumber, Figure] = {
    2: _throughput("TCP throughput, 417 packets", "DropTail-417pkt"),
    3: _delay("Queueing delay, 417 packets", "DropTail-417pkt"),
    4: _throughput("TCP throughput, 21 packets", "DropTail-21pkt"),
    5: _delay("Queueing delay, 21 packets", "DropTail-21pkt"),
    6: _throughput("TCP throughput, CoDel", "CoDel-417pkt"),
    7: _delay("Queueing delay, CoDel", "CoDel-417pkt"),
    8: _of_depth(_depth_over_time),
    9: _of_depth(_depth_distribution),
}
