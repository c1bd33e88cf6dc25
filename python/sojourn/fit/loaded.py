"""What a log shows of an upload: how far delays rise, and whether something holds them down."""

import numpy as np

from .log import Log, Values

SETTLING_S = 8.0
"""After an upload has started, until its queue is full for the first time."""
_QUANTILES = (5, 25, 50, 75, 95, 99)
LOADED_NAMES = tuple(f"loaded_p{q}" for q in _QUANTILES)


def rises_ms(log: Log, idle: Log) -> Values:
    """Delays while an upload runs, each less the idle median of its stream."""
    assert log.loaded_s is not None
    low, high = log.loaded_s
    medians = {stream.name: np.median(stream.delay_ms) for stream in idle.streams}
    busy = log.between(min(low + SETTLING_S, (low + high) / 2), high)
    known = [s.delay_ms - medians[s.name] for s in busy.streams if s.name in medians]
    return np.concatenate(known) if known else np.empty(0)


def loaded_features(log: Log, idle: Log) -> Values:
    """The numbers of `LOADED_NAMES`, as logarithms of ms."""
    return np.asarray(np.log(np.maximum(np.percentile(rises_ms(log, idle), _QUANTILES), 1.0)))
