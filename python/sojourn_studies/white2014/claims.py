"""What White 2014 says a simulation should show."""

import numpy as np
from sojourn.analysis.curves import series_of
from sojourn.analysis.distribution import Numbers

from ..cablelabs.mixture import call_latencies, call_loss_percent
from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict, listed
from . import derandomiser, rates
from .cases import AQMS, RTTS_MS, SCHEMES, SINGLE_QUEUE, overload, tcp_test, tracking
from .cells import EXTREME, ahead, cases_under, distribution, mean_rates

_SFQ = ("SFQ-CoDel", "SFQ-PIE")


def _of_schemes(cells: Cells, metric: str) -> dict[str, float]:
    return {name: cells.known(metric, table="aggregate", scheme=name) for name in SCHEMES}


def _order(cells: Cells, runs: Runs) -> Verdict:
    p90 = _of_schemes(cells, "latency_p90")
    sfq = max(p90[name] for name in _SFQ)
    single = [p90[name] for name in SINGLE_QUEUE]
    holds = sfq < min(single) and max(single) < p90["BufferControl"] < p90["BufferBloat"]
    return Verdict(holds, listed(p90, 1) + " ms")


def _alike(cells: Cells, runs: Runs) -> Verdict:
    p90 = {name: _of_schemes(cells, "latency_p90")[name] for name in SINGLE_QUEUE}
    near = abs(p90["CoDel"] / p90["PIE"] - 1) < 0.15
    return Verdict(near and p90["CoDel-DT"] < min(p90["CoDel"], p90["PIE"]), listed(p90, 1) + " ms")


def _no_loss(cells: Cells, runs: Runs) -> Verdict:
    worst = {name: cells.known("loss_max", table="aggregate", scheme=name) for name in _SFQ}
    return Verdict(max(worst.values()) == 0, listed(worst, 3) + " % in the worst condition")


def _loss_order(cells: Cells, runs: Runs) -> Verdict:
    mean = {
        name: float(np.mean([call_loss_percent(runs[c.name]) for c in cases_under(name)]))
        for name in SINGLE_QUEUE
    }
    holds = mean["PIE"] <= mean["CoDel"] < mean["CoDel-DT"]
    return Verdict(holds, listed(mean, 3) + " % on average")


def _good_calls(cells: Cells, runs: Runs) -> Verdict:
    worst = _of_schemes(cells, "mos_min")
    good = min(value for name, value in worst.items() if name != "BufferBloat")
    bloat = distribution("mos", "BufferBloat", runs).share_below(3.6) or 0.0
    numbers = f"worst: {listed(worst, 2)}; BufferBloat below 3.6 in {100 * bloat:.0f} % of calls"
    return Verdict(good >= 4.2 and bloat > 0.5, numbers)


def _pages(cells: Cells, runs: Runs) -> Verdict:
    p90 = _of_schemes(cells, "plt_p90")
    aqm = max(p90[name] for name in AQMS)
    holds = aqm < p90["BufferControl"] < p90["BufferBloat"]
    return Verdict(holds, listed(p90, 2) + " s")


def _rates(rtt_ms: int, at_s: float, runs: Runs) -> dict[str, float]:
    found = {}
    for name in SCHEMES:
        time, mean = mean_rates(name, rtt_ms, runs)
        found[name] = float(mean[time <= at_s][-1])
    return found


def _spread(values: dict[str, float]) -> float:
    return 100 * (1 - min(values.values()) / max(values.values()))


def _long_term(cells: Cells, runs: Runs) -> Verdict:
    spreads = {f"{rtt} ms": _spread(_rates(rtt, 100, runs)) for rtt in RTTS_MS}
    holds = max(spreads["20 ms"], spreads["50 ms"]) < 10 and spreads["20 ms"] < spreads["200 ms"]
    return Verdict(holds, "at the end schemes differ by up to: " + listed(spreads, 1) + " %")


def _nearest(cells: Cells, runs: Runs) -> Verdict:
    found = _rates(20, 10, runs)
    aqms = {name: found[name] for name in AQMS}
    return Verdict(_spread(aqms) < 5, listed(aqms, 1) + " Mbps a flow")


def _spans(rtt_ms: int, runs: Runs) -> tuple[list[tuple[float, float]], str]:
    spans = ahead(rtt_ms, runs)
    return spans, "PIE ahead: " + (", ".join(f"{a:.1f} to {b:.1f} s" for a, b in spans) or "never")


def _at_20_ms(cells: Cells, runs: Runs) -> Verdict:
    spans, numbers = _spans(20, runs)
    total = sum(end - start for start, end in spans)
    holds = any(start < 5 < end or 1 < start < 7 for start, end in spans) and total < 12
    return Verdict(holds, numbers)


def _at_50_ms(cells: Cells, runs: Runs) -> Verdict:
    spans, numbers = _spans(50, runs)
    found = _rates(50, 24, runs)
    ahead_then = any(start < 12 < end for start, end in spans)
    numbers += f"; at 24 s PIE {found['PIE']:.1f}, CoDel-DT {found['CoDel-DT']:.1f} Mbps"
    return Verdict(ahead_then and found["CoDel-DT"] > found["PIE"], numbers)


def _at_100_ms(cells: Cells, runs: Runs) -> Verdict:
    spans, numbers = _spans(100, runs)
    end, far = _rates(100, 60, runs), _rates(200, 100, runs)
    numbers += f"; at 200 ms after 100 s PIE {far['PIE']:.1f}, CoDel-DT {far['CoDel-DT']:.1f} Mbps"
    ahead_first = any(start < 10 < stop for start, stop in spans)
    holds = ahead_first and end["CoDel-DT"] >= 0.99 * end["PIE"]
    return Verdict(holds and far["PIE"] < 0.95 * far["CoDel-DT"], numbers)


def _recovery(cells: Cells, runs: Runs) -> Verdict:
    seconds = cells.known("reno_recovery_time")
    return Verdict(abs(seconds - 360) < 20, f"{seconds:.0f} s for {seconds / 0.2:.0f} segments")


def _request_grant(cells: Cells, runs: Runs) -> Verdict:
    low, high = (cells.known("request_grant_latency", turn) for turn in (0, 1))
    return Verdict(low >= 3.5 and high <= 8.5, f"{low:.1f} to {high:.1f} ms")


def _clusters(cells: Cells, runs: Runs) -> Verdict:
    mode, swing = cells.known("run_length_mode"), cells.known("common_deviation")
    numbers = f"a length of {mode:.0f} is likeliest; counts are commonly {swing:.0f} % off"
    return Verdict(mode == 1 and swing >= 40, numbers)


def _deviation(pmf: Numbers) -> float:
    k = np.arange(len(pmf))
    return float(np.sqrt(pmf @ (k - pmf @ k) ** 2) / (pmf @ k))


def _narrow(cells: Cells, runs: Runs) -> Verdict:
    evened = _deviation(derandomiser.drop_count_pmf(derandomiser.P, derandomiser.PACKETS))
    plain = np.sqrt(9.9) / 10
    numbers = (
        f"standard deviation over mean {100 * evened:.0f} %, {100 * plain:.0f} % of plain drops"
    )
    return Verdict(bool(evened < plain), numbers)


def _gap(cells: Cells, runs: Runs) -> Verdict:
    """Over seconds, each of some 250 drops or more."""
    below, above = cells.known("p_eff_below"), cells.known("p_eff_above")
    low = cells.known("p_eff_over_p")
    _, p = series_of(runs[overload().name].series, "upstream", "drop_probability")
    late = p[len(p) // 4 :]
    swings = bool(len(late) and late.min() < derandomiser.LOW <= late.max())
    numbers = f"{low:.3f} p; gap from {below:.3f} to {above:.3f}"
    if len(late):
        numbers += f"; p from {late.min():.2f} to {late.max():.2f} at 2.5 times the rate"
    return Verdict(abs(low - 0.541) < 0.01 and below < 0.46 < above and swings, numbers)


def _tracks(cells: Cells, runs: Runs) -> Verdict:
    errors = []
    for figure in (11, 13):
        rows = np.array(rates.estimate(figure).rows)
        settled = rows[rows[:, 0] > 15]
        errors.append(100 * np.nanquantile(np.abs(settled[:, 2] / settled[:, 1] - 1), (0.5, 0.95)))
    (own, own_95), (grants, grants_95) = errors
    numbers = (
        f"median error {own:.0f} and {grants:.0f} %, one in twenty is over {own_95:.0f} and "
        f"{grants_95:.0f} %"
    )
    return Verdict(bool(own_95 > 20 and grants_95 < 10 and grants < own / 3), numbers)


def _two_ways(cells: Cells, runs: Runs) -> Verdict:
    p90 = {
        (tracked, share): call_latencies(runs[tracking(tracked, share).name]).quantile(0.9) or 0.0
        for tracked in (True, False)
        for share in (1, EXTREME)
    }
    same = abs(p90[True, 1] / p90[False, 1] - 1) < 0.1
    numbers = "p90 tracked and not: " + "; ".join(
        f"{100 * share:.0f} %: {p90[True, share]:.0f} and {p90[False, share]:.0f} ms"
        for share in (1, EXTREME)
    )
    return Verdict(same and p90[True, EXTREME] < p90[False, EXTREME], numbers)


def _step(cells: Cells, runs: Runs) -> Verdict:
    """The buffer of 250 ms at 200 Mbps is 200 ms at 250 Mbps."""
    run = runs[tcp_test("BufferBloat", 20).name]
    time, delay = series_of(run.series, "upstream", "queue_delay")
    before, after = delay[(time > 2) & (time < 4.5)], delay[time > 6]
    if not len(before) or not len(after):
        raise ValueError("the run ends before the burst does")
    numbers = f"up to {np.nanmax(before):.0f} ms in the burst, {np.nanmax(after):.0f} ms after it"
    return Verdict(bool(np.nanmax(after) > 1.1 * np.nanmax(before)), numbers)
