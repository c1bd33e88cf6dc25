"""From runs to the cells of Hong 2015."""

import re
import statistics
from collections.abc import Callable, Sequence

import pyarrow.compute as pc
from sojourn import _sojourn
from sojourn.analysis.curves import series_of
from sojourn.analysis.statistics import over_seeds
from sojourn.store.stored_run import StoredRun

from ..framework.cases import Case, Rule, Runs, by_rule, no_runs, of_one, of_several
from ..framework.claims import Cells
from ..framework.rows import Row
from . import ideals
from .cases import ACTIVE_S, EXAMPLE_MBPS, GIGABIT, SINGLE, base_rtts_ms, case, load_of, video_alone
from .measured import (
    bias_percent,
    flows_of,
    gauge,
    mean,
    rtt_spread,
    spread,
    throughputs,
    total,
    variation,
    within,
)
from .schemes import CHAPTER_4

REPLICATIONS = 5
"""Of tables 4.5 and 4.6 and of figure 4.4."""

FTPS = (1, 3, 5, 7, 9, 11)
"""Loads of chapter 4."""

LARGE_KB = 2048
"""The object of the five response times beside figure 4.4; its size is not stated: the largest."""


# A number of one run.


def _run_of(row: Row) -> Case:
    chapter = int(re.split("[-.]", row.table)[1])
    return case(chapter, row.experiment, row.scheme, row.load)


def single(row: Row, run: StoredRun) -> float | None:
    """A number of one run."""
    name = _class(row.flow)
    match row.metric:
        case "throughput":
            if row.flow == "web-mean":
                return total(run, name) / load_of(row.load)["web"]
            return mean(throughputs(run, name))
        case "stddev":
            return spread(throughputs(run, name))
        case "cov":
            return variation(throughputs(run, name))
        case "sum":
            return total(run, name)
        case "jfi":
            return jfi(run, row.experiment, name)
        case "mmr":
            return _sojourn.mmr(throughputs(run, name))
        case "rtt":
            return mean([flow.rtt_s for flow in flows_of(run, name)])
        case "rtt_stddev":
            return rtt_spread([flow.rtt_s for flow in flows_of(run, name)])
        case "loss":
            return mean([flow.loss_percent for flow in flows_of(run, name)])
        case "loss_stddev":
            losses = [flow.loss_percent for flow in flows_of(run, name)]
            return spread([loss for loss in losses if loss is not None])
        case "utilisation":
            return 100 * total(run, "all") / SINGLE.mbps
        case "bias":
            return bias_percent(run, name)
    return _of_application(row, run) if "bin" not in row.metric else _of_bins(row, run)


def jfi(run: StoredRun, experiment: str, name: str) -> float | None:
    """Jain's index of throughput over fair share (equation 3.1)."""
    got = throughputs(run, name)
    if experiment == "ABB-example":
        fair = [ideals.example(number) for number in range(1, len(got) + 1)]
        got = [rate / share for rate, share in zip(got, fair, strict=True)]
    return _sojourn.jfi(got)


_OF_VIDEO = {
    "video_playback_rate": "video_whole_rate_mbps",
    "adaptation_rate": "video_adaptations_per_hour",
    "rebuffer_time": "video_stalled_percent",
}
_OF_RESPONSES = {"wrt": "response_mean_s", "wrt_stddev": "response_stddev_s"}


def _of_application(row: Row, run: StoredRun) -> float | None:
    name = _class(row.flow)
    match row.metric:
        case "latency":
            latency_ms = run.flow("voip", "down")["latency_mean_ms"]
            return None if latency_ms is None else latency_ms / 1000
        case "r_value":
            r_value: float | None = run.flow("voip", "down")["network_r_value"]
            return r_value
        case "wrt" | "wrt_stddev":
            response_s: float | None = run.flow("wrt-client", "down")[_OF_RESPONSES[row.metric]]
            return response_s
        case "video_playback_rate" | "adaptation_rate" | "rebuffer_time":
            entries = {flow.entry for flow in flows_of(run, name)}
            column = _OF_VIDEO[row.metric]
            return mean([run.flow(entry, "down")[column] for entry in sorted(entries)])
        case "disruption_time":
            return gauge(run, "disrupted")
        case "disruption_ratio":
            disrupted_s = gauge(run, "disrupted")
            share = None if disrupted_s is None else disrupted_s / run.meta["duration_s"]
            return share if share is None or row.unit == "1" else 100 * share
    raise AssertionError(row)


def _of_bins(row: Row, run: StoredRun) -> float | None:
    if row.metric.startswith("time_in_bin"):
        return time_in_bin(run, row.flow, int(row.metric.rsplit("_", 1)[1]))
    switches = gauge(run, "bin_switches")
    if row.metric == "bin_switches" or switches is None:
        return switches
    # Flows times reclassifications, one each second; VoIP does not count (table 5.6: 1213 of 3 x
    # 2000).
    flows = sum(load_of(row.load).values())
    return switches / (flows * float(run.meta["duration_s"]))


def time_in_bin(run: StoredRun, name: str, number: int) -> float | None:
    """Share of time in % that the watched flows of a class were in a bin, from 1."""
    series = run.series
    chosen = pc.and_(
        pc.equal(series["metric"], "bin"),
        pc.starts_with(series["subject"].cast("string"), f"cmts {name}"),
    )
    bins = series.filter(chosen)["value"].drop_null().to_numpy()
    # The series count bins from 0, the thesis from 1.
    return 100 * float((bins == number - 1).mean()) if len(bins) else None


def _class(flow: str) -> str:
    """The class of flows that a row is about: `ftp-T1` of `ftp-T1-mean`."""
    return re.sub("-(mean|stddev|cov|sum)$", "", flow)


_SINGLE = of_one(_run_of, single)


# One flow of table 4.7 and figure 4.5, by its round trip.


def _by_round_trip(row: Row, run: StoredRun) -> float | None:
    """Flow i of BASE has 20 + 10 i ms; the first Tier-1 flow has 80."""
    if not (found := re.fullmatch(r"ftp-rtt(\d+)ms", row.flow)):
        return single(row, run)
    return next(iter(throughputs(run, f"ftp-{(int(found[1]) - 20) // 10}")), None)


_BY_ROUND_TRIP = of_one(_run_of, _by_round_trip)


# Ideals: no run.


def _ideal(row: Row, runs: Runs) -> float | None:
    match row.experiment:
        case "tier-allocation-example":
            return ideals.tier_example(row.scheme, row.flow)
        case "TIER" | "TIER-bonded":
            tier = "T2" if row.flow.endswith("T2") else "T1"
            is_weighted = row.scheme.startswith("weighted")
            return ideals.tiers(row.experiment, is_weighted, row.load, tier)
        case "BASE":
            return _capacity_mbps() / load_of(row.load)["ftp"]
        case "ABB-example":
            if row.flow == "udp-sum":
                return float(sum(EXAMPLE_MBPS))
            number = int(row.flow.removeprefix("udp-"))
            is_demand = row.metric == "demand"
            return float(EXAMPLE_MBPS[number - 1]) if is_demand else ideals.example(number)
        case "ABB-breakpoints-1":
            number = int(row.metric.removeprefix("breakpoint_"))
            return ideals.break_points(40, [4, 6, 7, 8, 9, 10], 3)[number - 1]
        case "ABB-breakpoints-2":
            return _second_example(row)
        case "ABB-reordering-estimate":
            return 100 * 0.02 / 1  # the target delay over the interval of reclassification
        case "ME1":
            demand_mbps = 36 * 0.5
            left = (ideals.CAPACITY_MBPS - demand_mbps) / 4
            return demand_mbps if row.metric == "demand" else left
        case "all":
            return GIGABIT.mbps
    raise AssertionError(row)


def _capacity_mbps() -> float:
    """What packets of 1500 bytes get of 38 Mbps beside VoIP, frames of 256 bytes each 20 ms."""
    return (SINGLE.mbps - 256 * 8 / 20e3) * 1500 / 1518


def _second_example(row: Row) -> float:
    consumed = [4.0, 6.0, 6.4, 7.4, 6.4, 6.9]
    bounds = ideals.break_points(ideals.CAPACITY_MBPS, consumed, 3)
    if row.metric.startswith("breakpoint"):
        return bounds[int(row.metric[-1]) - 1]
    bounds[-1] = ideals.CAPACITY_MBPS
    number = int(row.flow.removeprefix("bin-"))
    if row.metric == "bin_threshold":
        return bounds[number - 1]
    return float(sum(ideals.bin_of(rate, bounds) == number for rate in consumed))


_IDEAL: Rule = (no_runs, _ideal)
_IDEAL_SCHEMES = ("max-min-fair", "weighted-max-min-fair", "demand")


# Five runs (tables 4.5 and 4.6).


def _five_cases(row: Row) -> Sequence[Case]:
    return [again(row.scheme, row.load, number) for number in range(REPLICATIONS)]


def again(scheme: str, load: str, number: int) -> Case:
    """A replication of BASE in chapter 4."""
    return case(4, "BASE", scheme, load, replication=number)


def _five(row: Row, runs: Runs) -> float | None:
    metric, _, end = row.metric.partition("_ci_")
    asked = row._replace(metric=metric)
    found = over_seeds([single(asked, runs[case.name]) for case in _five_cases(row)])
    return {"": found.mean, "low": found.low, "high": found.high}[end]


_FIVE: Rule = (_five_cases, _five)


# Figures and sentences.


def _grid(row: Row) -> Sequence[Case]:
    """All of BASE in chapter 4, or one scheme of it at a load: 11 flows where none is named."""
    schemes: Sequence[str] = CHAPTER_4 if row.scheme == "all" else (row.scheme,)
    loads: Sequence[int] = FTPS
    if row.metric == "loss_max":
        schemes, loads = ("DT20",), (11,)
    elif row.scheme != "all":
        loads = (load_of(row.load or "ftp=11")["ftp"],)
    return [case(4, "BASE", scheme, f"ftp={ftps}") for scheme in schemes for ftps in loads]


def _sentence_of_base(row: Row, found: Sequence[StoredRun]) -> float | None:
    match row.metric:
        case "sum":  # "in all but eight of the thirty-six"
            return statistics.median(total(run, "ftp") for run in found)
        case "loss_max":
            return mean([flow.loss_percent for run in found for flow in flows_of(run, "ftp")])
        case "latency_mean":
            return statistics.fmean(run.queue("cmts")["sojourn_mean_ms"] for run in found)
    raise AssertionError(row)


def summed_up(row: Row, cells: Cells) -> float | None:
    """Sentences of section 4.2.1.1, of the cells of the tables that they are about."""
    if row.table != "sec-4.2.1.1":
        return None
    match row.metric:
        case "sum":
            sums = [
                cells.known("sum", table="table-4.2", scheme=scheme, load=f"ftp={ftps}")
                for scheme in CHAPTER_4
                for ftps in FTPS
            ]
            return statistics.median(sums)
        case "loss_max":
            return cells.known("loss", table="table-4.3", scheme="DT20", load="ftp=11")
        case "latency_mean":
            return wait_ms(cells, row.scheme, load_of(row.load or "ftp=11")["ftp"])
    return _widest(
        row, lambda cell: cells.known(cell.metric, table="table-4.5", scheme=cell.scheme)
    )


def wait_ms(cells: Cells, scheme: str, ftps: int) -> float:
    """The queue as section 4.2.1.1 infers it: round trips less the mean of the paths in BASE."""
    rtt_s = cells.one("rtt", table="table-4.4", scheme=scheme, load=f"ftp={ftps}")
    return 1000 * rtt_s - statistics.fmean(base_rtts_ms(ftps))


def _width_schemes(row: Row) -> Sequence[str]:
    return CHAPTER_4 if row.scheme == "all" else row.scheme.split(",")


def _width_cases(row: Row) -> Sequence[Case]:
    schemes = _width_schemes(row)
    return [case for scheme in schemes for case in _five_cases(row._replace(scheme=scheme))]


def _widest(row: Row, end_of: Callable[[Row], float | None]) -> float | None:
    """The widest interval of table 4.5, of a throughput in Mbps or a round trip in ms."""
    metric = row.metric.removesuffix("_ci_width_max")
    scale = 1000 if row.unit == "ms" else 1
    widths = []
    for scheme in _width_schemes(row):
        low, high = (
            end_of(row._replace(scheme=scheme, metric=f"{metric}_ci_{end}"))
            for end in ("low", "high")
        )
        if low is None or high is None:
            return None
        widths.append(scale * (high - low))
    return max(widths)


def _videos(scheme: str, ftps: int) -> Case:
    return case(4, "HAS", scheme, f"has=5:ftp={ftps}")


_VIDEO_SCHEMES = ("DRR", "DT", "ARED", "CoDel", "PIE")


def _video_cases(row: Row) -> Sequence[Case]:
    match row.experiment, row.metric:
        case "HAS-example", _:
            return [video_alone()]
        case "HAS-max-always", "video_playback_rate":
            return [case(4, "HAS-max-always", each, "has=5:ftp=1") for each in ("CoDel", "PIE")]
        case "HAS", "utilisation_min":
            return [_videos(scheme, ftps) for scheme in _VIDEO_SCHEMES for ftps in FTPS[1:]]
        case "HAS", "utilisation_below_ared_drr":
            schemes = ("CoDel", "PIE", "ARED", "DRR")
            return [_videos(scheme, ftps) for scheme in schemes for ftps in FTPS[1:]]
        case "HAS", "rebuffer_time":
            return [_videos(scheme, ftps) for scheme in _VIDEO_SCHEMES for ftps in FTPS]
        case "HAS", _ if row.scheme == "max-min-fair":
            return [case(4, "HAS", "CoDel" if "CoDel" in row.note else "DRR", row.load)]
    return [_run_of(row)]


def _video_sentence(row: Row, runs: Runs) -> float | None:
    found = [runs[case.name] for case in _video_cases(row)]
    match row.experiment, row.metric:
        case "HAS-example", _:
            return _example_of_video(row, found[0])
        case "HAS-max-always", "video_playback_rate":
            return mean([single(row, run) for run in found])
        case "HAS", "utilisation_min":
            return min(100 * total(run, "all") / SINGLE.mbps for run in found)
        case "HAS", "utilisation_below_ared_drr":
            return _behind(row, runs)
        case "HAS", "rebuffer_time":
            return max(single(row, run) or 0.0 for run in found)
        case "HAS", _ if row.scheme == "max-min-fair":
            return _fair_of_consumed(row, found[0])
    return single(row, found[0])


def _behind(row: Row, runs: Runs) -> float:
    """How far CoDel and PIE use the channel less than ARED and DRR, in points, from 3 FTPs on."""

    def used(scheme: str) -> float:
        rates = [total(runs[_videos(scheme, ftps).name], "all") for ftps in FTPS[1:]]
        return 100 * statistics.fmean(rates) / SINGLE.mbps

    best = statistics.fmean((used("ARED"), used("DRR")))
    behind = [best - used(scheme) for scheme in ("CoDel", "PIE")]
    return min(behind) if "low" in row.note else max(behind)


def _fair_of_consumed(row: Row, run: StoredRun) -> float | None:
    """The max-min fair share of what was used, of a video at most 5 Mbps."""
    name = _class(row.flow)
    if name == "all":
        return mean(throughputs(run, name))
    got, bias = mean(throughputs(run, name)), bias_percent(run, name)
    return None if got is None or bias is None else got / (1 + bias / 100)


def _example_of_video(row: Row, run: StoredRun) -> float | None:
    fetch_s = fetch_time_s(run)
    if fetch_s is None:
        return None
    match row.metric:
        case "segment_fetch_time":
            return fetch_s
        case "mu":
            return 4 / fetch_s
    return 5 * 4 / fetch_s


def fetch_time_s(run: StoredRun) -> float | None:
    """Time from the last request but one to the last packet of its answer, if there are two."""
    packets = run.packets
    requests = packets.filter(
        pc.and_(pc.equal(packets["direction"], "up"), pc.greater(packets["size_bytes"], 100))
    )["sent_s"].to_numpy()
    if len(requests) < 2:
        return None
    asked_s, next_s = sorted(requests)[-2:]
    ended = packets.filter(
        pc.and_(pc.equal(packets["direction"], "down"), pc.less(packets["ended_s"], next_s))
    )["ended_s"].to_numpy()
    return float(max(ended) - asked_s)


_OTHERS = "DRR"
"""Which scheme stands for "all but DT" in figure 4.3."""


def _web_case(row: Row) -> Case:
    if row.table == "fig-4.4":
        return responses(row.scheme, LARGE_KB, row.turn)
    scheme = row.scheme if row.scheme == "DT" else _OTHERS
    return case(4, "WEB", scheme, _load_with_web(row))


def responses(scheme: str, kilobytes: int, replication: int = 0) -> Case:
    """A run of figure 4.4."""
    return case(4, "WEB", scheme, "ftp=5:web=50", replication, kilobytes)


def _load_with_web(row: Row) -> str:
    return row.load if "web" in row.load else f"{row.load}:web=80"


def _tier_case(row: Row) -> Case:
    experiment = "TIER-active" if row.table == "fig-4.5" else row.experiment
    return case(4, experiment, "CoDel" if row.scheme == "all" else row.scheme, row.load)


def _tier(row: Row, run: StoredRun) -> float | None:
    if row.table == "fig-4.5":
        entry = "ftp-T2" if row.flow == "ftp-T2" else "ftp-T1-1"
        return while_active(run, entry)
    return single(row, run)


def _flood_of_4(row: Row, run: StoredRun) -> float | None:
    names = ["udp", *(f"ftp-{n}" for n in range(1, load_of(row.load)["ftp"] + 1))]
    return mean([while_active(run, name) for name in (names if row.flow == "all" else ["udp"])])


def while_active(run: StoredRun, entry: str) -> float | None:
    """Throughput in Mbps while the flow of section 4.4 or figure 4.5 sends."""
    return within(run, entry, *ACTIVE_S)


def _at_503(row: Row, run: StoredRun) -> float | None:
    """Figure 5.1, in the 1 s after second 502, or where a shorter run is as far."""
    at_s = 0.503 * float(run.meta["duration_s"])
    time_s, rate = series_of(run.series, f"{row.flow} down", "throughput")
    return float(rate[abs(time_s - at_s).argmin()]) if len(rate) else None


def _rule(row: Row) -> Rule:
    if row.scheme in _IDEAL_SCHEMES and row.table != "sec-4.2.2":
        return _IDEAL
    match row.table, row.experiment:
        case "table-3.1" | "sec-5.1.2.3" | "sec-5.4", _:
            return _IDEAL
        case _, "ABB-reordering-estimate":
            return _IDEAL
        case "table-4.5" | "table-4.6", _:
            return _FIVE
        case "table-4.7", _:
            return _BY_ROUND_TRIP
        case "sec-4.2.1.1", _ if row.metric.endswith("_ci_width_max"):
            return _width_cases, lambda row, runs: _widest(row, lambda cell: _five(cell, runs))
        case "sec-4.2.1.1", _:
            return of_several(_grid, _sentence_of_base)
        case "sec-4.2.2", _:
            return _video_cases, _video_sentence
        case "fig-4.3" | "fig-4.4", _:
            asked = row._replace(load=_load_with_web(row))
            return of_one(_web_case, lambda row, run: single(asked, run))
        case "fig-4.5" | "sec-4.3", _:
            return of_one(_tier_case, _tier)
        case "fig-4.6", _:
            return of_one(_run_of, _flood_of_4)
        case "fig-5.1", _:
            return of_one(_run_of, _at_503)
        case (("sec-5.1.3" | "sec-5.3.2"), _) if row.scheme == "none":
            return _IDEAL
        case "sec-5.3.1", _:
            return _BLOATED
    return _SINGLE


_BLOATED = of_several(
    lambda row: [case(5, row.experiment, "DRR", f"ftp={ftps}") for ftps in FTPS[1:]],
    lambda row, runs: statistics.fmean(total(run, "ftp") for run in runs),
)


cases_of, value_of = by_rule(_rule)
