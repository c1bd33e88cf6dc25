"""From runs to the cells of White 2014."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np
from sojourn._sojourn import studies
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Distribution, Numbers, evenly
from sojourn.store.stored_run import StoredRun

from ..cablelabs.mixture import OF_RUN, call_loss_percent
from ..cablelabs.scenarios import voice_model
from ..framework.cases import Case, Rule, Runs, by_rule, no_runs, of_one
from ..framework.rows import Row
from . import derandomiser
from .cases import (
    BINS,
    LOADS,
    RF,
    SCHEMES,
    SUSTAINED_MBPS,
    TEST_S,
    case,
    lone_call,
    overload,
    tcp_test,
    tracking,
)

AHEAD_PERCENT = 2
"""By how much the mean rate of a transfer must be greater to be called better."""

_CABLE_MS = 1
_PACKET_BYTES = 1500
_SERVICE_FLOWS = (16, 32)
_JUMP_PERCENT = 5
_SEED = 1
EXTREME = 0.3
"""Appendix A.1: what the extreme channel gives of the sustained rate."""


def cases_under(scheme: str) -> list[Case]:
    """The 36 conditions under a scheme."""
    return [case(scheme, number, rf) for number in LOADS for rf in RF]


def distribution(what: str, scheme: str, runs: Runs) -> Distribution:
    """`latency` (ms), `loss` (%), `plt` (s) or `mos` over all conditions, evenly (§5.1)."""
    return _together(what, tuple(runs[case.name] for case in cases_under(scheme)))


@lru_cache(maxsize=256)
def _together(what: str, runs: tuple[StoredRun, ...]) -> Distribution:
    return evenly(map(OF_RUN[what], runs))


def _aggregate(row: Row, runs: Runs) -> float | None:
    """A quantile over all conditions, also where the paper has a range over several schemes."""
    what, _, statistic = row.metric.partition("_")
    if what == "loss":  # "no loss in any condition"
        return max(call_loss_percent(runs[case.name]) for case in cases_under(row.scheme))
    q = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "min": 0.0}[statistic]
    return distribution(what, row.scheme, runs).quantile(q)


def _condition(row: Row) -> Case:
    keys = dict(part.split("=") for part in row.load.split(":"))
    return case(row.scheme, int(keys["N"]), keys["rf"])


def _one_condition(row: Row, run: StoredRun) -> float | None:
    what, _, statistic = row.metric.partition("_")
    if row.metric == "throughput":
        flows = run.rows("flows")
        ups = [flow for flow in flows if flow["direction"] == "up"]
        rates = [flow["goodput_mbps"] for flow in ups if flow["traffic"].startswith("ftp")]
        return float(sum(rates)) if rates else None
    q = {"p50": 0.5, "p90": 0.9, "min": 0.0, "mean": 1.0}[statistic]
    return OF_RUN[what](run).quantile(q)


# Figure 6: the mean rate of a transfer, over how long it lasts.


def mean_rates(scheme: str, rtt_ms: int, runs: Runs) -> tuple[Numbers, Numbers]:
    """Times in s, and the mean rate in Mbps of one of the two uploads from the start up to each."""
    time, rate = series_of(runs[tcp_test(scheme, rtt_ms).name].series, "ftp up", "throughput")
    return time, np.cumsum(rate) / np.arange(1, len(rate) + 1) / 2


def ahead(rtt_ms: int, runs: Runs) -> list[tuple[float, float]]:
    """From when to when PIE's mean rate exceeds CoDel-DT's, in s."""
    time, pie = mean_rates("PIE", rtt_ms, runs)
    _, codel_dt = mean_rates("CoDel-DT", rtt_ms, runs)
    better = np.concatenate([[False], pie > codel_dt * (1 + AHEAD_PERCENT / 100), [False]])
    starts, ends = np.flatnonzero(np.diff(better.astype(int))).reshape(-1, 2).T
    return [(float(time[a]), float(time[b - 1])) for a, b in zip(starts, ends, strict=True)]


def _test_cases(row: Row) -> list[Case]:
    return [tcp_test(scheme, _rtt(row)) for scheme in ("PIE", "CoDel-DT")]


def _rtt(row: Row) -> int:
    return int(row.load.partition("rtt=")[2].removesuffix("ms"))


def _test(row: Row, runs: Runs) -> float | None:
    """Of the longest time in which PIE is better: its start or end."""
    if row.metric == "test_end":
        return float(TEST_S[_rtt(row)])
    longest = max(ahead(_rtt(row), runs), key=lambda span: span[1] - span[0], default=None)
    return None if longest is None else longest[row.metric == "pie_better_to"]


def _reno(row: Row, runs: Runs) -> float:
    """§5.3: a window of the bandwidth-delay product and 20 ms of queue, halved."""
    rtt_s, queue_s = 0.2, 0.02
    bdp_bytes = rtt_s * SUSTAINED_MBPS * 1e6 / 8
    before = (rtt_s + queue_s) * SUSTAINED_MBPS * 1e6 / 8 / _PACKET_BYTES
    return {
        "bdp": bdp_bytes / 1e6 if row.unit == "MB" else bdp_bytes / _PACKET_BYTES,
        "cwnd_before_drop": before,
        "cwnd_after_drop": before / 2,
        "reno_recovery_time": before / 2 * rtt_s,
    }[row.metric]


# §7, §8 and the appendices.


def _request_grant(row: Row, run: StoredRun) -> float:
    """What an idle modem adds to a packet: at least and at most."""
    call = run.flow("call1", "up")
    ends = (call["latency_min_ms"], call["latency_max_ms"])
    return float(ends[row.turn]) - _CABLE_MS


def _voice(row: Row, run: StoredRun) -> float:
    return max(float(flow["mos"]) for flow in run.rows("flows") if flow["mos"] is not None)


def _binomial(row: Row, runs: Runs) -> float:
    """Figures 7 and 8: their own numbers, from what they draw."""
    lengths, counts = (
        np.array(draw().rows, dtype=np.float64).T
        for draw in (derandomiser.bernoulli_run_length, derandomiser.binomial_drops)
    )
    mean = float(counts[0] @ counts[1])
    match row.metric:
        case "run_length_mode":
            return float(lengths[0][lengths[1].argmax()])
        case "run_length_mean":
            return 1 / derandomiser.P  # the figure ends at 1000 packets
        case "drop_count_mean":
            return mean
        case "drop_count_variance":
            return float((counts[0] - mean) ** 2 @ counts[1])
        case "common_deviation":  # exceeded by one count in ten
            deviation = Distribution.of(np.abs(counts[0] - mean), counts[1])
            return 100 * (deviation.quantile(0.9) or 0.0) / mean
    raise AssertionError(row)


def _derandomised(row: Row, runs: Runs) -> float:
    """§8 and appendix B: of the simulator's own de-randomiser."""
    match row.metric:
        case "run_length_min_times_p":
            return min(_run_lengths(derandomiser.P)) * derandomiser.P
        case "run_length_max_times_p":
            return max(_run_lengths(derandomiser.P)) * derandomiser.P
        case "p_eff_over_p":
            return 1 / statistics.fmean(_run_lengths(derandomiser.P)) / derandomiser.P
        case "p_eff_above":
            return 1 / statistics.fmean(_run_lengths(derandomiser.LOW))
        case "p_eff_below":
            return 1 / statistics.fmean(_run_lengths(derandomiser.LOW - 1e-3))
        case "overload_ratio":
            flood = runs[overload().name].flow("flood", "up")
            return float(flood["sent_bytes"] / flood["delivered_bytes"])
        case "p_discontinuity_threshold":
            return _first_jump()
    raise AssertionError(row)


@cache
def _run_lengths(p: float) -> tuple[int, ...]:
    return tuple(studies.derandomiser_runs(p, 100_000, _SEED))


def _first_jump() -> float:
    """The least p from which on the effective probability jumps by 5 % or more.

    It does at 0.85/n, where drops may come a packet sooner.
    """
    for n in range(100, 1, -1):
        p = derandomiser.LOW / n
        before, after = (derandomiser.effective(p * (1 + side * 1e-9)) for side in (-1, 1))
        if after / before >= 1 + _JUMP_PERCENT / 100:
            return p
    raise AssertionError("the last jumps are the greatest")


def _share_of_link(row: Row, runs: Runs) -> float:
    levels: Sequence[float] = tracking(True, EXTREME).scenario["upstream"]["congestion"][
        "levels_mbps"
    ]
    return 100 * statistics.fmean(levels) / SUSTAINED_MBPS


def _hardware_queues(row: Row, runs: Runs) -> float:
    """§3.1: 1024 bins or 32, for each of the service flows that modems have."""
    bins, flows = next(
        (bins, flows)
        for bins in (1024, BINS)
        for flows in _SERVICE_FLOWS
        if row.note.startswith(f"{bins} queues x {flows} ")
    )
    return float(bins * flows)


_BINOMIAL: Rule = (no_runs, _binomial)
_DERANDOMISED: Rule = (no_runs, _derandomised)
_AGGREGATE: Rule = (lambda row: cases_under(row.scheme), _aggregate)

_BY_TABLE: Mapping[str, Rule] = {
    "fig-1": _AGGREGATE,
    "fig-2": _AGGREGATE,
    "fig-3": of_one(lambda row: voice_model(), _voice),
    "fig-5": _AGGREGATE,
    "fig-6": (_test_cases, _test),
    "sec-5.3": (no_runs, _reno),
    "sec-7": of_one(lambda row: lone_call(), _request_grant),
    "fig-7": _BINOMIAL,
    "fig-8": _BINOMIAL,
    "fig-9": _DERANDOMISED,
    "sec-8": _DERANDOMISED,
    "fig-16": (lambda row: [overload()], _derandomised),
    "fig-15": (no_runs, _share_of_link),
    "sec-3.1": (no_runs, _hardware_queues),
    "aggregate": _AGGREGATE,
    "conditions": of_one(_condition, _one_condition),
}

cases_of, value_of = by_rule(lambda row: _BY_TABLE[row.table])


def _rows(table: str, load: str, scheme: str, metrics: Iterable[tuple[str, str, str]]) -> list[Row]:
    return [
        Row.unpublished("white2014", table, "aqm", scheme, load, *cell, unit=unit)
        for *cell, unit in metrics
    ]


_AGGREGATES = (
    *(("gaming", f"latency_{q}", "ms") for q in ("p50", "p90", "p99")),
    ("gaming", "loss_max", "%"),
    *(("voip", f"mos_{q}", "1") for q in ("min", "p50")),
    *(("web", f"plt_{q}", "s") for q in ("p50", "p90")),
)
_OF_CONDITION = (
    ("gaming", "latency_p90", "ms"),
    ("gaming", "loss_mean", "%"),
    ("voip", "mos_min", "1"),
    ("web", "plt_p50", "s"),
    ("ftp-sum", "throughput", "Mbps"),
)

UNPUBLISHED = tuple(
    row
    for scheme in SCHEMES
    for row in (
        *_rows("aggregate", "all", scheme, _AGGREGATES),
        *(
            row
            for number in LOADS
            for rf in RF
            for row in _rows("conditions", f"N={number}:rf={rf}", scheme, _OF_CONDITION)
        ),
    )
)
"""Every condition by itself, and what figures 1 to 5 show beside the numbers in the text."""
