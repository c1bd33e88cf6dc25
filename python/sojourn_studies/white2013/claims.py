"""What White & Rice 2013 says a simulation should show."""

import statistics

import numpy as np
from sojourn.analysis.distribution import Numbers

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict, listed
from .cases import GROUPS, RF, SCHEMES, TRAFFIC
from .cells import Cell, burst_end, dip, distribution, losses, most_severe, second_drop, short_rate

_AQMS = SCHEMES[2:]
_DROP_TAIL = SCHEMES[:2]


def _grid(cells: Cells, metric: str, scheme: str, rf: str = "all", traffic: str = "all") -> float:
    load = f"rf={rf}:traffic={traffic}"
    return cells.known(metric, table="grids", scheme=scheme, load=load)


def _by_scheme(cells: Cells, metric: str, **where: str) -> dict[str, float]:
    return {name: _grid(cells, metric, name, **where) for name in SCHEMES}


def _by_rf(cells: Cells, metric: str, scheme: str) -> list[float]:
    return [_grid(cells, metric, scheme, rf=rf) for rf in RF]


def _row(values: list[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


def _depths(cells: Cells, runs: Runs) -> Verdict:
    found = {name: _by_rf(cells, "latency_max", name) for name in _DROP_TAIL}
    numbers = "; ".join(f"{name} {_row(values)} ms" for name, values in found.items())
    holds = all(
        abs(values[1] / values[0] - 2) < 0.3 and abs(values[2] / values[0] - 3) < 0.45
        for values in found.values()
    )
    return Verdict(holds and abs(found["BufferBloat"][0] / 1000 - 1) < 0.15, numbers)


def _robust(cells: Cells, runs: Runs) -> Verdict:
    grown = {}
    for name in SCHEMES:
        p90 = _by_rf(cells, "latency_p90", name)
        grown[name] = p90[2] / p90[0]
    holds = max(grown[name] for name in _AQMS) < min(grown[name] for name in _DROP_TAIL)
    return Verdict(holds, "90 % quantile grows by: " + listed(grown, 1))


def _leans(cells: Cells, runs: Runs) -> Verdict:
    share = {
        (name, group): _grid(cells, "latency_p50", name, "none", group)
        / _grid(cells, "latency_max", name, "none", group)
        for name in _DROP_TAIL
        for group in ("moderate", "heavy")
    }
    numbers = ", ".join(f"{name} {group} {value:.2f}" for (name, group), value in share.items())
    bloat = share["BufferBloat", "heavy"] == min(share.values())
    holds = bloat and min(share[name, "moderate"] for name in _DROP_TAIL) > 0.6
    return Verdict(holds, "median over greatest latency: " + numbers)


def _floor(cells: Cells, runs: Runs) -> Verdict:
    least = {
        name: cells.known("latency_min", 1, table="sec-4.1.1", scheme=name)
        for name in SCHEMES
        if name != "SFQ-CoDel"
    }
    return Verdict(all(5 <= ms <= 6 for ms in least.values()), listed(least) + " ms")


def _other_grants(cells: Cells, runs: Runs) -> Verdict:
    least = cells.known("latency_min", 1, table="sec-4.1.1", scheme="SFQ-CoDel")
    share = cells.known("fraction_latency_below_5ms")
    return Verdict(least <= 2 and share > 68, f"from {least:.0f} ms; {share:.0f} % below 5 ms")


def _crossing(cells: Cells, runs: Runs) -> Verdict:
    best = sum(
        _grid(cells, "latency_p50", "SFQ-CoDel", rf, group)
        <= min(_by_scheme(cells, "latency_p50", rf=rf, traffic=group).values())
        for rf in RF
        for group in GROUPS
    )
    heavy = _by_scheme(cells, "latency_p99", traffic="heavy")
    worse = heavy["SFQ-CoDel"] > max(heavy["CoDel"], heavy["PIE"])
    numbers = f"least median in {best} of 9 cells; 99 % quantile when heavy: {listed(heavy)} ms"
    return Verdict(best >= 5 and worse, numbers)


def _swarms(cells: Cells, runs: Runs) -> Verdict:
    def mean(numbers: list[int]) -> float:
        return statistics.fmean(losses("SFQ-CoDel", runs, numbers).values())

    swarm, ftp = (
        mean([n for n in Cell("none", "heavy").scenarios if (TRAFFIC[n].upload == kind)])
        for kind in ("bittorrent", "ftp")
    )
    bins = cells.known("best_subflow_count")
    numbers = (
        f"loss {swarm:.1f} % with BitTorrent, {ftp:.1f} % with uploads; best of {bins:.0f} bins"
    )
    return Verdict(swarm > ftp and bins == 32, numbers)


def _low_loss(cells: Cells, runs: Runs) -> Verdict:
    mean = _by_scheme(cells, "loss_mean")
    least = [mean[name] for name in (*_DROP_TAIL, "PIE")]
    return Verdict(max(least) < mean["CoDel"], listed(mean, 2) + " %")


def _sfq_loss(cells: Cells, runs: Runs) -> Verdict:
    light, moderate = (
        _grid(cells, "loss_mean", "SFQ-CoDel", traffic=group) for group in ("light", "moderate")
    )
    ends = [
        cells.known("loss", turn, load="traffic=heavy:voip=4:web=1:bittorrent=32")
        for turn in (0, 1)
    ]
    ten = cells.known("loss", load="traffic=heavy:voip=4:web=4:ftp=10")
    holds = max(light, moderate) < 0.01 and 3 < ten < 8 and ends[0] > 5 and ends[1] > 20
    numbers = f"light {light:.3f}, moderate {moderate:.3f}, ten uploads {ten:.1f}, "
    return Verdict(holds, numbers + f"BitTorrent {ends[0]:.1f} to {ends[1]:.1f} %")


def _bounds(cells: Cells, runs: Runs) -> Verdict:
    worst = {name: max(losses(name, runs, TRAFFIC).values()) for name in SCHEMES}
    others, severe = {}, {}
    for name in ("SFQ-CoDel", "PIE"):
        number = most_severe(name, runs)
        severe[name] = min(losses(name, runs, [number]).values())
        others[name] = max(losses(name, runs, [n for n in TRAFFIC if n != number]).values())
    good = max(worst[name] for name in (*_DROP_TAIL, "CoDel")) < 20 and max(worst.values()) < 50
    numbers = f"worst {listed(worst, 1)} %; most severe at least {listed(severe, 1)} %"
    return Verdict(good and min(severe.values()) > 20 and max(others.values()) < 20, numbers)


def _ranks(cells: Cells, runs: Runs) -> Verdict:
    p90 = _by_scheme(cells, "latency_p90")
    middle = [p90["CoDel"], p90["PIE"]]
    calm = [_grid(cells, "latency_p90", name, traffic="light") for name in ("SFQ-CoDel", "CoDel")]
    holds = p90["BufferBloat"] > p90["BufferControl"] > max(middle) and calm[0] < calm[1]
    return Verdict(holds, f"90 % quantile {listed(p90)} ms")


def _strict(cells: Cells, runs: Runs) -> Verdict:
    """Below 20 ms in 90 % of packets, and 0.01 % lost."""
    meets = [
        (name, group)
        for name in SCHEMES
        for group in GROUPS
        if _grid(cells, "latency_p90", name, traffic=group) < 20
        and _grid(cells, "loss_mean", name, traffic=group) < 0.01
    ]
    numbers = "both are met by: " + (
        ", ".join(f"{name} {group}" for name, group in meets) or "none"
    )
    return Verdict(meets == [("SFQ-CoDel", "light"), ("SFQ-CoDel", "moderate")], numbers)


def _pages(cells: Cells, runs: Runs) -> Verdict:
    p50 = _by_scheme(cells, "plt_p50")
    rest = {name: time for name, time in p50.items() if name != "BufferBloat"}
    best = set(sorted(rest, key=lambda name: rest[name])[:2]) == {"SFQ-CoDel", "PIE"}
    return Verdict(best and max(rest.values()) < p50["BufferBloat"] / 2, listed(p50, 2) + " s")


def _page_counts(cells: Cells, runs: Runs) -> Verdict:
    count = {
        group: sum(_grid(cells, "plt_count", name, traffic=group) for name in SCHEMES)
        for group in GROUPS
    }
    return Verdict(count["moderate"] == min(count.values()), listed(count))


def _voice(cells: Cells, runs: Runs) -> Verdict:
    def mean(scheme: str, where: list[Cell]) -> float:
        scores = distribution("mos", scheme, where, runs)
        return float(scores.values @ scores.weights / scores.total)

    everywhere = [Cell(rf, group) for rf in RF for group in GROUPS]
    calm = [cell for cell in everywhere if cell.traffic != "heavy"]
    heavy = [cell for cell in everywhere if cell.traffic == "heavy"]
    free, busy = (
        mean("BufferControl", [cell for cell in everywhere if cell.rf == rf])
        for rf in ("none", "moderate")
    )
    found = {name: mean(name, everywhere) for name in SCHEMES}
    sfq = (mean("SFQ-CoDel", calm), mean("SFQ-CoDel", heavy))
    numbers = (
        f"mean {listed(found, 2)}; Buffer Control {free:.2f} and {busy:.2f} under moderate "
        f"congestion; SFQ-CoDel {sfq[0]:.2f} and {sfq[1]:.2f} when heavy"
    )
    holds = found["BufferBloat"] < 3 and free > 4.2 and busy < free - 0.3 and found["CoDel"] > 3.8
    return Verdict(holds and sfq[0] > 4.35 > 4.2 > sfq[1] and found["PIE"] > 4.2, numbers)


def _drop_tail_alone(cells: Cells, runs: Runs) -> Verdict:
    burst, after = (
        cells.known("throughput", turn, table="sec-4.4", scheme="BufferBloat") for turn in (0, 1)
    )
    ramp = cells.one("time_to_peak_rate", table="sec-4.4")
    _, rate = short_rate("BufferControl", runs)
    highest = f"Buffer Control climbs to {rate.max():.1f} Mbps at {0.1 * (1 + rate.argmax()):.1f} s"
    numbers = f"BufferBloat {burst:.1f} then {after:.1f} Mbps; {highest}"
    return Verdict(abs(burst - 20) < 1 and abs(after - 5) < 0.5 and 12 <= ramp <= 18, numbers)


def _to_and_fro(rate: Numbers) -> float:
    """Standard deviation in Mbps from 1 s after the burst on."""
    after = rate[burst_end(rate) + 10 :]
    if len(after) < 10:
        raise ValueError("the run ends with the burst")
    return float(np.std(after))


def _codel_alone(cells: Cells, runs: Runs) -> Verdict:
    holds, numbers = True, []
    for name in ("CoDel", "SFQ-CoDel"):
        _, rate = short_rate(name, runs)
        lowest, end = dip(rate), burst_end(rate)
        if lowest is None:
            raise ValueError("the peak rate is not reached")
        after = _to_and_fro(rate)
        climbs = float(np.max(rate[lowest[0] : end + 1], initial=0.0)) > lowest[1] + 3
        holds = holds and 9 <= lowest[1] <= 15 and climbs and after > 0.5
        numbers.append(f"{name} {lowest[1]:.1f} Mbps, later {after:.1f} Mbps to and fro")
    return Verdict(holds, "; ".join(numbers))


def _pie_alone(cells: Cells, runs: Runs) -> Verdict:
    _, rate = short_rate("PIE", runs)
    _, codel = short_rate("CoDel", runs)
    lowest, again = dip(rate), second_drop(rate)
    if lowest is None:
        raise ValueError("the peak rate is not reached")
    later = float(rate[lowest[0] :].max())
    swing = [_to_and_fro(each) for each in (rate, codel)]
    holds = lowest[1] < 4 and again is not None and later < 18 and swing[0] > swing[1]
    numbers = (
        f"down to {lowest[1]:.1f}, cut again at {again or 0:.1f}, then up to {later:.1f} Mbps; "
    )
    return Verdict(holds, numbers + f"to and fro {swing[0]:.1f}, CoDel {swing[1]:.1f} Mbps")


def _long_run(cells: Cells, runs: Runs) -> Verdict:
    rates = _by_scheme(cells, "throughput")
    holds = rates["BufferBloat"] >= max(rates.values()) * 0.995
    return Verdict(
        holds and min(rates.values()) > 0.9 * max(rates.values()), listed(rates, 2) + " Mbps"
    )


def _summary(cells: Cells, runs: Runs) -> Verdict:
    def both(table: str) -> list[float]:
        return [cells.known(f"{what}_reduction", table=table) for what in ("latency", "plt")]

    buffer_control, sfq = both("sec-5"), both("sec-exec")
    numbers = (
        f"Buffer Control {buffer_control[0]:.0f} and {buffer_control[1]:.1f} times; "
        f"SFQ-CoDel {sfq[0]:.0f} and {sfq[1]:.1f}"
    )
    holds = 8 <= buffer_control[0] <= 25 and 2.5 <= buffer_control[1] <= 7
    return Verdict(holds and 120 <= sfq[0] <= 300 and 7 <= sfq[1] <= 13, numbers)
