"""Figures 1 to 16 of White 2014, redrawn."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ..cablelabs.mixture import call_latencies
from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from . import derandomiser, rates
from .cases import RTTS_MS, SCHEMES, tcp_test, tracking
from .cells import EXTREME, cases_under, distribution, mean_rates

_CASES = [case for scheme in SCHEMES for case in cases_under(scheme)]


def _cdf(what: str, title: str, x_label: str, **axes: Any) -> Figure:
    def draw(runs: Runs) -> Drawing:
        plots = [Plot(name, *distribution(what, name, runs).curve()) for name in SCHEMES]
        panels = {"all conditions": plots}
        return drawing_of_panels(title, panels, 1, x_label, "no greater (%)", **axes)

    return Figure(draw, _CASES)


def _tcp(runs: Runs) -> Drawing:
    panels = {
        f"{rtt_ms} ms": [Plot(name, *mean_rates(name, rtt_ms, runs)) for name in SCHEMES]
        for rtt_ms in RTTS_MS
    }
    labels = ("transfer length (s)", "mean rate of a flow (Mbps)")
    return drawing_of_panels("TCP performance", panels, 2, *labels)


def _tracking(runs: Runs) -> Drawing:
    names = {True: "a4.5, rates tracked", False: "b, token bucket alone"}

    def plots(share: float) -> list[Plot]:
        return [
            Plot(name, *call_latencies(runs[tracking(tracked, share).name]).curve())
            for tracked, name in names.items()
        ]

    panels = {"no congestion": plots(1), f"{100 * EXTREME:.0f} % of the rate": plots(EXTREME)}
    labels = ("latency of voice and gaming (ms)", "no greater (%)")
    title = "Rate tracking and token bucket alone"
    return drawing_of_panels(title, panels, 2, *labels, xscale="log")


def _alone(draw: Callable[[], Drawing]) -> Figure:
    return Figure(lambda runs: draw())


_MOS = "mean opinion score"

FIGURES: Mapping[FigureNumber, Figure] = {
    1: _cdf("latency", "Packet latency of voice and gaming", "latency (ms)", xscale="log"),
    2: _cdf("loss", "Packet loss of voice and gaming", "loss (%)", xscale="symlog"),
    3: _cdf("mos", "Voice quality", _MOS, xlim=(1, 4.5)),
    4: _cdf("mos", "Voice quality in detail", _MOS, xlim=(4.2, 4.45)),
    5: _cdf("plt", "Page load time", "page load time (s)", xscale="log"),
    6: Figure(_tcp, [tcp_test(scheme, rtt_ms) for scheme in SCHEMES for rtt_ms in RTTS_MS]),
    7: _alone(derandomiser.bernoulli_run_length),
    8: _alone(derandomiser.binomial_drops),
    9: _alone(derandomiser.run_length),
    10: _alone(derandomiser.drops),
    **{number: _alone(partial(rates.estimate, number)) for number in range(11, 15)},
    15: Figure(_tracking, [tracking(on, share) for on in (True, False) for share in (1, EXTREME)]),
    16: _alone(derandomiser.effective_probability),
}
