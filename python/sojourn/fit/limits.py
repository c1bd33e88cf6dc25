"""What a fit does not know: logs that no line of its model gives."""

from collections.abc import Iterator

import numpy as np

from .grid import Grid, concentration
from .log import Log, Values, parts_of

LEAST_SHARE = 0.5
"""Of arrivals that follow the grid: on simulated lines at least 0.56, with 1 ms of jitter 0.45."""
MOST_CHANGE = 0.035
"""Of mean ranks: on simulated lines at most 0.016, on a measured one that is fitted 0.03."""
LEAST_BEGIN = 2.4
"""Arrivals where grants begin to those a little later: on simulated lines at least 2.8, and with
exponential jitter at most 2.0, however long it is."""
_BEGIN_MS = 0.04
_BEGIN_PART_MS = 30e3
"""In it clocks wander by less than that."""
_EXPLAINED = 0.5
"""Of what spreads arrivals, by jitter as long as on the way back."""
_MOST_JITTER = 0.35
"""Of the period, on the way back: with as much before the modem, values are wrong."""
_QUARTILES = float(np.log(3))
"""How far quartiles of exponential jitter are from each other, in its mean."""
_SUBFRAME_MS = 1.0
_NEARLY = 1e-3
_MORE = 1.05
"""Of R at the period, that of subframes: of grants that begin at one place no harmonic has more."""
_FEWEST = 60
_PART_MS = 20e3
_MOST_PARTS = 60


def strange(idle: Log, grid: Grid) -> Iterator[str]:
    """What a log shows that the model lacks."""
    if grid.share < LEAST_SHARE:
        yield (
            f"only {100 * grid.share:.0f} % of arrivals follow the grid, as with Wi-Fi or a path "
            "of several queues"
        )
    if change(idle) > MOST_CHANGE:
        yield "delays change over minutes, as with neighbours whose load changes"
    if _has_subframes(idle, grid):
        yield "arrivals within a period are whole ms apart, as with subframes of a mobile network"
    yield from _jitter(idle, grid)


def _jitter(idle: Log, grid: Grid) -> Iterator[str]:
    """Jitter that would pass as neighbours.

    Behind the modem it spreads arrivals as grants of neighbours do, before it it delays requests.
    Grants begin together and jitter does not; where neither shows, the way back says how much
    jitter there is.
    """
    back = way_back_ms(idle)
    period = grid.period_ms
    if back is not None:
        jitter_ms = float(np.subtract(*np.percentile(back, [75, 25]))) / _QUARTILES
        if jitter_ms > _MOST_JITTER * period:
            yield (
                f"delays to the home vary by {jitter_ms:.2g} ms, as with Wi-Fi, and as much jitter "
                "before the modem would look like requests of neighbours"
            )
            return
    if begin(idle, period) >= LEAST_BEGIN:
        return
    explained = 1.0
    if back is not None:
        of_back = abs(np.exp(2j * np.pi / period * back).mean())
        explained = np.log(of_back) / np.log(grid.concentration)
    if explained > _EXPLAINED:
        yield (
            "neighbours' load and jitter on the path look alike: arrivals are spread within the "
            "period, and no steady delays to the home in the log exclude jitter"
        )


def way_back_ms(log: Log) -> Values | None:
    """Delays to the home, each less the median of its stream; `None` if they are not in the log."""
    known = [stream.down_ms for stream in log.streams if stream.down_ms is not None]
    if len(known) < len(log.streams):
        return None
    return np.concatenate([down - np.median(down) for down in known])


def begin(idle: Log, period_ms: float) -> float:
    """How many more arrive at the fullest place of the grid than a moment later.

    Grants of an interval follow each other, so all that come first arrive at one place. They do so
    all the time, so the half of the log counts in which fewer do.
    """
    order = np.argsort(idle.sent_ms, kind="stable")
    width = max(_BEGIN_MS, idle.resolution_ms)
    halves = np.array_split(order, 2)
    return min(
        _begin(idle.sent_ms[half], idle.arrival_ms[half], period_ms, width) for half in halves
    )


def _begin(sent: Values, arrivals: Values, period_ms: float, width: float) -> float:
    count = min(int(np.ptp(sent) / _BEGIN_PART_MS), len(arrivals) // 100)
    first = later = 0
    for part in np.array_split(arrivals, max(count, 1)):
        once = np.sort(part % period_ms)
        places = np.concatenate([once, once + period_ms])
        there = np.searchsorted(places, once + width) - np.arange(len(once))
        fullest = int(np.argmax(there))
        ends = np.searchsorted(places, once[fullest] + np.array([width, 4 * width]))
        first += int(there[fullest])
        later += int(np.diff(ends)[0])
    return 3 * first / max(later, 1)


def _has_subframes(idle: Log, grid: Grid) -> bool:
    count = round(grid.period_ms / _SUBFRAME_MS)
    if count < 2 or abs(grid.period_ms / (count * _SUBFRAME_MS) - 1) > _NEARLY:
        return False
    arrived = [idle.arrival_ms[part] for part in parts_of(idle.sent_ms)]
    return concentration(arrived, grid.period_ms / count) > _MORE * grid.concentration


def change(idle: Log) -> float:
    """How much the mean rank of delays changes in the log beyond chance; ranks are 0 to 1."""
    ranks = np.argsort(np.argsort(idle.delay_ms)) / len(idle.delay_ms)
    count = min(len(ranks) // _FEWEST, int(np.ptp(idle.sent_ms) / _PART_MS), _MOST_PARTS)
    if count < 2:
        return 0.0
    parts = np.array_split(ranks[np.argsort(idle.sent_ms, kind="stable")], count)
    means = np.array([part.mean() for part in parts])
    chance = np.mean([part.var() / len(part) for part in parts])
    return float(np.sqrt(max(means.var(ddof=1) - chance, 0.0)))
