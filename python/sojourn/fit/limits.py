"""What a fit does not know: logs that no line of its model gives."""

from collections.abc import Iterator

import numpy as np

from .grid import Grid
from .log import Log

LEAST_SHARE = 0.5
"""Of arrivals that follow the grid: on simulated lines at least 0.56, with 1 ms of jitter 0.45."""
MOST_CHANGE = 0.035
"""Of mean ranks: on simulated lines at most 0.016, on a measured one that is fitted 0.03."""
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
