"""White 2014 §8 and appendix B, figures 7 to 10 and 16: what the de-randomiser does to drops.

The exact distributions follow from its rule: no drop before the run of packets is 0.85/p long, then
drops with probability p, and one for sure at 8.5/p. Beside them stand runs of the simulator's own
de-randomiser, which adds up p in floating point and so may be a packet late.
"""

import math
from functools import cache
from typing import Any

import numpy as np
from sojourn._sojourn import studies

from ..framework.canvas import Plot, svg
from ..framework.drawing import Drawing

Numbers = np.ndarray[Any, Any]

LOW = 0.85
HIGH = 8.5
P = 0.01
"""The drop probability of figures 7 to 10."""
PACKETS = 1000
"""Packets over which figures 8 and 10 count drops."""
_SEED = 1
_RUNS = 200_000


def run_length_pmf(p: float) -> Numbers:
    """Probability that a run is n packets long, its last one dropped, for n = 0, 1, 2 ..."""
    first, last = math.ceil(LOW / p), math.ceil(HIGH / p)
    p_drop = min(p, LOW)  # RFC 8034 appendix A.1 caps the probability of a single packet
    pmf = np.zeros(last + 1)
    pmf[first:last] = p_drop * (1 - p_drop) ** np.arange(last - first)
    pmf[last] = (1 - p_drop) ** (last - first)
    return pmf


def effective(p: float) -> float:
    """Share of packets dropped at a drop probability p."""
    pmf = run_length_pmf(p)
    return float(1 / (pmf @ np.arange(len(pmf))))


def drop_count_pmf(p: float, packets: int) -> Numbers:
    """Probability of k drops among so many packets from a drop on, for k = 0, 1, 2 ..."""
    run = run_length_pmf(p)[: packets + 1]
    ends = np.zeros(packets + 1)
    ends[0] = 1.0  # where the k-th run ends
    at_least = [1.0]
    while at_least[-1] > 1e-12:
        ends = np.convolve(ends, run)[: packets + 1]
        at_least.append(float(ends.sum()))
    return -np.diff(np.array([*at_least, 0.0]))


@cache
def bernoulli_run_length() -> Drawing:
    """Figure 7: run lengths of plain random drops."""
    n = np.arange(1, 1001)
    return _pmf("Run length of random drops, p = 0.01", "packets", n, P * (1 - P) ** (n - 1))


@cache
def binomial_drops() -> Drawing:
    """Figure 8: plain random drops among 1000 packets."""
    k = np.arange(31)
    choose = np.array([math.comb(PACKETS, int(i)) for i in k], dtype=float)
    pmf = choose * P**k * (1 - P) ** (PACKETS - k)
    return _pmf("Random drops in 1000 packets, p = 0.01", "drops", k, pmf)


def run_length() -> Drawing:
    """Figure 9: run lengths of de-randomised drops, exact and simulated."""
    pmf = run_length_pmf(P)
    runs = np.array(studies.derandomiser_runs(P, _RUNS, _SEED))
    seen = np.bincount(runs, minlength=len(pmf))[1:] / _RUNS
    n = np.arange(1, len(seen) + 1)
    exact = np.pad(pmf[1:], (0, len(seen) + 1 - len(pmf)))
    return _pmf("Run length of de-randomised drops, p = 0.01", "packets", n, exact, seen)


def drops() -> Drawing:
    """Figure 10: de-randomised drops among 1000 packets, exact and simulated."""
    pmf = drop_count_pmf(P, PACKETS)
    runs = np.array(studies.derandomiser_runs(P, _RUNS, _SEED))
    # Windows of 1000 packets, each of which starts after a drop.
    ends = np.cumsum(runs)
    starts = ends[ends + PACKETS < ends[-1]]
    counts = np.searchsorted(ends, starts + PACKETS, side="right") - np.arange(len(starts)) - 1
    seen = np.bincount(counts, minlength=len(pmf))[: len(pmf)] / len(starts)
    k = np.arange(len(pmf))
    return _pmf("De-randomised drops in 1000 packets, p = 0.01", "drops", k, pmf, seen)


def effective_probability() -> Drawing:
    """Figure 16: share of packets dropped over the drop probability, exact and simulated."""
    p = np.unique(np.concatenate([np.logspace(-4, 0, 400), [LOW]]))
    exact = np.array([effective(float(x)) for x in p])
    at = np.array([1e-3, 3e-3, 0.01, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.84])
    seen = np.array([1 / np.mean(studies.derandomiser_runs(float(x), 20_000, _SEED)) for x in at])
    plots = [Plot("exact", p, exact), Plot("simulated", at, seen, dots=True)]
    picture = svg(
        plots,
        xscale="log",
        yscale="log",
        xlabel="drop probability p",
        ylabel="share of packets dropped",
    )
    rows = [[plot.name, *point] for plot in plots for point in plot.points]
    columns = ("series", "drop_probability", "dropped_share")
    return Drawing("Effective drop probability", picture, columns, rows)


def _pmf(title: str, unit: str, n: Numbers, exact: Numbers, seen: Numbers | None = None) -> Drawing:
    plots = [Plot("exact", n, exact)]
    if seen is not None:
        plots.append(Plot("simulated", n, seen, dots=True))
    picture = svg(plots, title=title, xlabel=unit, ylabel="probability")
    columns = (unit, *(plot.name for plot in plots))
    rows = list(zip(n.tolist(), *(plot.y.tolist() for plot in plots), strict=True))
    return Drawing(title, picture, columns, rows)
