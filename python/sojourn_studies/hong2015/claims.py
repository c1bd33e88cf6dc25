"""What Hong 2015 says a simulation should show: chapter 4, then chapter 5."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict, listed
from .cases import EXAMPLE_MBPS, case
from .cells import FTPS, jfi, responses, time_in_bin, wait_ms
from .figures import MIXES, SIZES_KB, STEPS_MS, TAPPG, TAPPR, VIDEO_SCHEMES, WEB_FLOWS
from .measured import throughputs
from .schemes import CHAPTER_4, CHAPTER_5

_FAIR = ("DRR-CoDel", "SFQ-CoDel")
_BINNED = ("ABB-2", "ABB-3", "ABB-4")
_AQM = ("ARED", "CoDel", "PIE")
_ALWAYS = "web_t1=30:has_t1=20:has_t2=20:has_t4=20:ftp_t4=10"
_CAPPED = "web=30:has_12M=20:has_50M=20:has_150M=20:ftp_150M=10"
_UDP = "ftp_t1=11:ftp_t2=11:ftp_t4=11:udp_t1=1:udp_t2=1:udp_t4=1"
_MICE, _SLOW_MICE = "ftp=4:onoff=36", "ftp=4:onoff=180"
_BOTH = "ftp=4:onoff_low=90:onoff_mid=90"
_TIER_1 = (11, 22, 33, 44, 55)


def _at(cells: Cells, table: str, scheme: str, load: str, flow: str, metric: str) -> float:
    """A cell; NaN where it has no value, which no comparison survives."""
    return cells.one(metric, table=f"table-{table}", scheme=scheme, load=load, flow=flow)


def _over_ftps(
    cells: Cells, table: str, scheme: str, flow: str, metric: str, ftps: Iterable[int] = FTPS
) -> list[float]:
    return [_at(cells, table, scheme, f"ftp={n}", flow, metric) for n in ftps]


def _list(values: Iterable[float], digits: int = 2) -> str:
    return ", ".join(f"{value:z.{digits}f}" for value in values)


def _lists(found: Mapping[str, Iterable[float]], digits: int = 2, unit: str = "") -> str:
    """Names with their values."""
    return "; ".join(f"{name} {_list(values, digits)}{unit}" for name, values in found.items())


def _grows(values: Sequence[float]) -> bool:
    return values[-1] > values[0]


# Chapter 4.


def _fills(cells: Cells, runs: Runs) -> Verdict:
    full = [
        rate
        for scheme in CHAPTER_4
        if scheme != "DT20"
        for rate in _over_ftps(cells, "4.2", scheme, "ftp-sum", "sum", FTPS[1:])
    ]
    small = _over_ftps(cells, "4.2", "DT20", "ftp-sum", "sum")
    alone = [_at(cells, "4.2", scheme, "ftp=1", "ftp-sum", "sum") for scheme in ("CoDel", "PIE")]
    holds = min(full) > 37.2 and max(small) < 37.3 and max(alone) < 37.2
    numbers = f"at least {min(full):.2f}; DT20 at most {max(small):.2f}; alone {_list(alone)} Mbps"
    return Verdict(holds, numbers)


def _losses(cells: Cells, runs: Runs) -> Verdict:
    loss = {each: _over_ftps(cells, "4.3", each, "ftp-mean", "loss") for each in (*_AQM, "DT20")}
    highest = max(loss, key=lambda each: loss[each][-1])
    return Verdict(highest == "DT20" and all(map(_grows, loss.values())), _lists(loss, 3))


def _waits(cells: Cells, runs: Runs) -> Verdict:
    def waits_ms(scheme: str) -> list[float]:
        return [wait_ms(cells, scheme, ftps) for ftps in FTPS]

    low = {each: waits_ms(each) for each in ("CoDel", "PIE", "DT20")}
    ared, drop_tail, drr = waits_ms("ARED"), waits_ms("DT"), waits_ms("DRR")
    per_flow = [wait / n for wait, n in zip(drr, FTPS, strict=True)]
    holds = (
        all(5 < wait < 25 for waits in low.values() for wait in waits)
        and all(40 < wait < 66 for wait in ared)
        and all(440 < wait < 620 for wait in drop_tail)
        and max(per_flow) < 1.3 * min(per_flow)
    )
    return Verdict(holds, _lists({**low, "ARED": ared, "DT": drop_tail, "DRR": drr}, 0, " ms"))


def _fairness(runs: Runs, scheme: str) -> list[float]:
    return [
        jfi(runs[case(4, "BASE", scheme, f"ftp={n}").name], "BASE", "ftp") or math.nan
        for n in FTPS[1:]
    ]


def _unequal(cells: Cells, runs: Runs) -> Verdict:
    found = {scheme: _fairness(runs, scheme) for scheme in CHAPTER_4}
    last = {scheme: values[-1] for scheme, values in found.items()}
    modern = (last["CoDel"], last["PIE"])
    holds = last["DRR"] > 0.99 and last["DT20"] == min(last.values())
    holds = holds and max(modern) < min(last["ARED"], last["DT"])
    return Verdict(holds, listed(last, 3))


def _fifty(cells: Cells, runs: Runs) -> Verdict:
    found = [cells.one("jfi", table="sec-4.2.1.2", scheme=scheme) for scheme in _AQM]
    holds = all(abs(a - b) <= 0.02 for a, b in zip(found, (0.75, 0.60, 0.62), strict=True))
    return Verdict(holds, _list(found))


def _by_round_trip(cells: Cells, runs: Runs) -> Verdict:
    rates = {
        scheme: [
            _at(cells, "4.7", scheme, "ftp=11", f"ftp-rtt{rtt}ms", "throughput")
            for rtt in range(30, 131, 10)
        ]
        for scheme in _AQM
    }
    holds = all(
        sum(b < a for a, b in pairwise(each)) >= 8 and each[-1] < each[0] / 1.5
        for each in rates.values()
    )
    return Verdict(holds, _lists(rates))


def _same_round_trip(cells: Cells, runs: Runs) -> Verdict:
    fair = {scheme: _over_ftps(cells, "4.8", scheme, "ftp", "jfi") for scheme in CHAPTER_4}
    worst = min(min(values) for scheme, values in fair.items() if scheme != "DT")
    numbers = f"at least {worst:.3f}; DT {_list(fair['DT'], 3)}"
    return Verdict(worst >= 0.985 and min(fair["DT"]) < 0.985, numbers)


def _wider(cells: Cells, runs: Runs) -> Verdict:
    found = {
        scheme: [
            jfi(runs[case(4, "RTT-spread", scheme, f"ftp=7:step={step}").name], "", "ftp") or 0.0
            for step in STEPS_MS
        ]
        for scheme in _AQM
    }
    holds = all(values[-1] < values[0] for values in found.values())
    return Verdict(holds, _lists(found, 3))


def _call(cells: Cells, runs: Runs) -> Verdict:
    found = {each: _over_ftps(cells, "4.10", each, "voip", "r_value") for each in CHAPTER_4}
    good = min(min(values) for scheme, values in found.items() if scheme != "DT")
    drop_tail = found["DT"]
    holds = good >= 90.5 and 30 < drop_tail[-1] < drop_tail[0] < 45
    return Verdict(holds, f"at least {good:.1f}; DT {_list(drop_tail, 1)}")


def _call_loses_more(cells: Cells, runs: Runs) -> Verdict:
    def more(scheme: str) -> float:
        voip = _over_ftps(cells, "4.10", scheme, "voip", "loss")
        ftp = _over_ftps(cells, "4.3", scheme, "ftp-mean", "loss")
        return math.fsum(voip) / math.fsum(ftp)

    codel, pie, small = more("CoDel"), more("PIE"), more("DT20")
    numbers = f"VoIP's loss over FTP's: CoDel {codel:.2f}, PIE {pie:.2f}, DT20 {small:.2f}"
    return Verdict(codel > 1 and codel > pie > small, numbers)


def _many(cells: Cells, runs: Runs) -> Verdict:
    def r_value(scheme: str, ftps: int) -> float:
        return cells.one("r_value", table="sec-4.2.1.3", scheme=scheme, load=f"ftp={ftps}")

    few, many = ([r_value(scheme, n) for scheme in _AQM] for n in (50, 90))
    holds = all(abs(r - 88) < 4 for r in few) and all(abs(r - 69) < 6 for r in many)
    return Verdict(holds, f"50 flows {_list(few, 1)}; 90 flows {_list(many, 1)}")


def _videos(cells: Cells, table: str, scheme: str, flow: str, metric: str) -> list[float]:
    loads = (1, 5, 11) if table == "4.13" else FTPS
    return [_at(cells, table, scheme, f"has=5:ftp={n}", flow, metric) for n in loads]


def _used(cells: Cells, runs: Runs) -> Verdict:
    used = {s: _videos(cells, "4.11", s, "all", "utilisation")[1:] for s in VIDEO_SCHEMES}
    least = min(min(values) for values in used.values())
    below = cells.one("utilisation_below_ared_drr", 1)
    return Verdict(least >= 93.5 and 0 < below < 3, f"at least {least:.1f} %; {below:.1f} % below")


_BIAS_PERCENT = 4
"""A smaller difference of bias is none: what is allowed between cells."""


def _favours_ftp(cells: Cells, runs: Runs) -> Verdict:
    bias = {s: _videos(cells, "4.12", s, "has-mean", "bias") for s in VIDEO_SCHEMES}
    holds = all(value < 0.5 for values in bias.values() for value in values)
    holds = holds and min(bias, key=lambda s: math.fsum(bias[s])) == "DT"
    better = [s for s in VIDEO_SCHEMES if bias[s][-1] > bias[s][1] + _BIAS_PERCENT]
    holds = holds and better == ["DRR"]
    return Verdict(holds, _lists(bias, 0, " %"))


def _video_rates(cells: Cells, runs: Runs) -> Verdict:
    rate = {s: _videos(cells, "4.13", s, "has-mean", "video_playback_rate") for s in VIDEO_SCHEMES}
    changes = {s: _videos(cells, "4.13", s, "has-mean", "adaptation_rate") for s in VIDEO_SCHEMES}
    total = {s: math.fsum(values) for s, values in changes.items()}
    holds = all(a > b for s in _AQM for a, b in zip(rate[s], rate["DT"], strict=True))
    holds = holds and max(_AQM, key=lambda s: total[s]) == "CoDel"
    holds = holds and min(total, key=lambda s: total[s]) == "DRR"
    return Verdict(holds, _lists(rate, unit=" Mbps"))


def _stalls(cells: Cells, runs: Runs) -> Verdict:
    adaptive = cells.one("rebuffer_time", experiment="HAS")
    at_top = [
        cells.one("rebuffer_time", experiment="HAS-max-always", scheme=s, load=f"has=5:ftp={n}")
        for s in ("CoDel", "PIE")
        for n in (1, 11)
    ]
    holds = adaptive < 0.5 and max(at_top[::2]) < 2 and min(at_top[1::2]) > 40
    return Verdict(holds, f"adaptive {adaptive:.1f} %; at the top {_list(at_top, 0)} %")


def _web_shares(cells: Cells, runs: Runs) -> Verdict:
    def rates(scheme: str) -> list[float]:
        loads = [f"ftp=5:web={n}" for n in WEB_FLOWS]
        found = [throughputs(runs[case(4, "WEB", scheme, load).name], "ftp") for load in loads]
        return [math.fsum(each) / len(each) for each in found]

    drop_tail, others = rates("DT"), [rates(s)[-1] for s in VIDEO_SCHEMES if s != "DT"]
    holds = drop_tail[-1] > max(6, *others) and max(others) - min(others) < 0.3
    return Verdict(holds, f"80 web flows: DT {drop_tail[-1]:.2f}, others {_list(others)} Mbps")


def _responses(cells: Cells, runs: Runs) -> Verdict:
    found = {
        s: [_at(cells, "4.14", s, f"ftp=5:web={n}", "wrt-client", "wrt") for n in WEB_FLOWS]
        for s in VIDEO_SCHEMES
    }
    flat = all(max(v) < 1.25 * min(v) for s, v in found.items() if s != "DT")
    large = min(found["DT"]) > 3 * max(found["CoDel"])
    erratic = max(found["DT"]) > 1.5 * min(found["DT"])
    return Verdict(flat and large and erratic, _lists(found, unit=" s"))


def _sizes(cells: Cells, runs: Runs) -> Verdict:
    found = {
        s: [
            runs[responses(s, size).name].flow("wrt-client", "down")["response_mean_s"] or math.nan
            for size in SIZES_KB
        ]
        for s in VIDEO_SCHEMES
    }
    last = {s: values[-1] for s, values in found.items()}
    holds = all(map(_grows, found.values())) and min(last, key=lambda s: last[s]) == "DRR"
    holds = holds and max(last, key=lambda s: last[s]) == "DT"
    return Verdict(holds, ", ".join(f"{s} {v:.1f} s" for s, v in last.items()) + " for 2048 KB")


def _tiers_differ(table: str) -> Callable[[Cells, Runs], Verdict]:
    def test(cells: Cells, runs: Runs) -> Verdict:
        def ratio(scheme: str, ftps: int) -> float:
            load = f"t1={ftps}:t2=1"
            high = _at(cells, table, scheme, load, "ftp-T2", "throughput")
            return high / _at(cells, table, scheme, load, "ftp-T1", "throughput")

        found = {s: [ratio(s, n) for n in (5, 7, 9, 11)] for s in (*_AQM, "DT")}
        holds = all(found[s][0] > 1.2 and found[s][-1] < 1.1 for s in _AQM)
        holds = holds and min(found["DT"]) > 1
        return Verdict(holds, _lists(found))

    return test


def _flood(cells: Cells, runs: Runs) -> Verdict:
    pie = cells.one("throughput", table="fig-4.6", scheme="PIE")
    drr = cells.one("throughput", table="fig-4.6", scheme="DRR")
    holds = pie > 11 and abs(drr - 3.7) < 0.3
    return Verdict(holds, f"UDP under PIE {pie:.2f}, all flows under DRR {drr:.2f} Mbps")


# Chapter 5.


def _example(cells: Cells, runs: Runs) -> Verdict:
    load = f"udp={len(EXAMPLE_MBPS)}"
    found = [_at(cells, "5.1", f"ABB-{k}", load, "udp", "jfi") for k in range(1, 6)]
    holds = abs(found[0] - 0.937) < 0.02 and min(found[1:]) > 0.985
    return Verdict(holds and max(found[3:]) - found[2] < 0.003, _list(found, 3))


def _binning_is_fair(cells: Cells, runs: Runs) -> Verdict:
    cov = {s: _over_ftps(cells, "5.3", s, "ftp-cov", "cov", FTPS[1:]) for s in CHAPTER_5}
    most = max(max(cov[s]) for s in (*_BINNED, *_FAIR))
    holds = most < 0.11 and all(
        single > 1.5 * value
        for s in _BINNED
        for single, value in zip(cov["CoDel"], cov[s], strict=True)
    )
    return Verdict(holds, f"at most {most:.3f}; CoDel {_list(cov['CoDel'])}")


def _binning_fills(cells: Cells, runs: Runs) -> Verdict:
    rate = {s: _over_ftps(cells, "5.3", s, "ftp-sum", "sum", FTPS[1:]) for s in CHAPTER_5}
    gap = max(abs(a - b) for s in _BINNED for a, b in zip(rate[s], rate["DRR-CoDel"], strict=True))
    least = min(rate[s][i] for s in _BINNED for i in (3, 4))
    return Verdict(gap < 0.4 and least > 37.2, f"{gap:.2f} apart; from nine {least:.2f} Mbps")


def _binning_waits(cells: Cells, runs: Runs) -> Verdict:
    rtt = {s: _over_ftps(cells, "5.4", s, "ftp-mean", "rtt", FTPS[1:]) for s in CHAPTER_5}
    binned = [1000 * value for s in _BINNED for value in rtt[s]]
    codel = [1000 * value for value in rtt["CoDel"]]
    holds = min(binned) > 84 and max(binned) < 97 and min(codel) > 89 and max(codel) < 104
    numbers = f"ABB {min(binned):.0f} to {max(binned):.0f} ms; CoDel {_list(codel, 0)} ms"
    return Verdict(holds, numbers)


def _binning_calls(cells: Cells, runs: Runs) -> Verdict:
    def over(metric: str, scheme: str) -> list[float]:
        return _over_ftps(cells, "5.5", scheme, "voip", metric, FTPS[1:])

    r_value = min(min(over("r_value", s)) for s in CHAPTER_5)
    late = min(over("latency", "CoDel")) - max(max(over("latency", s)) for s in _BINNED)
    lost = [statistics.fmean(over("loss", s)) for s in (*_BINNED, "CoDel")]
    numbers = (
        f"R at least {r_value:.1f}; the least latency under CoDel is {1000 * late:.0f} ms over the "
        f"most under ABB; mean losses of ABB-2 to -4 {_list(lost[:-1], 4)}, CoDel {lost[-1]:.3f} %"
    )
    return Verdict(r_value > 91.5 and late > 0 and lost[-1] == max(lost), numbers)


def _switching(cells: Cells, runs: Runs) -> Verdict:
    def over(metric: str, scheme: str) -> list[float]:
        return _over_ftps(cells, "5.6", scheme, "all", metric, FTPS[1:])

    rates = {s: over("bin_switch_rate", s) for s in _BINNED}
    most = max(max(over("disruption_ratio", s)) for s in _BINNED)
    numbers = f"{_lists(rates)}; disruption {most:.4f}"
    return Verdict(all(map(_grows, rates.values())) and most < 0.01, numbers)


def _elephants(cells: Cells, runs: Runs) -> Verdict:
    cov = {s: _at(cells, "5.7", s, _MICE, "ftp-cov", "cov") for s in CHAPTER_5}
    most = max(value for s, value in cov.items() if s != "CoDel")
    return Verdict(most <= 0.08 < cov["CoDel"], f"at most {most:.3f}; CoDel {cov['CoDel']:.3f}")


def _mice_are_quick(cells: Cells, runs: Runs) -> Verdict:
    def gain_ms(table: str, load: str, scheme: str) -> float:
        ftp = _at(cells, table, scheme, load, "ftp-mean", "rtt")
        return 1000 * (ftp - _at(cells, table, scheme, load, "onoff-mean", "rtt"))

    places = (("5.8", _MICE), ("5.11", _SLOW_MICE))
    gains = {s: [gain_ms(*place, s) for place in places] for s in CHAPTER_5}
    least = min(min(gains[s]) for s in (*_BINNED, *_FAIR))
    numbers = f"at least {least:.1f} ms less; CoDel {_list(gains['CoDel'], 1)} ms"
    return Verdict(least > 0 and max(gains["CoDel"]) < 4, numbers)


def _overload(cells: Cells, runs: Runs) -> Verdict:
    def ratio(scheme: str) -> float:
        ftp = _at(cells, "5.13", scheme, _BOTH, "ftp-mean", "throughput")
        return ftp / _at(cells, "5.13", scheme, _BOTH, "onoff-mid-mean", "throughput")

    found = {s: ratio(s) for s in (*_BINNED, "CoDel")}
    holds = all(abs(found[s] - 1) < 0.12 for s in _BINNED) and 0.45 < found["CoDel"] < 0.75
    return Verdict(holds, listed(found, 2))


def _overload_switches(cells: Cells, runs: Runs) -> Verdict:
    def each(metric: str) -> list[float]:
        return [_at(cells, "5.15", s, _BOTH, "all", metric) for s in _BINNED]

    rates, ratios = each("bin_switch_rate"), each("disruption_ratio")
    numbers = f"{_list(rates)}; disruption {_list(ratios, 3)}"
    return Verdict(0.1 < min(rates) < max(rates) < 0.42 and max(ratios) < 0.03, numbers)


def _tier_ratio(cells: Cells, table: str, scheme: str, load: str, tier: int) -> float:
    """Throughput of a tier over that of Tier-1, over its weight."""
    high = "" if table == "5.16" else "-mean"
    got = _at(cells, table, scheme, load, f"ftp-T{tier}{high}", "throughput")
    return got / _at(cells, table, scheme, load, "ftp-T1-mean", "throughput") / tier


def _weights(cells: Cells, runs: Runs) -> Verdict:
    def mean_ratio(scheme: str) -> float:
        loads = [f"t1={n}:t2=1:t4=1" for n in _TIER_1]
        found = [_tier_ratio(cells, "5.16", scheme, load, 4) for load in loads]
        return math.fsum(found) / len(found)

    found = {s: mean_ratio(s) for s in (*_BINNED, "CoDel")}
    holds = found["ABB-2"] < min(found["ABB-3"], found["ABB-4"]) and found["ABB-2"] > 0.6
    numbers = listed(found, 2)
    return Verdict(holds and found["CoDel"] < 0.45, f"Tier-4 over 4 x Tier-1: {numbers}")


def _poorest(cells: Cells, runs: Runs) -> Verdict:
    found = {
        load: math.fsum(1 - _tier_ratio(cells, "5.19", s, load, 4) for s in _BINNED)
        for load in MIXES
    }
    worst = max(found, key=lambda load: found[load])
    numbers = listed(found, 2)
    return Verdict(
        worst == "t1=5:t2=5:t4=25",
        f"how far Tier-4 is from 4 times Tier-1, as parts of it, ABB-2 to -4 together: {numbers}",
    )


def _within_tiers(cells: Cells, runs: Runs) -> Verdict:
    cov = [
        _at(cells, "5.19", s, load, f"ftp-T{tier}-cov", "cov")
        for s in _BINNED
        for load in MIXES
        for tier in (1, 2, 4)
    ]
    quicker = [
        _at(cells, "5.20", s, load, "ftp-T1-mean", "rtt")
        - _at(cells, "5.20", s, load, "ftp-T4-mean", "rtt")
        for s in _BINNED
        for load in MIXES
    ]
    mean_ms = 1000 * math.fsum(quicker) / len(quicker)
    numbers = f"CoV at most {max(cov):.2f}; Tier-4 {mean_ms:.1f} ms quicker"
    return Verdict(max(cov) < 0.15 and mean_ms > 0, numbers)


def _floods(cells: Cells, runs: Runs) -> Verdict:
    def rates(scheme: str) -> list[float]:
        return [_at(cells, "5.24", scheme, _UDP, f"udp-T{t}", "throughput") for t in (1, 2, 4)]

    found = {s: rates(s) for s in ("DRR-CoDel", *_BINNED, "ABB-5", "CoDel")}
    low = {s: values[0] for s, values in found.items()}
    holds = low["DRR-CoDel"] < 16 and min(low["CoDel"], low["ABB-2"], low["ABB-3"]) > 45
    above = {s: math.fsum(found[s]) for s in ("ABB-4", "ABB-5")}
    holds = holds and low["ABB-4"] < 45 and above["ABB-5"] < above["ABB-4"]
    return Verdict(holds, _lists(found, 1))


def _floods_and_weights(cells: Cells, runs: Runs) -> Verdict:
    def ratio(scheme: str) -> float:
        t1, t4 = (_at(cells, "5.24", scheme, _UDP, f"ftp-T{t}", "throughput") for t in (1, 4))
        return t4 / t1 / 4

    found = [ratio(s) for s in (*_BINNED, "ABB-5")]
    disrupted = [
        _at(cells, "5.25", s, _UDP, "all", "disruption_ratio") for s in (*_BINNED, "ABB-5")
    ]
    holds = min(found) > 0.6 and min(disrupted[2:]) > 1.5 * disrupted[0]
    return Verdict(holds, f"{_list(found)}; disruption {_list(disrupted, 3)}")


def _video_tiers(cells: Cells, runs: Runs) -> Verdict:
    def each(scheme: str, metric: str) -> list[float]:
        return [_at(cells, "5.27", scheme, _ALWAYS, f"has-T{t}", metric) for t in (1, 2, 4)]

    rates = {s: each(s, "video_playback_rate") for s in (*_BINNED, "DRR-CoDel", "CoDel")}
    ordered = all(v[0] < v[1] < v[2] for s, v in rates.items() if s != "CoDel")
    changes = [each(s, "adaptation_rate") for s in _BINNED]
    fewer = all(v[0] > v[1] > v[2] for v in changes)
    alike = max(rates["CoDel"]) < 1.15 * min(rates["CoDel"])
    return Verdict(ordered and fewer and alike, _lists(rates))


def _occupancy(cells: Cells, runs: Runs) -> Verdict:
    run = runs[case(5, "TAPPG", "ABB-4", TAPPG).name]
    web = time_in_bin(run, "web-T1", 1) or math.nan
    videos = [time_in_bin(run, f"has-T{t}", 1) or math.nan for t in (1, 2, 4)]
    holds = web > 98 and videos[0] < videos[1] < videos[2]
    return Verdict(holds, f"in bin 1: web {web:.0f} %, video {_list(videos, 0)} %")


def _caps(cells: Cells, runs: Runs) -> Verdict:
    def ratio(scheme: str) -> float:
        two, four = (
            _at(cells, "5.29", scheme, _CAPPED, f"has-T{t}", "video_playback_rate") for t in (2, 4)
        )
        return two / four

    found = {s: ratio(s) for s in (*_BINNED, "DRR-CoDel", "CoDel")}
    holds = all(0.85 < value < 1.15 for value in found.values())
    return Verdict(holds, listed(found, 2))


def _all_tiers(cells: Cells, runs: Runs) -> Verdict:
    def ordered(scheme: str, kind: str) -> bool:
        got = [_at(cells, "5.30", scheme, TAPPR, f"{kind}-T{t}", "throughput") for t in (1, 2, 4)]
        return got[2] > 1.15 * got[0] and got[0] < got[1] < got[2] * 1.02

    found = {
        s: [ordered(s, kind) for kind in ("ftp", "has")] for s in (*_BINNED, "DRR-CoDel", "CoDel")
    }
    holds = all(all(v) for s, v in found.items() if s != "CoDel") and not all(found["CoDel"])
    return Verdict(holds, ", ".join(f"{s} {sum(v)} of 2" for s, v in found.items()))


def _quick_web(cells: Cells, runs: Runs) -> Verdict:
    found = [
        cells.one("wrt", table="table-5.32", experiment=variant, scheme=s)
        for variant in ("TAPPG", "TAPPC", "TAPPR")
        for s in (*_BINNED, "DRR-CoDel", "CoDel")
    ]
    numbers = f"{min(found):.2f} to {max(found):.2f} s"
    return Verdict(0.17 < min(found) < max(found) < 0.21, numbers)


def _break_points(cells: Cells, runs: Runs) -> Verdict:
    first = [cells.one(f"breakpoint_{n}", experiment="ABB-breakpoints-1") for n in (1, 2, 3)]
    second = "ABB-breakpoints-2"
    bounds = [cells.one("bin_threshold", flow=f"bin-{n}", experiment=second) for n in (1, 2, 3)]
    weights = [cells.one("bin_weight", flow=f"bin-{n}", experiment=second) for n in (1, 2, 3)]
    off = [abs(a - b) for a, b in zip(first + bounds, (6.7, 7.5, 7.7, 6.3, 7, 38), strict=True)]
    holds = max(off) < 0.05 and weights == [2, 3, 1]
    return Verdict(holds, f"{_list(first)}; {_list(bounds)}; weights {_list(weights, 0)}")


def _disruption(cells: Cells, runs: Runs) -> Verdict:
    udp = cells.one("disruption_ratio", table="sec-5.1.4")
    return Verdict(5 < udp < 12, f"{udp:.1f} % with six UDP flows and three bins")


_tiers = _tiers_differ("4.15")
_tiers_of_four_channels = _tiers_differ("4.16")
