"""Findings for operators, tested on cells."""

from collections.abc import Callable, Iterable, Sequence
from operator import le, lt

from ..framework.cases import Runs
from ..framework.claims import Cells, Test, Verdict
from .cases import LOADS, MAPS_MS, OPEN, RATES_MBPS, Where

_SERVICES = [Where(mbps, map_ms, "", "").table for mbps in RATES_MBPS for map_ms in MAPS_MS]


def _game(cells: Cells, table: str, scheme: str, load: str, metric: str, dscp: int = 45) -> float:
    return cells.known(metric, table=table, scheme=scheme, experiment=load, flow=f"game-{dscp}")


def _rate(cells: Cells, table: str, scheme: str, load: str, flow: str) -> float:
    return cells.known("rate", table=table, scheme=scheme, experiment=load, flow=flow)


def _range(values: Iterable[float], unit: str, digits: int = 1) -> str:
    found = sorted(values)
    return f"{found[0]:.{digits}f} to {found[-1]:.{digits}f}{unit}"


def _beside(
    metric: str,
    ours: Sequence[str],
    theirs: Sequence[str],
    is_met: Callable[[float, float], bool],
    words: str,
    dscp: int = 45,
) -> Test:
    """Compares a latency of the game in each service; both sides are a modem and its loads."""

    def test(cells: Cells, runs: Runs) -> Verdict:
        sides = [
            [_game(cells, t, scheme, load, metric, dscp) for t in _SERVICES for load in loads]
            for scheme, *loads in (ours, theirs)
        ]
        numbers = words.format(*(_range(values, " ms") for values in sides))
        return Verdict(all(map(is_met, *sides)), numbers)

    return test


_CLASSIC = ("idle", "cubic", "cubic-8")

_out_of_the_queue = _beside(
    "latency_p999", ("lld", "cubic"), ("pie", "cubic"), lambda a, b: a < b / 5, "{} instead of {}"
)
_no_request = _beside(
    "latency_p50", ("lld-pgs", *_CLASSIC), ("lld", *_CLASSIC), lt, "Median {} instead of {}"
)
_protection = _beside(
    "latency_p50", ("lld", "abuse"), (OPEN, "abuse"), lambda a, b: a < 2 / 3 * b, "{} instead of {}"
)
_as_idle = _beside("latency_p99", ("lld", "cubic"), ("pie", "idle"), le, "{}; idle {}")
_must_be_marked = _beside(
    "latency_p50",
    ("lld", "cubic"),
    ("pie", "cubic"),
    lambda a, b: a > 0.9 * b,
    "{}; with DOCSIS-PIE {}",
    dscp=0,
)
_prague_takes_grants = _beside(
    "latency_p50",
    ("lld-pgs", "prague"),
    ("lld-pgs", "idle"),
    lambda a, b: a > b + 1,
    "Median {}; idle {}",
)


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
        for load in _CLASSIC
    ]
    return Verdict(min(unused) > 4.8, _range(unused, " Mbps", 2))


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
