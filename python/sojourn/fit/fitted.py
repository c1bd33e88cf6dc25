"""Fits a scenario to a log of probes."""

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

from ..base.progress import Progress
from .features import NAMES, SOON_MS, features, steadied, thinned
from .grid import Grid, found_grid
from .learn import Learned, learned
from .limits import strange
from .loaded import (
    SETTLING_S,
    Queue,
    loaded_features,
    queue_of,
    rises_ms,
    rises_of_another_log,
)
from .log import PART_MS, Log, Values, joined
from .model import MOST_UP_MBPS, scenario, simulated
from .nearest import IDLE, SEED, nearest, streams_of
from .prior import IDLE_S, PRIOR, Estimate
from .read import UNTIMED, read, refuse
from .repair import FEWEST, repaired
from .table import stored

GUESSED = "250 ms of buffer"
"""Where the log does not tell of it."""
MANAGED = "DOCSIS-PIE in the modem"
"""Where delays stay short under load."""
_MOST_MISFIT_MS = 1.0
"""Of the nearest line of those that were searched."""
_NEAR_CHOICE = 0.01
_MOST_PARTS = 8
_MOST_CHANGE = 1.5
"""Of halves of two intervals, how far values in two parts of a log may be from each other."""
_LOAD_ERRORS = 1.3
"""Of logs with jitter, loss and clocks (seeds 10 001 to 10 040) to those of the table's lines."""
_GREAT_CHANGE = 0.5
"""Of the prior, what no single scenario stands for; less of a change widens the interval."""
_MOST_OTHERS = 4
"""Undecided periods that are fitted too."""
_COARSEST = 0.25
"""Of a period, what times may be rounded to."""
LEAST_IDLE_S = 0.95 * IDLE_S
"""At rest: in less no line of the table was measured."""
_IDLE_S, _LOADED_S = 60.0, 30.0
"""Of the scenario that a fit gives."""


@dataclass(frozen=True)
class Fit:
    """What a log says of its line."""

    log: Log
    grid: Grid | None
    estimates: Mapping[str, Estimate]
    others: Mapping[float, Mapping[str, Estimate]]
    """Those with the periods that the log does not distinguish from the grid's, by period in ms."""
    outside: Sequence[str]
    """What of the log the fit does not know."""
    line: Mapping[str, float] | None
    """The nearest line that was simulated."""
    misfit_ms: float | None
    """Mean difference of its quantiles from the measured ones, each from its median."""
    nearest_ms: Values | None
    """Its quantiles, as `features.quantiles` gives them."""
    rises: Values | None
    """Delays during an upload, above the idle median, in ms."""
    queue: Queue | None
    up_mbps: float
    guessed: Collection[str]
    """What no log shows: up_mbps, buffer_ms."""

    @property
    def is_managed(self) -> bool:
        """Do delays stay short while an upload runs?"""
        return self.queue is Queue.SHORT

    @property
    def has_upload(self) -> bool:
        """Did an upload run in the log?"""
        return self.rises is not None

    def scenario(self) -> str:
        """The scenario that shows the line as it is, beside DOCSIS-PIE if no law is at work."""
        return self._scenario(compared=True)

    @cached_property
    def simulated_rises_ms(self) -> Values:
        """How much longer probes take while the scenario's upload runs."""
        log = simulated(self._scenario(trace=True))
        busy = log.between(_IDLE_S + SETTLING_S, _IDLE_S + _LOADED_S)
        return rises_ms(busy, log.between(0, _IDLE_S))

    def _scenario(self, trace: bool = False, compared: bool = False) -> str:
        assert self.line is not None
        is_guess = "buffer_ms" in self.guessed and self.has_upload
        guess = MANAGED if self.is_managed else GUESSED
        name = guess if is_guess else "as it is"
        return scenario(
            self.line,
            streams_of(self.log),
            idle_s=_IDLE_S,
            loaded_s=(_IDLE_S if compared else _LOADED_S) if self.has_upload else 0.0,
            up_mbps=self.up_mbps,
            law="docsis_pie" if self.is_managed else "none",
            seed=SEED,
            trace=trace,
            compared=name if compared else "",
            guessed=self.guessed,
        )


def fit(
    paths: Sequence[str | os.PathLike[str]],
    *,
    upload: str | os.PathLike[str] | None = None,
    up_mbps: float | None = None,
    period_ms: float | None = None,
    search: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Fits a line to logs of one sitting, and to another one that was made during an upload.

    `period_ms` chooses between periods of the grid that the log does not distinguish.
    """
    log = repaired(joined([read(path) for path in paths]))
    busy = None if upload is None else repaired(read(upload))
    if busy is not None:
        notes = [f"Upload: {note}" for note in busy.notes if note != UNTIMED]
        log = replace(log, notes=[*log.notes, *notes])
    return fit_log(
        log, busy, up_mbps=up_mbps, period_ms=period_ms, search=search, progress=progress
    )


def fit_log(
    log: Log,
    busy: Log | None = None,
    *,
    up_mbps: float | None = None,
    period_ms: float | None = None,
    search: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Fits a line to probes in memory. A log may hold its own upload (`loaded_s`)."""
    idle, rises = _parts(log, busy)
    grid = _grid(log, idle, period_ms)
    estimates: dict[str, Estimate] = {}
    others: dict[float, Mapping[str, Estimate]] = {}
    outside: list[str] = []
    if grid is not None and idle.is_one_way and not is_coarse(idle, grid):
        idle = steadied(idle, grid.period_ms)
        estimates, outside = idle_estimates(idle, grid)
        undecided_ms = grid.aliases_ms[:_MOST_OTHERS] if period_ms is None else ()
        for other_ms in undecided_ms:
            others[other_ms], _ = idle_estimates(idle, replace(grid, period_ms=other_ms))
    queue = None if rises is None else queue_of(rises)
    if rises is not None and queue is Queue.LONG and not outside:
        buffer = _estimate("buffer_ms", loaded_features(rises))
        if buffer is not None:
            estimates["buffer_ms"] = buffer
    known = up_mbps or (busy or log).up_mbps
    rate = min(known or 10.0, MOST_UP_MBPS)
    guessed = [
        name
        for name, is_known in (("up_mbps", known == rate), ("buffer_ms", "buffer_ms" in estimates))
        if not is_known
    ]
    line, misfit, nearest_ms = None, None, None
    if search and not others and not outside and all(name in estimates for name in IDLE):
        line, misfit, nearest_ms = nearest(idle, estimates, rate, progress)
        if misfit > _MOST_MISFIT_MS:
            outside.append(
                f"the nearest simulated line differs from the delays by {misfit:.2g} ms in the mean"
            )
            line = None
        else:
            of_line = {name: replace(estimates[name], value=line[name]) for name in IDLE}
            estimates = estimates | of_line
    return Fit(
        idle,
        grid,
        estimates,
        others,
        outside,
        line,
        misfit,
        nearest_ms,
        rises,
        queue,
        rate,
        guessed,
    )


def _parts(log: Log, busy: Log | None) -> tuple[Log, Values | None]:
    """The idle part of a log, and how far delays rise during an upload."""
    idle, loaded = log, None
    if log.loaded_s is not None:
        low, high = log.loaded_s
        idle = log.idle
        loaded = log.between(min(low + SETTLING_S, (low + high) / 2), high)
        if not idle.streams:
            refuse(log.file, "", "found loads all the time; allowed: a log with a time without any")
        from_s, to_s = log.idle_s or (0, low)
        note = (
            f"A load runs in the log from {low:.0f} to {high:.0f} s; as idle counts what was sent "
            f"from {from_s:.0f} to {to_s:.0f} s."
        )
        idle = replace(idle, notes=[*log.notes, note])
    if busy is not None:
        return idle, rises_of_another_log(busy, idle)
    if loaded is None or not loaded.streams or (log.has_download and log.up_mbps is None):
        return idle, None
    return idle, rises_ms(loaded, idle)


def _grid(log: Log, idle: Log, period_ms: float | None) -> Grid | None:
    """The grid of enough probes with times; refuses a choice that is no period of the log."""
    is_timed = not any(UNTIMED in note for note in log.notes)
    if not is_timed or len(idle.sent_ms) < FEWEST:
        return None
    grid = found_grid(idle, chosen_ms=period_ms)
    if grid is None or period_ms is None or abs(grid.period_ms / period_ms - 1) <= _NEAR_CHOICE:
        return grid
    known = ", ".join(f"{one:.5g}" for one in (grid.period_ms, *grid.aliases_ms))
    refuse(log.file, "", f"found --period {period_ms:g}; allowed: near one of {known} ms")


def is_coarse(idle: Log, grid: Grid) -> bool:
    """Are times rounded too far to show how packets wait for the grid?"""
    return idle.resolution_ms > _COARSEST * grid.period_ms


def idle_estimates(idle: Log, grid: Grid) -> tuple[dict[str, Estimate], list[str]]:
    """The grid by the clock of who received, what features of an idle log tell of its neighbours
    and the CMTS, and what of the log the fit does not know: then there is the grid alone.
    """
    period, by_receiver = grid.period_ms, grid.period_ms * (1 + idle.drift)
    found = {
        "grid_ms": Estimate(by_receiver, by_receiver - grid.error_ms, by_receiver + grid.error_ms)
    }
    alone = thinned(idle, period)
    if sum(map(len, alone.streams)) < FEWEST / 2:
        return found, [
            f"most probes leave within {SOON_MS:g} ms of another one and share its request, or all "
            "meet the same place of the period"
        ]
    measured = _measured(alone, period)
    length_s = float(np.ptp(idle.sent_ms)) / 1e3
    if length_s < LEAST_IDLE_S:
        return found, [
            f"{length_s:.0f} s without a load are too short for neighbours and MAP advance "
            f"({IDLE_S:.0f} s are enough)"
        ]
    estimates = {name: _estimate(name, measured) for name in IDLE}
    outside = [*strange(idle, grid)]
    if not outside and not lessons()[IDLE[0]].is_like(measured):
        outside.append("delays are distributed unlike those of any simulated line")
    beyond = [name for name, estimate in estimates.items() if estimate is None]
    if not 0 <= measured[0] <= 1:
        beyond.append("grid_ms")
    for name in beyond:
        known = PRIOR[name]
        of = f"{known.low:g} to {known.high:g} {known.unit}".rstrip()
        outside.append(f"{known.meaning}: outside {of}, the range that the fit has learned")
    for name, (low, high) in _changes(alone, period).items():
        known, one = PRIOR[name], estimates[name]
        if known.share(high) - known.share(low) > _GREAT_CHANGE:
            outside.append(
                f"{known.meaning} changes over minutes, from {low:.2g} to {high:.2g} in parts of "
                "the log"
            )
        elif one is not None:
            estimates[name] = replace(one, low=min(one.low, low), high=max(one.high, high))
    known_ones = {name: one for name, one in estimates.items() if one is not None}
    return found | ({} if outside else known_ones), outside


def _measured(log: Log, period_ms: float) -> Values:
    return np.append(PRIOR["grid_ms"].share(period_ms), features(log, period_ms))


def _changes(alone: Log, period_ms: float) -> dict[str, tuple[float, float]]:
    """Between which values neighbours change whose values in parts of a log exclude each other."""
    length_ms = float(np.ptp(alone.sent_ms))
    count = min(int(length_ms / PART_MS), len(alone.sent_ms) // FEWEST, _MOST_PARTS)
    ends = np.linspace(0, length_ms / 1e3, max(count, 1) + 1)
    measured = [_measured(alone.between(*two), period_ms) for two in pairwise(ends) if count > 1]
    changes = {}
    for name in ("requests", "load"):
        known = [one for values in measured if (one := _estimate(name, values))]
        if not known:
            continue
        low, high = (most(known, key=lambda one: one.value) for most in (min, max))
        if high.value - low.value > _MOST_CHANGE * (high.value - high.low + low.high - low.value):
            changes[name] = (low.value, high.value)
    return changes


def _estimate(name: str, measured: Values) -> Estimate | None:
    """A value that the log tells, or `None` for one beyond the prior."""
    shares = lessons()[name].interval(measured)
    return shares and Estimate(*(PRIOR[name].value(share) for share in shares))


@cache
def lessons() -> dict[str, Learned]:
    """What the table teaches of each parameter but the grid's period, which is seen."""
    table = stored()
    names = list(PRIOR)
    idle = np.column_stack(
        [table.shares[:, names.index("grid_ms")], table.features[:, : len(NAMES)]]
    )
    loaded = table.features[:, len(NAMES) :]
    lessons = {
        name: learned(loaded if name == "buffer_ms" else idle, table.shares[:, at])
        for at, name in enumerate(names)
        if name != "grid_ms"
    }
    return {**lessons, "load": replace(lessons["load"], widened=_LOAD_ERRORS)}
