"""Curves out of result tables, for every kind of figure."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..api import Result
from ..summary import Row, flows_of

# Okabe & Ito 2008: colours that people of any colour vision tell apart. Yellow is left out, for it
# vanishes on white, and black, which vanishes in dark mode.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_CDF_STEPS = 500

Numbers = np.ndarray[Any, np.dtype[np.float64]]
Select = Callable[[Result], list[Row]]


@dataclass(frozen=True)
class Curve:
    """A named line; a `y` of NaN is a gap."""

    name: str
    x: Numbers
    y: Numbers


def judged_by_latency(runs: Mapping[str, Result]) -> str:
    """The quality whose latency is worth a figure: of games, or of what comes next to them."""
    for quality in ("game", "voice", "pages"):
        if any(map(flows_of(quality), runs.values())):
            return quality
    return "throughput"


def latency_cdfs(runs: Mapping[str, Result], select: Select) -> list[Curve]:
    """Share of packets in % over one-way latency in ms, a curve per variant and selected flow."""
    return [
        Curve(name, *_cdf(result, row))
        for name, result, row in named(runs, select)
        if row["delivered_packets"]
    ]


def page_cdfs(runs: Mapping[str, Result]) -> list[Curve]:
    """Share of pages in % over load time in s, a curve per variant."""
    times = {name: np.sort(result.pages["load_time_s"].to_numpy()) for name, result in runs.items()}
    return [
        Curve(name or "pages", x, 100 * np.arange(1, len(x) + 1) / len(x))
        for name, x in times.items()
        if len(x)
    ]


def throughputs(runs: Mapping[str, Result], select: Select) -> list[Curve]:
    """Mbps on the wire over time in s, a curve per variant and selected flow."""
    return [
        Curve(name, *series(result, f"{row['traffic']} {row['direction']}", "throughput"))
        for name, result, row in named(runs, select)
    ]


def queue_delays(runs: Mapping[str, Result], queue: str) -> list[Curve]:
    """Mean sojourn time in ms over time in s, a curve per variant."""
    return [
        Curve(name or queue, *series(result, queue, "queue_delay")) for name, result in runs.items()
    ]


def named(runs: Mapping[str, Result], select: Select) -> Iterator[tuple[str, Result, Row]]:
    """The selected flows with as short a name as tells them apart."""
    several = any(len(select(result)) > 1 for result in runs.values())
    for variant, result in runs.items():
        for row in select(result):
            flow = f"{row['traffic']} {row['direction']}"
            yield (f"{variant}: {flow}" if variant and several else variant or flow), result, row


def _where(table: pa.Table, **words: str) -> pa.Table:
    for column, word in words.items():
        table = table.filter(pc.field(column) == word)
    return table


def _cdf(result: Result, flow: Row) -> tuple[Numbers, Numbers]:
    cells = _where(result.latencies, traffic=flow["traffic"], direction=flow["direction"])
    share = np.cumsum(cells["packets"].to_numpy()) * (100 / pc.sum(cells["packets"]).as_py())
    # One point per step of the share is all that can be seen.
    step = np.floor(share * (_CDF_STEPS / 100))
    seen = np.append(step[1:] != step[:-1], True)
    return cells["latency_ms"].to_numpy()[seen], share[seen]


def series(result: Result, subject: str, metric: str) -> tuple[Numbers, Numbers]:
    """Times in s and values of a series."""
    return series_of(result.series, subject, metric)


def series_of(table: pa.Table, subject: str, metric: str) -> tuple[Numbers, Numbers]:
    """The same from a table of series."""
    rows = _where(table, subject=subject, metric=metric)
    return rows["time_s"].to_numpy(), rows["value"].to_numpy()
