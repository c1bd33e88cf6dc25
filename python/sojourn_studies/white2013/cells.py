"""From runs to the cells of White & Rice 2013."""

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Distribution, Numbers, evenly, pooled
from sojourn.store.stored_run import StoredRun

from ..cablelabs.mixture import OF_RUN, call_latencies, call_loss_percent, page_loads
from ..cablelabs.scenarios import voice_model
from ..framework.cases import Case, Rule, Runs, by_rule, no_runs, of_several
from ..framework.rows import Row
from .cases import (
    BINS,
    DURATION_S,
    GROUPS,
    PEAK_MBPS,
    QUEUES,
    RF,
    SCHEMES,
    SUSTAINED_MBPS,
    TRAFFIC,
    case,
    page_alone,
    short,
    with_bins,
)

_FARTHER_MS = 200
_BIN_COUNTS = (8, 16, BINS, 64, 128)
_CALL_KBPS = 87.2
_SUMMARY_QUANTILE = 0.9
"""Of what the summary and the conclusion compare: the one that White 2014 gives of such plots."""


class Cell(NamedTuple):
    """A cell of the 3 x 3 grids: a level of congestion and a group of traffic."""

    rf: str
    traffic: str

    @property
    def scenarios(self) -> list[int]:
        """The scenarios of the group."""
        return [number for number, load in TRAFFIC.items() if load.group == self.traffic]


def cells_of_grid(rf: str = "all", traffic: str = "all") -> list[Cell]:
    """The cells of the grids, of one level of congestion or one group alone if it is named."""
    return [
        Cell(level, group)
        for level in RF
        for group in GROUPS
        if rf in ("all", level) and traffic in ("all", group)
    ]


def runs_of(scheme: str, cell: Cell, runs: Runs) -> list[StoredRun]:
    """The runs of a cell."""
    return [runs[case(scheme, number, cell.rf).name] for number in cell.scenarios]


# What a run reports. Latencies are those of packets, rounded up to whole ms (§4.1.1), and so are
# all quantiles; the cable's 1 ms is part of them.


def _rounded_up(run: StoredRun) -> Distribution:
    exact = call_latencies(run)
    return pooled([Distribution(np.ceil(exact.values), exact.weights)])


_OF_RUN = {**OF_RUN, "latency": _rounded_up}


def distribution(what: str, scheme: str, cells: Iterable[Cell], runs: Runs) -> Distribution:
    """`latency`, `loss`, `plt` or `mos`: a cell's all together, cells weighted evenly (§4.1.1)."""
    return _together(what, tuple(tuple(runs_of(scheme, cell, runs)) for cell in cells))


@lru_cache(maxsize=4096)
def _together(what: str, cells: tuple[tuple[StoredRun, ...], ...]) -> Distribution:
    if len(cells) == 1:
        return pooled(map(_OF_RUN[what], cells[0]))
    return evenly(_together(what, (cell,)) for cell in cells)


# The grids, of which the paper has figures alone, now lost.

_QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "max": 1.0}


def _in_grid(row: Row, runs: Runs) -> float | None:
    cells = cells_of_grid(**_keys(row.load))
    what, _, statistic = row.metric.partition("_")
    if row.metric == "throughput":
        return statistics.fmean(_throughput(row.scheme, cell, runs) for cell in cells)
    if row.metric == "plt_count":
        loads = (page_loads(run) for cell in cells for run in runs_of(row.scheme, cell, runs))
        return sum(each.total for each in loads)
    values = distribution(what, row.scheme, cells, runs)
    if statistic == "min":
        return values.quantile(0)
    if statistic == "mean":
        return float(values.values @ values.weights / values.total) if values.total else None
    return values.quantile(_QUANTILES[statistic])


def _throughput(scheme: str, cell: Cell, runs: Runs) -> float:
    """Goodput in Mbps of the uploads of a scenario, mean over those that have uploads."""
    rows = [
        run.flow("ftp", "up")
        for number, run in zip(cell.scenarios, runs_of(scheme, cell, runs), strict=True)
        if TRAFFIC[number].upload
    ]
    return statistics.fmean(row["goodput_mbps"] for row in rows)


def _whole_grid(row: Row) -> list[Case]:
    """All cases of the row's schemes that its load allows."""
    keys = {key: word for key, word in _keys(row.load).items() if key in ("rf", "traffic")}
    schemes = [name for name in row.scheme.split("/") if name in SCHEMES]
    return [
        case(scheme, number, cell.rf)
        for scheme in schemes
        for cell in cells_of_grid(**keys)
        for number in cell.scenarios
    ]


def _keys(load: str) -> dict[str, str]:
    """`rf=light:traffic=heavy` as a dict; empty where the load is in words."""
    return dict(part.split("=") for part in load.split(":")) if "=" in load else {}


# The summaries: one scheme beside another, over all nine cells evenly (§4.2).


def _reduction(row: Row, runs: Runs) -> float | None:
    """How many times less the 90 % quantile is under the first scheme."""
    what = row.metric.removesuffix("_reduction")
    less, more = (
        distribution(what, name, cells_of_grid(), runs).quantile(_SUMMARY_QUANTILE)
        for name in row.scheme.split("/")
    )
    return more / less if more and less else None


# §4.1.1: latency.


def _greatest(row: Row, runs: Runs) -> float:
    cells = cells_of_grid(**_keys(row.load))
    return max(
        float(run.flow(name, "up")["latency_max_ms"])
        for cell in cells
        for run in runs_of(row.scheme, cell, runs)
        for name in _call_names(run)
    )


def _greatest_over_depth(row: Row, runs: Runs) -> float:
    return _greatest(row, runs) / _full_ms(row.scheme, SUSTAINED_MBPS)


def _least(row: Row, runs: Runs) -> float | None:
    """What all but 1 % of the packets exceed, the least that plots show; rounded down, and up."""
    least = _exact(row.scheme, runs).quantile(0.01)
    return None if least is None else float((math.floor, math.ceil)[row.turn](least))


def _call_names(run: StoredRun) -> list[str]:
    """The calls of which packets arrived."""
    return [
        row["traffic"]
        for row in run.rows("flows")
        if row["traffic"].startswith("call") and row["direction"] == "up" and row["latency_max_ms"]
    ]


def _below_5_ms(row: Row, runs: Runs) -> float | None:
    share = _exact(row.scheme, runs).share_below(5)
    return None if share is None else 100 * share


def _exact(scheme: str, runs: Runs) -> Distribution:
    """Latency in all conditions before rounding."""
    return evenly(pooled(map(call_latencies, runs_of(scheme, c, runs))) for c in cells_of_grid())


_SWARMS = [number for number, load in TRAFFIC.items() if load.upload == "bittorrent"]
_TEN_FTPS = [number for number, load in TRAFFIC.items() if load.connections == 10]


def _ledbat_delay(row: Row, runs: Sequence[StoredRun]) -> float:
    """Median queueing delay at which LEDBAT settles, without congestion."""
    return statistics.fmean(run.queue("upstream")["sojourn_p50_ms"] for run in runs)


def _sessions(row: Row, runs: Runs) -> float:
    heavy = [load for load in TRAFFIC.values() if load.group == "heavy"]
    counts = [load.voip if row.flow == "voip" else load.sessions for load in heavy]
    return float((min, max)[row.turn](counts))


def _other_bins(row: Row) -> list[Case]:
    heavy = Cell("none", "heavy").scenarios
    return [with_bins(bins, number) for bins in _BIN_COUNTS for number in heavy]


def _best_bins(row: Row, runs: Runs) -> float:
    """The number of sub-flows with the least loss of calls, mean over the heavy scenarios."""
    heavy = Cell("none", "heavy").scenarios

    def loss(bins: int) -> float:
        found = (call_loss_percent(runs[with_bins(bins, number).name]) for number in heavy)
        return statistics.fmean(found)

    return float(min(_BIN_COUNTS, key=loss))


# §4.1.2 and §4.1.3: loss.


def _loss(row: Row, runs: Runs) -> float:
    keys = _keys(row.load)
    if "ftp" in keys:
        return statistics.fmean(losses(row.scheme, runs, _TEN_FTPS).values())
    if "bittorrent" in keys:
        found = losses(row.scheme, runs, _SWARMS).values()
        return min(found) if row.turn == 0 else max(found)
    cells = cells_of_grid(**keys)
    return statistics.fmean(
        statistics.fmean(map(call_loss_percent, runs_of(row.scheme, cell, runs))) for cell in cells
    )


def losses(scheme: str, runs: Runs, numbers: Iterable[int]) -> dict[tuple[int, str], float]:
    """Loss of calls in % by scenario and congestion."""
    return {
        (number, rf): call_loss_percent(runs[case(scheme, number, rf).name])
        for number in numbers
        for rf in RF
    }


def most_severe(scheme: str, runs: Runs) -> int:
    """The BitTorrent scenario with more loss."""
    by_number = {n: statistics.fmean(losses(scheme, runs, [n]).values()) for n in _SWARMS}
    return max(by_number, key=lambda number: by_number[number])


def _extreme_loss(row: Row, runs: Runs) -> float:
    if row.load == "all":
        return max(losses(row.scheme, runs, TRAFFIC).values())
    severe = most_severe(row.scheme, runs)
    if row.metric == "loss":  # "whatever the RF congestion"
        return min(losses(row.scheme, runs, [severe]).values())
    return max(losses(row.scheme, runs, [n for n in TRAFFIC if n != severe]).values())


# §1.1 and §4.3: the model of voice quality, and pages over the round trip.


def voice_points(runs: Runs) -> list[tuple[float, float, float]]:
    """Latency in ms with the 20 ms that the model adds, R and score of calls ever farther away."""
    rows = runs[voice_model().name].rows("flows")
    points = [
        (row["latency_mean_ms"] + 20, row["r_value"], row["mos"])
        for row in rows
        if row["latency_mean_ms"] is not None
    ]
    return sorted(points)


def _voice(row: Row, runs: Runs) -> float | None:
    points = voice_points(runs)
    near = [point for point in points if point[0] <= 177]
    far = [point for point in points if point[0] > 178]
    if min(len(near), len(far)) < 2:
        return None
    match row.metric:
        case "mos_max":
            return points[0][2]
        case "latency_knee":
            slopes = [
                np.polyfit([p[0] for p in side], [p[1] for p in side], 1) for side in (near, far)
            ]
            return float((slopes[0][1] - slopes[1][1]) / (slopes[1][0] - slopes[0][0]))
    side = near if row.load == "latency<177ms" else far
    (start, _, high), (end, _, low) = side[0], side[-1]
    return 20 * (high - low) / (end - start)


def _round_trips(row: Row, runs: Sequence[StoredRun]) -> float | None:
    """By how many round trips a page takes longer; of the range, the study's own page has one."""
    near, far = (page_loads(run).quantile(0.5) for run in runs)
    return None if near is None or far is None else 1000 * (far - near) / _FARTHER_MS


# §4.4: one upload alone.


def short_rate(scheme: str, runs: Runs) -> tuple[Numbers, Numbers]:
    """Mbps of the upload, every 100 ms."""
    return series_of(runs[short(scheme).name].series, "ftp up", "throughput")


def burst_end(rate: Numbers) -> int:
    """Index of the last 100 ms with more than the middle of peak and sustained rate."""
    above = np.flatnonzero(rate > (PEAK_MBPS + SUSTAINED_MBPS) / 2)
    return int(above[-1]) if len(above) else 0


def dip(rate: Numbers) -> tuple[int, float] | None:
    """Between the peak rate and the end of the burst: where the least rate is, and it.

    Smoothed over 300 ms, since between one burst of a window and the next the link may be idle.
    """
    reached = np.flatnonzero(rate >= 0.9 * PEAK_MBPS)
    if not len(reached):
        return None
    end = max(burst_end(rate), int(reached[0]) + 3)
    mean = np.convolve(rate, np.ones(3) / 3, "valid")
    inside = mean[reached[0] : end - 2]
    if not len(inside):
        return None
    return int(reached[0] + inside.argmin()), float(inside.min())


def second_drop(rate: Numbers) -> float | None:
    """The greatest rate between the dip and the next fall by a third."""
    lowest = dip(rate)
    if lowest is None:
        return None
    highest = 0.0
    for value in np.convolve(rate, np.ones(3) / 3, "valid")[lowest[0] :]:
        highest = max(highest, float(value))
        if highest > 2 * lowest[1] and value < highest * 2 / 3:
            return highest
    return None


def _short(row: Row, runs: Runs) -> float | None:
    run = runs[short(row.scheme).name]
    _, rate = short_rate(row.scheme, runs)
    match row.metric:
        case "time_to_peak_rate":
            reached: float | None = run.flow("ftp", "up")["time_to_peak_rate_s"]
            return reached
        case "throughput":
            end = burst_end(rate)
            part = (rate[:end], rate[end + 1 :])[row.turn]
            return float(np.median(part)) if len(part) else None
        case "throughput_dip":
            lowest = dip(rate)
            return lowest[1] if lowest else None
        case "throughput_second_drop":
            return second_drop(rate)
    raise AssertionError(row)


# What follows from the scenarios alone.


def _full_ms(scheme: str, rate_mbps: float) -> float:
    return float(QUEUES[scheme]["limit_bytes"]) * 8e-3 / rate_mbps


def _latency_full(row: Row, runs: Runs) -> float:
    return _full_ms(row.scheme, float(_keys(row.load)["rate"].removesuffix("Mbps")))


def _arithmetic(row: Row, runs: Runs) -> float:
    return {
        "buffer": float(QUEUES["BufferBloat"]["limit_bytes"]) / 1024,
        "runs": float(len(SCHEMES) * len(TRAFFIC) * len(RF)),
        "duration": DURATION_S / 3600,
        "fair_share_flow_limit": float(SUSTAINED_MBPS * 1000 // _CALL_KBPS),
    }[row.metric]


_VOICE: Rule = (lambda row: [voice_model()], _voice)
_ARITHMETIC: Rule = (no_runs, _arithmetic)
_FARTHER = of_several(lambda row: [page_alone(0), page_alone(_FARTHER_MS)], _round_trips)

_RULES: Mapping[str, Rule] = {
    "mos_drop_per_20ms": _VOICE,
    "latency_knee": _VOICE,
    "mos_max": _VOICE,
    "latency_full": (no_runs, _latency_full),
    "latency_max_over_target": (_whole_grid, _greatest_over_depth),
    "latency_max": (_whole_grid, _greatest),
    "latency_min": (_whole_grid, _least),
    "fraction_latency_below_5ms": (_whole_grid, _below_5_ms),
    "ledbat_delay": of_several(
        lambda row: [case(row.scheme, number, "none") for number in _SWARMS], _ledbat_delay
    ),
    "sessions": (no_runs, _sessions),
    "best_subflow_count": (_other_bins, _best_bins),
    **dict.fromkeys(("buffer", "runs", "duration", "fair_share_flow_limit"), _ARITHMETIC),
}
"""By metric, where the text gives numbers."""

_BY_TABLE: Mapping[str, Rule] = {
    "sec-exec": (_whole_grid, _reduction),
    "sec-5": (_whole_grid, _reduction),
    "sec-4.1.2": (_whole_grid, _loss),
    "sec-4.1.3": (_whole_grid, _extreme_loss),
    "sec-4.4": (lambda row: [short(row.scheme)], _short),
}
"""By table, where all its rows are computed alike."""


@cache
def _rule(row: Row) -> Rule:
    """Nothing where the document cites others, or says what it aims at."""
    if row.is_background:
        return no_runs, lambda row, runs: None
    if row.experiment == "web-model":
        return _FARTHER
    if row.experiment == "grid":
        return _whole_grid, _in_grid
    return _BY_TABLE.get(row.table) or _RULES[row.metric]


cases_of, value_of = by_rule(_rule)


_GRID_METRICS = (
    *(("gaming", f"latency_{statistic}", "ms") for statistic in ("p50", "p90", "p99", "max")),
    *(("gaming", f"loss_{statistic}", "%") for statistic in ("mean", "max")),
    *(("web", f"plt_{statistic}", "s") for statistic in ("p50", "p90")),
    ("web", "plt_count", "count"),
    *(("voip", f"mos_{statistic}", "1") for statistic in ("min", "p50")),
    ("ftp-sum", "throughput", "Mbps"),
)

_MARGINS = [
    *((rf, traffic) for rf in RF for traffic in GROUPS),
    *((rf, "all") for rf in RF),
    *(("all", traffic) for traffic in GROUPS),
    ("all", "all"),
]

UNPUBLISHED = tuple(
    Row.unpublished(
        "white2013", "grids", "grid", scheme, f"rf={rf}:traffic={traffic}", *cell, unit=unit
    )
    for scheme in SCHEMES
    for rf, traffic in _MARGINS
    for *cell, unit in _GRID_METRICS
)
"""The grids of 3 x 3 cells and their summaries, printed as figures alone, which are lost."""
