"""Laws alone, at a constant backlog: what they drop has no effect, so each step can be foretold."""

from collections.abc import Callable, Iterator

import numpy as np
from sojourn._sojourn import studies
from sojourn.runs.request import load

from ..framework.drawing import Drawing
from ..white2014.derandomiser import effective
from . import link
from .compared import Series, compare, numbers

_MBPS = 8.192
"""A packet of 1024 bytes each ms."""
_UPDATES = 400


def _alone(queue: link.Table, backlog: int, arrivals: int) -> tuple[list[int], list[float]]:
    nothing = {"none": link.stream(1)}
    (variant,) = load(link.scenario(_MBPS, queue, nothing, 1))
    return studies.open_loop(variant, backlog, arrivals)


def _steps(
    constant: float, kick: float, divisors: Callable[[float], float], most: float
) -> Iterator[float]:
    """Drop probabilities after each update: equal steps, `kick` more in the first one.

    The step is divided where the probability is small and cut to 0.02 from 0.1 on.
    """
    p, step = 0.0, constant + kick
    while True:
        divided = step / divisors(p)
        p = min(p + (min(divided, 0.02) if p >= 0.1 else divided), most)
        step = constant
        yield p


def _divisor_of(table: dict[float, float], last: float) -> Callable[[float], float]:
    """The divisor below each bound, in ascending order, and the last one above all."""
    return lambda p: next((divisor for bound, divisor in table.items() if p < bound), last)


_SMALL = {1e-6: 2048.0, 1e-5: 512.0, 1e-4: 128.0, 1e-3: 32.0, 1e-2: 8.0, 0.1: 2.0}
"""RFC 8033 §4.2 and RFC 8034 appendix A.2."""


def _probability(
    title: str, law: str, target_ms: int, steps: Iterator[float], after: int
) -> Series:
    """The law at twice its target, `after` updates after its start."""
    latency_ms = 2 * target_ms
    # PIE is active from a third of the buffer on, DOCSIS-PIE, which grants a burst then, is not.
    limit = 3 if law == "pie" else 12
    queue = {"limit_bytes": limit * latency_ms * 1024, "law": {"kind": law}}
    _, simulated = _alone(queue, latency_ms, 16 * (after + _UPDATES + 1))
    update = numbers(range(1, _UPDATES + 1))
    expected = numbers([next(steps) for _ in update])
    return Series(title, update, expected, numbers(simulated[after : after + _UPDATES]))


def pie() -> Drawing:
    """PIE's probability at 30 ms of constant latency, from the end of its burst allowance on."""
    constant = 0.125 * 0.015
    steps = _steps(constant, 0.0, _divisor_of(_SMALL, 1.0), most=1.0)
    # The allowance of 150 ms is ten updates.
    return _climb("PIE", "RFC 8033 §4.2", _probability("30 ms, target 15 ms", "pie", 15, steps, 10))


def docsis_pie() -> Drawing:
    """DOCSIS-PIE's probability at 20 ms of constant latency, from an empty queue on."""
    large = _divisor_of({**_SMALL, 1.0: 0.5, 10.0: 0.125}, 0.03125)
    steps = _steps(0.25 * 0.010, 2.5 * 0.020, large, most=0.85 * 1024 / 64)
    series = _probability("20 ms, target 10 ms", "docsis_pie", 10, steps, 0)
    return _climb("DOCSIS-PIE", "RFC 8034 appendix A.2", series)


def _climb(name: str, source: str, series: Series) -> Drawing:
    return compare(
        f"{name}: drop probability at constant latency",
        source,
        [series],
        xscale="log",
        yscale="log",
        xlabel="update",
        ylabel="drop probability",
    )


def docsis_pie_drops() -> Drawing:
    """What the de-randomiser makes of a drop probability (White 2014 appendix B)."""
    p = np.logspace(-3, np.log10(0.84), 25)
    exact = numbers([effective(x) / x for x in p])
    seen = numbers([1 / (x * np.mean(studies.derandomiser_runs(x, 20_000, 1))) for x in p])
    return compare(
        "De-randomiser: drops over drop probability",
        "exact sum over runs",
        [Series("share of packets dropped / p", p, exact, seen)],
        xscale="log",
        ylim=(0, 1),
        xlabel="drop probability p",
        ylabel="share dropped / p",
    )


_RED = {
    "min_threshold_packets": 30,
    "max_threshold_packets": 90,
    "in_bytes": False,
    "weight": 0.1,
}
_RED_ARRIVALS = 100_000


def red() -> Drawing:
    """Share of packets that RED drops at a constant queue length, for both ways to space drops."""
    # No p of a whole 1/n, where the packet at which a drop is due would be a matter of rounding.
    queue = np.arange(37, 180, 6)
    plots = [
        Series(
            "evenly spaced (wait)" if wait else "not before 1/p (no wait)",
            numbers(queue),
            100 * numbers([1 / red_run(_red_base(int(q)), wait) for q in queue]),
            100 * numbers([_red_dropped(int(q), wait) for q in queue]),
        )
        for wait in (True, False)
    ]
    return compare(
        "RED: share dropped at a constant queue length",
        "exact sum over runs",
        plots,
        xlabel="average queue length (packets)",
        ylabel="packets dropped (%)",
    )


def _red_base(average: float) -> float:
    """Probability before drops are spaced: 0 to 0.1 at 90 packets, gentle to 1 at 180."""
    if average < 90:
        return 0.1 * (average - 30) / 60
    return min(0.1 + 0.9 * (average - 90) / 90, 1.0)


def red_run(p: float, wait: bool) -> float:
    """Mean packets from one drop to the next (Floyd & Jacobson 1993 §4; ns-2 `wait_`)."""
    mean, left, n = 0.0, 1.0, 0
    while left > 1e-12:
        n += 1
        mean += left
        left *= 1 - _red_spaced(p, n, wait)
    return mean


def _red_spaced(p: float, n: int, wait: bool) -> float:
    """Probability that the n-th packet after a drop is the next one dropped."""
    np = n * p
    if wait:
        return 0.0 if np < 1 else p / (2 - np) if np < 2 else 1.0
    return p / (1 - np) if np < 1 else 1.0


def _red_dropped(queue: int, wait: bool) -> float:
    law = {"kind": "red", "wait": wait, **_RED}
    dropped, _ = _alone({"limit_packets": 10_000, "law": law}, queue, _RED_ARRIVALS)
    return (len(dropped) - 1) / (dropped[-1] - dropped[0])
