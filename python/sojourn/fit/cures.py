"""What cures of a delay would give on a line like that of a log, simulated."""

import os
from dataclasses import replace

import numpy as np

from ..analysis.bufferbloat import bufferbloat_grid
from ..analysis.measured import MeasuredLine, Spans
from ..base.grid import Grid
from ..base.progress import Progress
from ..base.toml_text import toml_value
from ..runs.draft import USUAL_SHARE, queue_of
from ..runs.runner import run
from .fitted import LEAST_IDLE_S, Fit, fit_log
from .read import probes_of, read
from .repair import FEWEST, repaired

_SMALL_MS = 50.0
"""Of the rate, the buffer that the provider may set."""
_LEAST_BYTES = 3044
"""Of a buffer: two packets."""
_TITLE = "Simulated on a line like it: the median round trip of probes in ms, and a letter"
_SETTINGS = """
[compare."{small_ms:g} ms of buffer"]
upstream.queue.limit_bytes = {small_bytes:d}

[compare."CAKE in the router"]
homes.ours.router.upstream = {{ rate_mbps = {shaped_mbps:g}, queue = {cake} }}
"""


def may_be_fitted(line: MeasuredLine) -> bool:
    """Has a log what a fit with an upload needs at least? The fit itself may still decline it."""
    _, up_ms = line.log.loaded_ms()
    is_cured = line.measured.letter in (None, "A+", "A")
    has_ways = all(not np.isnan(stream.up_ms).all() for stream in line.streams)
    if is_cured or not (has_ways and up_ms and line.log.is_timed):
        return False
    idle = probes_of(line.log).idle
    count = sum(map(len, idle.streams))
    return count >= FEWEST and float(np.ptp(idle.sent_ms)) / 1e3 >= LEAST_IDLE_S


def fit_of_log(
    path: str | os.PathLike[str],
    down_s: Spans = (),
    up_s: Spans = (),
    progress: Progress | None = None,
) -> Fit:
    """The fit of a log, with when loads ran as in `read_log`."""
    return fit_log(repaired(read(path, down_s, up_s)), progress=progress)


def why_not(found: Fit) -> str | None:
    """What a log lacks for that; `None` if it lacks nothing."""
    if found.outside:
        return f"outside what the fit knows: {'; '.join(found.outside)}"
    if found.others:
        return "several periods of its grid fit; probes at uneven intervals distinguish them"
    if found.line is None:
        return (
            "a fit needs a grid and one-way delays of a thousand idle probes: measure half an hour "
            "with irtt (docs/how-to/fit.md)"
        )
    if found.is_managed:
        return "its delays stay short in the upload, so a cure is at work already"
    if "buffer_ms" not in found.estimates:
        return (
            "no upload in it fills a buffer: let one run for 30 s, after two minutes and more "
            "without a load"
        )
    return None


def cures(found: Fit, progress: Progress | None = None) -> Grid | None:
    """Letter and round trips of the line as it is and with each cure of its upstream."""
    more = _SETTINGS.format(
        small_ms=_SMALL_MS,
        small_bytes=max(_LEAST_BYTES, round(_SMALL_MS * found.up_mbps * 125)),
        shaped_mbps=USUAL_SHARE / 100 * found.up_mbps,
        cake=toml_value(queue_of("router_cake")),
    )
    judged = run(found.scenario() + more, progress=progress).verdict
    grid = bufferbloat_grid(judged, judged.leading, names_traffic=False)
    return grid and replace(grid, title=_TITLE)
