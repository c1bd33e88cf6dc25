"""What a fit says, for a person: a table of values, sentences, and the head of the scenario."""

import math
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.grid import Grid as Table
from .features import QUANTILES, quantiles
from .fitted import GUESSED, MANAGED, Fit, is_coarse
from .grid import LONGEST_MS, SHORTEST_MS, Grid, shortest_period_ms
from .limits import way_back_ms
from .log import Log
from .model import MOST_UP_MBPS, NOT_OF_LOG
from .nearest import IDLE, streams_of
from .prior import PRIOR, Estimate
from .read import UNTIMED
from .repair import FEWEST

_STEADY_PERCENT = 1.0
_TABLED = (10, 50, 90, 99)
_WEAK = 0.4
"""Below it, a period is doubtful: rounded times of a log without a grid came to 0.27."""

_MOBILE_MS = (5.0, 10.0)
"""Periods at which mobile networks let devices ask."""
_AS_MOBILE = 1e-3

_PIE_TARGET_MS = 10
"""The default of DOCSIS-PIE, by the specification."""

NOT_KNOWN = (
    "Probes do not show how many homes share the channel (many small ones request as much as a few "
    "large ones), the delay of the whole path (the clocks of both ends differ) or the channel's "
    "rate (only the share in use shows)."
)


def rows(fit: Fit) -> list[tuple[str, Estimate, str]]:
    """What was fitted: meaning, value with interval, unit."""
    return [
        (PRIOR[name].meaning, fit.estimates[name], PRIOR[name].unit)
        for name in PRIOR
        if name in fit.estimates
    ]


def sentences(fit: Fit) -> Iterator[str]:
    """What was found, what was not, and what an upload does."""
    yield from fit.log.notes
    if UNTIMED not in fit.log.notes:
        yield _of_grid(fit.grid, fit.log)
    yield from _of_fit(fit)
    if fit.line is not None and "up_mbps" in fit.guessed:
        yield (
            f"The log has no upload rate, so the scenario assumes {fit.up_mbps:g} Mbps (--up sets "
            f"another one, up to {MOST_UP_MBPS:g})."
        )
    yield NOT_KNOWN
    yield from _of_upload(fit)


def _of_grid(grid: Grid | None, log: Log) -> str:
    shortest_ms = shortest_period_ms(log.resolution_ms)
    rounded = ""
    if shortest_ms > SHORTEST_MS:
        multiple = "; the true one may be a fraction of this one" if grid else ""
        rounded = (
            f" The log's times are exact to {log.resolution_ms:.3g} ms only, so periods below "
            f"{shortest_ms:.3g} ms cannot be found{multiple}."
        )
    if grid is None and shortest_ms >= LONGEST_MS:
        return "Grid: not known." + rounded
    if grid is None and len(log.sent_ms) < FEWEST:
        return (
            f"Grid: not known. {len(log.sent_ms)} probes without a load were answered, and "
            f"{FEWEST} are needed."
        )
    if grid is None:
        return (
            f"Grid: none. Arrivals follow no period between 0.5 and 10 ms.{_hidden(log)} A fibre "
            "has no grid; on a cable the channel may be too busy, or the log too short. So "
            "neighbours and MAP advance are not fitted." + rounded
        )
    text = (
        f"Grid: {100 * grid.share:.0f} % of the probes arrive in step with a period of "
        f"{grid.period_ms:.5g} ms. Their concentration is {grid.concentration:.2f}: 0 means that "
        "they arrive evenly spread over the period, 1 all at the same place of it."
    )
    if grid.concentration < _WEAK:
        text += (
            " That is weak: the clock's rounding alone could cause it. One-way delays with more "
            "digits, as irtt writes them, would show which it is."
        )
    if grid.aliases_ms:
        others = ", ".join(f"{period:.5g}" for period in grid.aliases_ms)
        text += (
            f" Undecided: {others} ms fit as well, since probes at a steady interval cannot "
            "distinguish such periods (aliases). Choose one with --period, or measure with uneven "
            "intervals."
        )
    text += rounded
    if grid is not None and log.is_one_way and is_coarse(log, grid):
        text += " These times are too coarse to fit neighbours and MAP advance."
    if not log.is_one_way:
        text += " The log has round trips only, so neighbours and MAP advance are not fitted."
    return text


def _hidden(log: Log) -> str:
    """Which periods the probes themselves hide."""
    steady = sorted(
        {
            f"{one.interval_ms:.5g}"
            for one in streams_of(log)
            if one.deviation_percent < _STEADY_PERCENT
        }
    )
    if not steady:
        return ""
    return (
        f" The probes left steadily every {' or '.join(steady)} ms, and a period that divides this "
        "does not show: use 41, 67 or 97 ms, which are no multiples of usual grids."
    )


def _of_fit(fit: Fit) -> Iterator[str]:
    for period, estimates in fit.others.items():
        values = (
            f"{PRIOR[name].meaning} {_with_interval(name, e)}" for name, e in estimates.items()
        )
        yield f"With a period of {period:.5g} ms: {'; '.join(values)}."
    if fit.outside:
        yield f"Outside what the fit knows: {'; '.join(fit.outside)}."
    wide = [
        PRIOR[name].meaning
        for name, estimate in fit.estimates.items()
        if name != "grid_ms" and _width(name, estimate) > 1 / 3
    ]
    if wide:
        yield f"This log hardly determines, as wide intervals show: {', '.join(wide)}."
    if fit.estimates.keys() & set(IDLE):
        yield from _supposed(fit)
    if fit.misfit_ms is not None:
        yield (
            f"The delays of the nearest simulated line differ from the measured ones by "
            f"{fit.misfit_ms:.2g} ms in the mean of p1 to p99, each above its median."
        )


def _supposed(fit: Fit) -> Iterator[str]:
    """What other lines would look alike."""
    period_ms = fit.estimates["grid_ms"].value
    if way_back_ms(fit.log) is None:
        yield (
            f"The log has no delays to the home, so jitter before the modem (Wi-Fi) of less than "
            f"half a period ({period_ms / 2:.2g} ms) would not show. It would look like more "
            "requests and a shorter MAP advance. irtt measures both directions."
        )
    if any(abs(period_ms / one - 1) < _AS_MOBILE for one in _MOBILE_MS):
        yield (
            f"Mobile networks have a period of {period_ms:.3g} ms too; neighbours and MAP advance "
            "are right only if this line is a cable."
        )


def _width(name: str, estimate: Estimate) -> float:
    known = PRIOR[name]
    return known.share(estimate.high) - known.share(estimate.low)


def _of_upload(fit: Fit) -> Iterator[str]:
    if fit.rises is None:
        yield "The log has no upload, so it says nothing about the modem's buffer."
        delays = np.percentile(fit.log.delay_ms, [50, 99])
        yield (
            f"Without a load one packet in a hundred takes {delays[1] - delays[0]:.0f} ms longer "
            "than the median."
        )
        return
    assert fit.queue is not None
    rise = float(np.median(fit.rises))
    yield f"During the upload the median delay rises by {rise:.0f} ms. {fit.queue.value}."
    if fit.line is None:
        return
    if fit.is_managed:
        yield f"The log does not show which, so the scenario has a guess: {MANAGED}."
        return
    if "buffer_ms" not in fit.estimates:
        yield f"The size of the buffer does not follow, so the scenario has a guess: {GUESSED}."
        return
    buffer, _ = _shown(fit.estimates["buffer_ms"])
    yield (
        f"The buffer holds {buffer} ms. TCP fills it and lets it drain again, so the median is "
        f"less: {np.median(fit.simulated_rises_ms):.0f} ms in the scenario. DOCSIS-PIE aims at "
        f"{_PIE_TARGET_MS} ms."
    )


def table(fit: Fit) -> Table:
    """The values, for the terminal."""
    lines = [[meaning, *_shown(e), unit] for meaning, e, unit in rows(fit)]
    return Table("", ["", "value", "90 % interval", "unit"], lines)


def quantile_table(fit: Fit) -> Table:
    """Delays of the probes, measured beside those of the nearest simulated line."""
    places = [QUANTILES.index(q) for q in _TABLED]
    values = {"idle, measured": quantiles(fit.log)[places]}
    if fit.nearest_ms is not None:
        values["idle, fitted"] = fit.nearest_ms[places]
    if fit.rises is not None:
        values["upload, measured"] = np.percentile(fit.rises, _TABLED)
        if fit.line is not None:
            values["upload, fitted"] = np.percentile(fit.simulated_rises_ms, _TABLED)
    lines = [[name, *(f"{value:.2f}" for value in of)] for name, of in values.items()]
    title = "Delays of the probes in ms, above the idle median"
    return Table(title, ["", *(f"p{q}" for q in _TABLED)], lines)


def _with_interval(name: str, estimate: Estimate) -> str:
    value, interval = _shown(estimate)
    return f"{value} {PRIOR[name].unit}".rstrip() + f" ({interval})"


def _shown(estimate: Estimate) -> tuple[str, str]:
    """A value and its interval, with as many digits as the interval allows."""
    width = max(estimate.high - estimate.low, 1e-12)
    digits = min(max(1 - math.floor(math.log10(width)), 0), 6)
    low, value, high = (f"{v:.{digits}f}" for v in (estimate.low, estimate.value, estimate.high))
    return value, f"{low} to {high}"


def head(fit: Fit, scenario: str) -> str:
    """The comment that a fitted scenario begins with."""
    lines = [
        "Made by `sojourn fit` from a log of probes. Values with their 90 % intervals:",
        *(
            f"  {meaning}: {value} {unit} ({interval})".replace("  (", " (")
            for meaning, e, unit in rows(fit)
            for value, interval in [_shown(e)]
        ),
        "The numbers of homes stand for any neighbours that request and send as much.",
    ]
    if fit.is_managed:
        lines.append(f"The log does not show what keeps delays short: {MANAGED} is a guess.")
    if "buffer_ms" in fit.guessed:
        lines.append(f"The log does not show the buffer: {GUESSED} are a guess.")
    listed = f"Not from the log, and marked so on their lines: {', '.join(not_of_log(scenario))}."
    lines += textwrap.wrap(listed, 96, break_on_hyphens=False)
    return "\n".join(f"# {line}" for line in lines) + "\n\n"


def not_of_log(scenario: str) -> Iterator[str]:
    """The keys of a scenario that are marked so."""
    table = ""
    for line in scenario.splitlines():
        if line.startswith("["):
            table = line[1 : line.index("]")]
        if NOT_OF_LOG in line:
            key = "" if line.startswith("[") else line.partition(" = ")[0]
            yield ".".join(filter(None, (table, key)))


def values(fit: Fit) -> dict[str, Any]:
    """The values as JSON has them."""
    return {
        "grid_ms": None if fit.grid is None else fit.grid.period_ms,
        "grid_share": None if fit.grid is None else fit.grid.share,
        "outside": list(fit.outside),
        "aliases_ms": [] if fit.grid is None else list(fit.grid.aliases_ms),
        "estimates": {
            name: {"value": e.value, "low": e.low, "high": e.high}
            for name, e in fit.estimates.items()
        },
        "line": None if fit.line is None else dict(fit.line),
        "misfit_ms": fit.misfit_ms,
        "resolution_ms": fit.log.resolution_ms,
        "queue": None if fit.queue is None else fit.queue.name.lower(),
        "notes": list(fit.log.notes),
    }
