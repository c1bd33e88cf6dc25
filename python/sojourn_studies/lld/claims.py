"""Findings for operators, tested on cells."""

from collections.abc import Iterable

from ..framework.cases import Runs
from ..framework.claims import Cells, Verdict
from .cases import LOADS, MAPS_MS, OPEN, RATES_MBPS, Where

_SERVICES = [Where(mbps, map_ms, "", "").table for mbps in RATES_MBPS for map_ms in MAPS_MS]


def _game(cells: Cells, table: str, scheme: str, load: str, metric: str, dscp: int = 45) -> float:
    return cells.known(metric, table=table, scheme=scheme, experiment=load, flow=f"game-{dscp}")


def _rate(cells: Cells, table: str, scheme: str, load: str, flow: str) -> float:
    return cells.known("rate", table=table, scheme=scheme, experiment=load, flow=flow)


def _range(values: Iterable[float], unit: str, digits: int = 1) -> str:
    found = sorted(values)
    return f"{found[0]:.{digits}f} to {found[-1]:.{digits}f}{unit}"


def _out_of_the_queue(cells: Cells, runs: Runs) -> Verdict:
    pie, lld = (
        [_game(cells, table, scheme, "cubic", "latency_p999") for table in _SERVICES]
        for scheme in ("pie", "lld")
    )
    holds = all(ours < theirs / 5 for ours, theirs in zip(lld, pie, strict=True))
    return Verdict(holds, f"{_range(lld, ' ms')} instead of {_range(pie, ' ms')}")


def _shorter_map(cells: Cells, runs: Runs) -> Verdict:
    gains = [
        _game(cells, f"{mbps}-mbps-map-2", scheme, load, "latency_p50")
        - _game(cells, f"{mbps}-mbps-map-1", scheme, load, "latency_p50")
        for mbps in RATES_MBPS
        for scheme in ("lld", "lld-pgs")
        for load in LOADS
    ]
    idle = [
        _game(cells, f"50-mbps-map-{map_ms}", "lld", "idle", "latency_p50") for map_ms in (2, 1)
    ]
    words = f"{_range(gains, ' ms', 2)} less; on an idle line {idle[0]:.1f} and {idle[1]:.1f} ms"
    return Verdict(min(gains) > 0, words)


def _no_request(cells: Cells, runs: Runs) -> Verdict:
    loads = ("idle", "cubic", "cubic-8")
    lld, pgs = (
        [_game(cells, t, scheme, load, "latency_p50") for t in _SERVICES for load in loads]
        for scheme in ("lld", "lld-pgs")
    )
    holds = all(ours < theirs for ours, theirs in zip(pgs, lld, strict=True))
    return Verdict(holds, f"Median {_range(pgs, ' ms')} instead of {_range(lld, ' ms')}")


def _protection(cells: Cells, runs: Runs) -> Verdict:
    on, off = (
        [_game(cells, table, scheme, "abuse", "latency_p50") for table in _SERVICES]
        for scheme in ("lld", OPEN)
    )
    holds = all(ours < 2 / 3 * theirs for ours, theirs in zip(on, off, strict=True))
    return Verdict(holds, f"{_range(on, ' ms')} instead of {_range(off, ' ms')}")


def _as_idle(cells: Cells, runs: Runs) -> Verdict:
    beside, idle = (
        [_game(cells, table, scheme, load, "latency_p99") for table in _SERVICES]
        for scheme, load in (("lld", "cubic"), ("pie", "idle"))
    )
    holds = all(ours <= theirs for ours, theirs in zip(beside, idle, strict=True))
    return Verdict(holds, f"{_range(beside, ' ms')}; idle {_range(idle, ' ms')}")


def _must_be_marked(cells: Cells, runs: Runs) -> Verdict:
    lld, pie = (
        [_game(cells, table, scheme, "cubic", "latency_p50", 0) for table in _SERVICES]
        for scheme in ("lld", "pie")
    )
    holds = all(ours > 0.9 * theirs for ours, theirs in zip(lld, pie, strict=True))
    return Verdict(holds, f"{_range(lld, ' ms')}; with DOCSIS-PIE {_range(pie, ' ms')}")


def _cubic_keeps_its_rate(cells: Cells, runs: Runs) -> Verdict:
    ratios = [
        _rate(cells, table, scheme, load, "cubic") / _rate(cells, table, "pie", load, "cubic")
        for table in _SERVICES
        for scheme in ("lld", "lld-pgs")
        for load in ("cubic", "cubic-8")
    ]
    return Verdict(min(ratios) > 0.99, f"{_range((100 * r for r in ratios), ' %')} of it are left")


def _unused_grants(cells: Cells, runs: Runs) -> Verdict:
    unused = [
        cells.known("unused", table=table, scheme="lld-pgs", experiment=load, flow="grants")
        for table in _SERVICES
        for load in ("idle", "cubic", "cubic-8")
    ]
    return Verdict(min(unused) > 4.8, _range(unused, " Mbps", 2))


def _prague_takes_grants(cells: Cells, runs: Runs) -> Verdict:
    beside, idle = (
        [_game(cells, table, "lld-pgs", load, "latency_p50") for table in _SERVICES]
        for load in ("prague", "idle")
    )
    holds = all(ours > theirs + 1 for ours, theirs in zip(beside, idle, strict=True))
    return Verdict(holds, f"Median {_range(beside, ' ms')}; idle {_range(idle, ' ms')}")


def _prague_alone(cells: Cells, runs: Runs) -> Verdict:
    by_scheme = {
        scheme: [_rate(cells, t, scheme, "prague", "prague") for t in _SERVICES if t[:3] == "50-"]
        for scheme in ("lld", "pie")
    }
    holds = max(by_scheme["lld"]) < 0.95 * min(by_scheme["pie"])
    words = [f"{scheme} {_range(values, ' Mbps')}" for scheme, values in by_scheme.items()]
    return Verdict(holds, ", ".join(words))


def _classic_pays(cells: Cells, runs: Runs) -> Verdict:
    (lld, pie), (tail, _) = (
        [
            [_game(cells, table, scheme, "abuse", metric, 0) for table in _SERVICES]
            for scheme in ("lld", "pie")
        ]
        for metric in ("latency_p50", "latency_p99")
    )
    times = [ours / theirs for ours, theirs in zip(lld, pie, strict=True)]
    holds = min(times) > 1.5 and max(times) < 5 and min(tail) > 2 * max(lld)
    words = f"{_range(lld, ' ms', 0)} instead of {_range(pie, ' ms', 0)}"
    return Verdict(holds, f"{words}, and {_range(tail, ' ms', 0)} at 99 %")
