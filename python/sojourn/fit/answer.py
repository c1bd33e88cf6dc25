"""What a fit says, for a person: a table of values, sentences, and the head of the scenario."""

import math
import textwrap
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..base.grid import Grid as Table
from .features import QUANTILES, quantiles
from .fitted import GUESSED, Estimate, Fit, is_coarse
from .grid import LONGEST_MS, SHORTEST_MS, Grid, shortest_period_ms
from .loaded import Queue
from .log import Log
from .model import MOST_UP_MBPS, NOT_OF_LOG
from .prior import PRIOR
from .read import UNTIMED

_TABLED = (10, 50, 90, 99)
_WEAK = 0.4
"""Below it, a period is doubtful: rounded times of a log without a grid came to 0.27."""

NOT_KNOWN = (
    "What cannot be known from probes: how many homes share the channel, since many small ones ask "
    "as much as few large ones; the delay of the whole path, since the clocks of both ends differ; "
    "the channel's rate, since only its used share shows."
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
    if fit.estimates:
        yield from _of_fit(fit)
    if fit.line is not None and "up_mbps" in fit.guessed:
        yield (
            f"The rate from your home is not in the log, so the scenario has {fit.up_mbps:g} Mbps "
            f"(up to {MOST_UP_MBPS:g} by --up)."
        )
    yield NOT_KNOWN
    yield from _of_upload(fit)


def _of_grid(grid: Grid | None, log: Log) -> str:
    shortest_ms = shortest_period_ms(log.resolution_ms)
    rounded = ""
    if shortest_ms > SHORTEST_MS:
        multiple = ", and this one may be a multiple of the true one" if grid else ""
        rounded = (
            f" The log's times are multiples of {log.resolution_ms:g} ms, so no period below "
            f"{shortest_ms:g} ms could be found{multiple}."
        )
    if grid is None and shortest_ms >= LONGEST_MS:
        return "Grid: not known." + rounded
    if grid is None:
        return (
            "Grid: none. Arrivals follow no period between 0.5 and 10 ms beyond that of the "
            "probes, as on a fibre; on a cable it may be too loaded or the log too short. No "
            "request and grant is fitted." + rounded
        )
    text = (
        f"Grid: arrivals follow a period of {grid.period_ms:.5g} ms, "
        f"{100 * grid.share:.0f} % of the probes; R, 0 for none and 1 for all at one place of the "
        f"period, is {grid.concentration:.2f}."
    )
    if grid.concentration < _WEAK:
        text += (
            " That is weak, and may come of the clock's rounding: one-way delays with more digits, "
            "as irtt has them, would tell."
        )
    if grid.aliases_ms:
        others = ", ".join(f"{period:.4g}" for period in grid.aliases_ms)
        text += (
            f" The probes' own steady interval makes aliases: {others} ms are nearly as strong. "
            "The strongest is taken; probes at uneven intervals would distinguish them."
        )
    text += rounded
    if grid is not None and log.is_one_way and is_coarse(log, grid):
        text += " That is too coarse to fit neighbours and the MAP advance."
    if not log.is_one_way:
        text += " The log has round trips alone, so neighbours and the MAP advance are not fitted."
    return text


def _of_fit(fit: Fit) -> Iterator[str]:
    wide = [
        PRIOR[name].meaning
        for name, estimate in fit.estimates.items()
        if name != "grid_ms" and _width(name, estimate) > 1 / 3
    ]
    if wide:
        yield f"Hardly known from this log, their intervals being wide: {', '.join(wide)}."
    if fit.misfit_ms is not None:
        yield (
            f"The nearest simulated line misses the measured delays, each from its median, by "
            f"{fit.misfit_ms:.2g} ms in the mean of p1 to p99."
        )


def _width(name: str, estimate: Estimate) -> float:
    known = PRIOR[name]
    return known.share(estimate.high) - known.share(estimate.low)


def _of_upload(fit: Fit) -> Iterator[str]:
    if fit.rises is None:
        yield "No upload is in the log, so nothing is known of the modem's buffer."
        delays = np.percentile(fit.log.delay_ms, [50, 99])
        yield (
            f"Your line at rest: one packet in a hundred takes {delays[1] - delays[0]:.0f} ms "
            "longer than usual."
        )
        return
    assert fit.queue is not None
    rise = float(np.median(fit.rises))
    yield f"While the upload runs the delay shows {fit.queue.value}."
    if fit.queue is not Queue.LONG or fit.line is None:
        yield f"If an upload filled the line, your modem queues {rise:.0f} ms."
        if fit.line is not None:
            yield f"Its buffer is not fitted from that, so the scenario has a guess: {GUESSED}."
        return
    now, managed = (np.median(fit.simulated_rises_ms[law]) for law in ("none", "docsis_pie"))
    yield (
        f"Your modem queues {now:.0f} ms when you upload (measured: {rise:.0f} ms); DOCSIS-PIE "
        f"would make it {max(managed, 0):.0f} ms."
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
            values["upload, fitted"] = np.percentile(fit.simulated_rises_ms["none"], _TABLED)
    lines = [[name, *(f"{value:.2f}" for value in of)] for name, of in values.items()]
    title = "Delays of the probes in ms, above the idle median"
    return Table(title, ["", *(f"p{q}" for q in _TABLED)], lines)


def _shown(estimate: Estimate) -> tuple[str, str]:
    """A value and its interval, with as many digits as the interval allows."""
    width = max(estimate.high - estimate.low, 1e-12)
    digits = min(max(1 - math.floor(math.log10(width)), 0), 6)
    low, value, high = (f"{v:.{digits}f}" for v in (estimate.low, estimate.value, estimate.high))
    return value, f"{low} to {high}"


def head(fit: Fit, scenario: str) -> str:
    """The comment that a fitted scenario begins with."""
    lines = [
        "What `sojourn fit` made of a log of probes. Values with their 90 % intervals:",
        *(
            f"  {meaning}: {value} {unit} ({interval})".replace("  (", " (")
            for meaning, e, unit in rows(fit)
            for value, interval in [_shown(e)]
        ),
        "The numbers of homes stand for any that ask and send as much. Below are the values of the",
        "nearest simulated line.",
    ]
    if "buffer_ms" in fit.guessed:
        lines.append(f"The log does not tell of the buffer: {GUESSED} are a guess.")
    listed = f"Not of the log, and marked where they stand: {', '.join(not_of_log(scenario))}."
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
