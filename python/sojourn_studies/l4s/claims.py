"""What both testbeds show, tested on cells."""

from collections.abc import Sequence
from itertools import pairwise

from ..framework.cases import Runs
from ..framework.claims import Cells, Test, Verdict

_CLASSIC_MS = ("5", "10", "20", "50", "100")


def _by_round_trip(
    cells: Cells, metric: str, low_ms: str, flow: str, scheme: str = "dualpi2"
) -> list[float]:
    """In the order of the classic flow's round trip."""
    found = cells.all(metric, table="mixed", scheme=scheme, flow=flow)
    return [found[f"{low_ms}-{classic_ms}"] for classic_ms in _CLASSIC_MS]


def _listed(values: Sequence[float], digits: int = 3) -> str:
    return ", ".join(f"{value:.{digits}g}" for value in values)


def _ratio_rises(cells: Cells, runs: Runs) -> Verdict:
    """Up to 2 %, which the printed digits of FQ-CoDel leave open."""
    found = {
        (scheme, low_ms): _by_round_trip(cells, "rate_ratio", low_ms, "both", scheme)
        for scheme in ("dualpi2", "pie", "fq_codel")
        for low_ms in ("5", "100")
    }
    holds = all(b >= 0.98 * a for values in found.values() for a, b in pairwise(values))
    words = [
        f"{scheme}, {low_ms} ms: {_listed(values)}" for (scheme, low_ms), values in found.items()
    ]
    return Verdict(holds, "; ".join(words))


def _low_delay(cells: Cells, runs: Runs) -> Verdict:
    low = cells.all("delay_p99", table="mixed", scheme="dualpi2", flow="low")
    longest = max(low.values())
    return Verdict(longest < 1.2, f"{min(low.values()):.2f} to {longest:.2f} ms")


def _falls(metric: str, flow: str, low: Sequence[str] = ("5", "100")) -> Test:
    def test(cells: Cells, runs: Runs) -> Verdict:
        found = {low_ms: _by_round_trip(cells, metric, low_ms, flow) for low_ms in low}
        holds = all(b <= 1.05 * a for values in found.values() for a, b in pairwise(values))
        holds = holds and all(values[-1] < values[0] for values in found.values())
        words = [f"L {low_ms} ms: {_listed(values)}" for low_ms, values in found.items()]
        return Verdict(holds, "; ".join(words))

    return test


def _overload(cells: Cells, metric: str, flow: str, queue: str) -> dict[str, float]:
    """By Mbps of UDP in a queue."""
    found = cells.all(metric, table="overload", flow=flow)
    prefix = f"udp-{queue}-"
    return {
        name.removeprefix(prefix): value for name, value in found.items() if name.startswith(prefix)
    }


def _same_share(cells: Cells, runs: Runs) -> Verdict:
    low, classic = (_overload(cells, "share", "udp", queue) for queue in ("low", "classic"))
    over = ("140", "200")
    words = [f"{mbps} Mbps: {low[mbps]:.1f} and {classic[mbps]:.1f} %" for mbps in over]
    return Verdict(all(abs(low[mbps] - classic[mbps]) < 1 for mbps in over), "; ".join(words))


def _same_delay(cells: Cells, runs: Runs) -> Verdict:
    low = _overload(cells, "delay_mean", "low", "low")
    classic = _overload(cells, "delay_mean", "classic", "classic")
    over = ("140", "200")
    holds = all(abs(low[mbps] / classic[mbps] - 1) < 0.15 for mbps in over)
    return Verdict(holds, "; ".join(f"{low[m]:.1f} and {classic[m]:.1f} ms" for m in over))


def _drops_are_the_excess(cells: Cells, runs: Runs) -> Verdict:
    pairs = [
        (_overload(cells, "drop_rate", queue, queue)[mbps], 100 * (1 - 100 / float(mbps)))
        for queue in ("low", "classic")
        for mbps in ("140", "200")
    ]
    words = [f"{ours:.1f} of {excess:.1f} %" for ours, excess in pairs]
    return Verdict(all(abs(ours - excess) < 4 for ours, excess in pairs), "; ".join(words))


def _nobody_starves(cells: Cells, runs: Runs) -> Verdict:
    shares = [
        _overload(cells, "share", flow, queue)[mbps]
        for queue in ("low", "classic")
        for flow in ("a", "b")
        for mbps in ("50", "70")
    ]
    return Verdict(min(shares) > 8, f"{min(shares):.1f} to {max(shares):.1f} % each five flows")


def _prague_takes_all(cells: Cells, runs: Runs) -> Verdict:
    """By experiment the least of the queue managers would hide others, so each is looked up."""
    schemes = ("fq_codel_1", "fq_codel_1_1ms", "pie", "pie_5ms", "red_150kB", "red_400kB")
    ratios = [
        value
        for scheme in schemes
        for value in cells.all("rate_ratio", table="one_queue", scheme=scheme).values()
    ]
    return Verdict(min(ratios) > 10, f"{min(ratios):.0f} to {max(ratios):.0f} times")


def _cubic_wins_droptail(cells: Cells, runs: Runs) -> Verdict:
    ratios = list(cells.all("rate_ratio", table="pairs", scheme="pfifo").values())
    return Verdict(max(ratios) < 0.25, f"{_listed(ratios)} times")


def _bursts_cost_prague(cells: Cells, runs: Runs) -> Verdict:
    """Less 10 % for headers, and for what a run of 80 s leaves to chance."""
    dualpi2, codel = (
        cells.all("goodput", table="bursty", scheme=scheme) for scheme in ("dualpi2", "codel")
    )
    lost = {
        "Prague, call in L": (dualpi2["prague-alone"] - dualpi2["prague-call-low"], 2.3),
        "Prague, call in C": (dualpi2["prague-alone"] - dualpi2["prague-call-classic"], 2.3),
        "CUBIC, CoDel": (codel["cubic-alone"] - codel["cubic-call"], 1.8),
    }
    holds = all(
        (loss > 1.1 * call) == (name != "CUBIC, CoDel") for name, (loss, call) in lost.items()
    )
    words = [f"{name}: {loss:.1f} of {call} Mbps" for name, (loss, call) in lost.items()]
    return Verdict(holds, "; ".join(words))


_classic_delay_falls = _falls("delay_mean", "classic")
_drops_fall = _falls("drop_rate", "classic")
_marks_fall = _falls("marks", "low", ["100"])
