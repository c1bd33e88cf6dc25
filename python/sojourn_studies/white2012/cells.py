"""From runs to the cells of White & Padden 2012."""

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import chain, pairwise

import numpy as np
import pyarrow.compute as pc
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Numbers
from sojourn.store.stored_run import StoredRun

from ..framework.cases import Case, Rule, Runs, by_rule, no_runs, of_one, of_several
from ..framework.claims import Cells
from ..framework.rows import Row
from .cases import (
    BURST_BYTES,
    PEAK_MBPS,
    SMALL,
    SUSTAINED_MBPS,
    case,
    over_time,
    page_of_appendix_a,
    traced,
)

LOADED = "23456789"
"""Last digits of the cases with bulk traffic."""

_CODEL, _LARGE, _SMALL = "CoDel-417pkt", "DropTail-417pkt", "DropTail-21pkt"
_FIGURE_S = 25  # figures 2 to 7 show the burst and what comes after it
_DEPTH_S, _DEPTH_MS = 400, 100  # 4000 samples of the queue's depth for figures 8 and 9
_SYN_S = 300  # §4.3.2 lists attempts up to 274 s
_BURSTY_BYTES, _PAUSE_S = 18_750_000, 16


def early(experiment: str, scheme: str) -> Case:
    """The first seconds of a test case, over time."""
    return over_time(experiment, scheme, _FIGURE_S, 100)


def depth() -> Case:
    """D04 with the small buffer, its queue's depth over time."""
    return over_time("D04", _SMALL, _DEPTH_S, _DEPTH_MS)


# Tables 3 to 8, and the same of what was never published.

_OF_CALL = {"lost": "loss_percent", "late": "late_percent", "mos": "mos"}


def _sum(*values: float | None) -> float | None:
    """The sum, if all are known: a call of which no packet was due has no scores."""
    known = [value for value in values if value is not None]
    return float(sum(known)) if len(known) == len(values) else None


def single(row: Row, run: StoredRun) -> float | None:
    """A number of one test case."""
    call = run.flow("call", "up")
    match row.metric:
        case "plr":
            return _sum(call["loss_percent"], call["late_percent"])
        case "lost" | "late" | "mos":
            return _sum(call[_OF_CALL[row.metric]])
        case "plt_median":
            # Where no page was loaded, the run is a lower bound, as published: >600.
            return _median(load_times(run)) or float(run.meta["duration_s"])
        case "plt_mad":
            return _mad(load_times(run))
        case "plt_count":
            return float(len(load_times(run)))
        case "plt_max":
            return max(load_times(run), default=None)
        case "plt_mad_over_median":
            return _mad_over_median(run)
        case "ftp_kbytes":
            return ftp_kbytes(run)
    raise AssertionError(row)


def load_times(run: StoredRun) -> list[float]:
    """Load times of the pages in s."""
    times: list[float] = run.pages["load_time_s"].to_pylist()
    return times


def ftp_kbytes(run: StoredRun) -> float:
    """What the uploads delivered, whole packets, in kB of 1000 bytes."""
    rows = run.rows("flows")
    is_ftp = [row for row in rows if (row["traffic"], row["direction"]) == ("ftp", "up")]
    return sum(float(row["delivered_bytes"]) for row in is_ftp) / 1000


def _pair(row: Row) -> tuple[Case, Case]:
    """DropTail's run and CoDel's: of `D02/C02` under `CoDel-417pkt/DropTail-21pkt`."""
    (drop_tail, codel), (codel_scheme, dt_scheme) = (
        row.experiment.split("/"),
        row.scheme.split("/"),
    )
    return case(drop_tail, dt_scheme), case(codel, codel_scheme)


def _compared(row: Row, pair: Sequence[StoredRun]) -> float | None:
    value = _beside(row, *pair)
    if value is not None and row.metric == "ftp_kbytes_ratio":
        return float(round(value))  # whole percents, as published
    return value


def _beside(row: Row, dt: StoredRun, codel: StoredRun) -> float | None:
    """CoDel's number less DropTail's, or in percent of it."""
    metric = row.metric.removesuffix("_delta").removesuffix("_ratio")
    before, after = (single(row._replace(metric=metric), run) for run in (dt, codel))
    if before is None or after is None:
        return None
    if row.metric.endswith("_delta"):
        return after - before
    return 100 * after / before if before else None


# The summary and §1.2.


def _pairs(scheme: str) -> list[tuple[Case, Case]]:
    return [(case(f"D0{n}", scheme), case(f"C0{n}", _CODEL)) for n in LOADED]


def _summary(row: Row, runs: Runs) -> float | None:
    pairs = [(runs[dt.name], runs[codel.name]) for dt, codel in _pairs(row.scheme.split("/")[1])]

    def compared(metric: str) -> list[float]:
        found = (_beside(row._replace(metric=metric), dt, codel) for dt, codel in pairs)
        return [value for value in found if value is not None]

    return _over_pairs(row, compared)


def summed_up(row: Row, cells: Cells) -> float | None:
    """The executive summary's numbers, of the comparisons in tables 7 and 8."""
    if row.table != "sec-exec":
        return None
    table = "table-7" if row.scheme.endswith(_LARGE) else "table-8"

    def compared(metric: str) -> list[float]:
        by_pair = cells.all(metric, table=table)
        return [by_pair[f"D0{n}/C0{n}"] for n in LOADED]

    return _over_pairs(row, compared)


def _over_pairs(row: Row, compared: Callable[[str], list[float]]) -> float | None:
    """A number of the summary, from a comparison of CoDel and DropTail in each loaded case."""
    match row.metric:
        case "mos_delta_mean":
            return statistics.fmean(compared("mos_delta"))
        case "plt_median_speedup":  # "in most of the test conditions"
            return statistics.median(100 / ratio for ratio in compared("plt_median_ratio"))
        case "throughput_drop":
            drops = [100 - ratio for ratio in compared("ftp_kbytes_ratio")]
            return _end(row, min(drops, default=None), max(drops, default=None))
        case "mos_abs_delta":  # "in most cases": the middle half of them
            low, _, high = statistics.quantiles(map(abs, compared("mos_delta")), method="inclusive")
            return _end(row, low, high)
    raise AssertionError(row)


def _expected(row: Row, runs: Sequence[StoredRun]) -> float | None:
    idle, busy = runs
    fetches = 1 + math.ceil(25 / 6)  # the HTML, and 25 objects over 6 connections
    match row.metric:
        case "latency":  # "a consistent 40-50 ms"
            queue = busy.queue("upstream")
            return _end(row, queue["sojourn_p50_ms"], queue["sojourn_max_ms"])
        case "plt_added_per_serial_fetch":
            slow, fast = _median(load_times(busy)), _median(load_times(idle))
            return 1000 * (slow - fast) / fetches if slow and fast else None
        case "serial_fetches":
            return float(fetches)
    raise AssertionError(row)


def _ideal(row: Row, runs: Runs) -> float:
    """§3.2.1: the burst at the peak rate, the rest of the file at the sustained rate, the pause."""
    at_peak = 8e-6 * BURST_BYTES / (PEAK_MBPS - SUSTAINED_MBPS)
    sent = at_peak * PEAK_MBPS * 1e6 / 8
    at_sustained = 8e-6 * (_BURSTY_BYTES - sent) / SUSTAINED_MBPS
    sending = at_peak + at_sustained
    return {
        "duty_cycle": 100 * sending / (sending + _PAUSE_S),
        "time_at_peak_rate": at_peak,
        "time_at_sustained_rate": at_sustained,
    }[row.metric]


# Figures 2 to 7. Which round trip they show is not said. With 20 ms 21 packets do not stretch the
# burst (figure 4), and CUBIC does not fall under CoDel (figure 6).

_SHOWN = {
    "D02-or-D03": ("D03",),
    "D04-or-D05": ("D05",),
    "C02-or-C03": ("C03",),
    "C04-or-C05": ("C05",),
    "D02-to-D05": ("D02", "D03", "D04", "D05"),
    "C02-to-C05": ("C02", "C03", "C04", "C05"),
}


def _early(row: Row, shown: Sequence[StoredRun]) -> float | None:
    first = shown[0]
    match row.table, row.metric:
        case _, "time_to_peak_rate":
            time_s: float | None = first.flow("ftp", "up")["time_to_peak_rate_s"]
            return time_s
        case _, "burst_time":
            return burst_end_s(first)
        case "fig-3", "latency_max":
            before, after = _delays_around_burst(first)
            return before if row.unit == "ms" else after / 1000
        case "fig-5", "latency_max":
            return max(float(run.queue("upstream")["sojourn_max_ms"]) for run in shown)
        case "fig-6", _:
            return _stuck(row, first)
        case _, "latency_typical":
            return max(float(run.queue("upstream")["sojourn_p50_ms"]) for run in shown)
        case _, "spike_duration":
            return statistics.fmean(_spike_s(run) for run in shown)
        case _, "latency_peak":
            return float(first.queue("upstream")["sojourn_max_ms"])
    raise AssertionError(row)


def burst_end_s(run: StoredRun) -> float | None:
    """End of the last 100 ms with more than the middle of peak and sustained rate, in s."""
    time, rate = series_of(run.series, "ftp up", "throughput")
    above = time[rate > (PEAK_MBPS + SUSTAINED_MBPS) / 2]
    return float(above[-1]) if len(above) else None


def _delays_around_burst(run: StoredRun) -> tuple[float, float]:
    """Greatest mean delay of 100 ms in ms, up to the end of the burst, and after it."""
    end_s = burst_end_s(run) or 0.0
    time, delay = series_of(run.series, "upstream", "queue_delay")
    return _peak(delay[time < end_s]), _peak(delay[time >= end_s])


def _spike_s(run: StoredRun) -> float:
    """The longest time without a mean delay under CoDel's target of 5 ms, in s."""
    time, delay = series_of(run.series, "upstream", "queue_delay")
    step_s, longest, length = float(time[1] - time[0]) if len(time) > 1 else 0.0, 0, 0
    for value in delay:
        length = length + 1 if value > 5 else 0
        longest = max(longest, length)
    return longest * step_s


def rate_drop(run: StoredRun) -> tuple[float, float, float] | None:
    """Of a rate that falls in the burst and stays low: when in s, its mean in Mbps, how long in s.

    It has fallen where the mean over 1 s is below 17.5 Mbps, between the peak rate and its 75 %.
    """
    end_s = burst_end_s(run)
    time, rate = series_of(run.series, "ftp up", "throughput")
    if end_s is None or not (rate >= 0.9 * PEAK_MBPS).any():
        return None
    mean = np.convolve(rate, np.ones(10) / 10, "valid")  # from each value on, 1 s
    reached_s = time[np.argmax(rate >= 0.9 * PEAK_MBPS)]
    fallen = [
        t
        for t, m in zip(time[: len(mean)], mean, strict=True)
        if reached_s < t < end_s - 1 and m < 17.5
    ]
    if not fallen:
        return None
    inside = rate[(time >= fallen[0]) & (time < end_s)]
    return float(fallen[0]), float(inside.mean()), end_s - float(fallen[0])


def _stuck(row: Row, run: StoredRun) -> float | None:
    drop = rate_drop(run)
    if row.metric == "stuck_at_75pct":
        return float(drop is not None and drop[1] < 0.85 * PEAK_MBPS)
    if drop is None:
        return None
    at_s, mean_mbps, left_s = drop
    return {
        "time_of_rate_drop": at_s,
        "throughput": mean_mbps,
        "burst_time_remaining": left_s,
        "utilisation": 100 * mean_mbps / PEAK_MBPS,
    }[row.metric]


# §4.2.2, §4.3.1, §4.3.2, figure 9 and appendix A.


def _latest(row: Row, runs: Sequence[StoredRun]) -> float:
    return max(float(run.flow("call", "up")["late_percent"]) for run in runs)


def _typical_scatter(row: Row, runs: Sequence[StoredRun]) -> float | None:
    """Of the majority of cases: the median."""
    scatters = map(_mad_over_median, runs)
    return _median([scatter for scatter in scatters if scatter is not None])


def _nearly_full(row: Row, runs: Runs) -> float:
    """Share of samples with five free places or fewer, in %."""
    packets = depths(runs)
    return float(100 * np.mean(packets >= SMALL - 5))


def depths(runs: Runs) -> Numbers:
    """The queue's depth in packets, every 100 ms of D04."""
    return series_of(runs[depth().name].series, "upstream", "queue_packets")[1]


def _syns(row: Row, runs: Runs) -> float | None:
    """Of the connection with the most SYNs: when they were sent, and the gaps."""
    times = syn_times(runs)
    gaps = [late - soon for soon, late in pairwise(times)]
    match row.metric:
        case "syn_attempt_time":
            return times[row.turn] if row.turn < len(times) else None
        case "syn_backoff_initial":
            return gaps[0] if gaps else None
        case "syn_backoff_max":
            return max(gaps, default=None)
    raise AssertionError(row)


def syn_times(runs: Runs) -> list[float]:
    """When the web connection with the most SYNs sent them, in s."""
    packets = runs[_traced(None)[0].name].packets
    web_up = packets.filter((pc.field("traffic") == "web") & (pc.field("direction") == "up"))
    rows = sorted(web_up.to_pylist(), key=lambda packet: packet["sent_s"])
    most: list[float] = []
    attempts: dict[int, list[float]] = {}
    for packet in rows:
        # A SYN has sequence number 0 and 50 bytes; a number is used again once its connection is
        # over, which needs more than SYNs.
        is_syn = packet["seq"] == 0 and packet["size_bytes"] == 50
        times = attempts.setdefault(packet["flow"], [])
        attempts[packet["flow"]] = [*times, packet["sent_s"]] if is_syn else []
        most = max(most, attempts[packet["flow"]], key=lambda times: len(times))
    return most


def _traced(row: Row | None) -> Sequence[Case]:
    return [traced("D04", _SMALL, _SYN_S)]


def _object_size(row: Row, run: StoredRun) -> float | None:
    """What the connection of an object brought; they come in the order of the table's columns."""
    column = int(row.flow.removeprefix("server")) - 1
    name = row.load.removeprefix("object=")
    number = 1 if name == "index.html" else 1 + 25 * column + int(name.removeprefix("file-"))
    for account in run.rows("connections"):
        if (account["connection"], account["direction"]) == (number, "down"):
            return float(account["payload_bytes"])
    return None


def _median(values: Sequence[float]) -> float | None:
    return statistics.median(values) if values else None


def _mad(values: Sequence[float]) -> float | None:
    middle = _median(values)
    return None if middle is None else statistics.median(abs(v - middle) for v in values)


def _mad_over_median(run: StoredRun) -> float | None:
    times = load_times(run)
    median, mad = _median(times), _mad(times)
    return 100 * mad / median if median and mad is not None else None


def _peak(values: Numbers) -> float:
    return float(np.nanmax(values)) if len(values) else math.nan


def _end(row: Row, low: float | None, high: float | None) -> float | None:
    """The lower end of a range stands first, the upper end second."""
    return (low, high)[row.turn]


_SINGLE = of_one(lambda row: case(row.experiment, row.scheme), single)
_COMPARED = of_several(_pair, _compared)
_EARLY = of_several(lambda row: [early(d, row.scheme) for d in _SHOWN[row.experiment]], _early)

_RULES: dict[str, Rule] = {
    "appendix-a": of_one(lambda row: page_of_appendix_a(), _object_size),
    "sec-exec": (lambda row: [*chain(*_pairs(row.scheme.split("/")[1]))], _summary),
    "sec-1.2": of_several(lambda row: [case(name, _SMALL) for name in ("D01", "D02")], _expected),
    "sec-3.2.1": (no_runs, _ideal),
    **{f"fig-{n}": _EARLY for n in range(2, 8)},
    "sec-4.2.2": of_several(lambda row: [case(f"D0{n}", _SMALL) for n in f"1{LOADED}"], _latest),
    "sec-4.3.1": of_several(lambda row: [case(f"C0{n}", _CODEL) for n in LOADED], _typical_scatter),
    "fig-9": (lambda row: [depth()], _nearly_full),
}
"""By table, where all its rows are computed alike: the runs, and the value from them."""


def _rule(row: Row) -> Rule:
    if row.table in _RULES:
        return _RULES[row.table]
    if row.metric.startswith("syn_"):
        return _traced, _syns
    return _COMPARED if "/" in row.experiment else _SINGLE


cases_of, value_of = by_rule(_rule)


_UNPUBLISHED = (
    ("voip", "lost", "%"),
    ("voip", "late", "%"),
    ("voip", "plr", "%"),
    ("voip", "mos", "1"),
    ("web", "plt_median", "s"),
    ("web", "plt_mad", "s"),
    ("web", "plt_count", "count"),
    ("ftp-sum", "ftp_kbytes", "kB"),
)
UNPUBLISHED = tuple(
    Row.unpublished(
        "white2012", "table-2", f"{letter}1{n}", scheme, "rf=borderline", *cell, unit=unit
    )
    for n in f"1{LOADED}"
    for letter, scheme in (("D", _LARGE), ("D", _SMALL), ("C", _CODEL))
    for *cell, unit in _UNPUBLISHED
)
"""The congested cases of table 2, which are defined there and of which no results were given."""
