"""Curves out of result tables, for every kind of figure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..api import Result
from ..summary import Row, flows_of

# Okabe & Ito 2008: eight colours that people of any colour vision tell apart. Yellow is left out,
# for it vanishes on white, and black, which vanishes in dark mode.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")

_CDF_STEPS = 500


@dataclass(frozen=True)
class Curve:
    """A named line; points whose `y` is NaN are gaps."""

    name: str
    x: np.ndarray[Any, Any]
    y: np.ndarray[Any, Any]


def judged_by_latency(runs: Mapping[str, Result]) -> str:
    """The quality whose latency is worth a figure: games, or what comes next to them."""
    present = {row["quality"] for result in runs.values() for row in result.flows.to_pylist()}
    order = ("game", "voice", "pages", "throughput")
    return next(quality for quality in order if quality in present)


def latency_cdfs(runs: Mapping[str, Result], quality: str) -> list[Curve]:
    """Share of packets in % over one-way latency in ms, a curve per variant and flow."""
    return [
        _cdf(name, result, row)
        for result, row, name in _flows(runs, quality)
        if row["delivered_packets"]
    ]


def series_curves(runs: Mapping[str, Result], metric: str, subjects: set[str]) -> list[Curve]:
    """Values over time in s, a curve per variant and subject; each value at its interval's end."""
    return [
        _series(label(variant, subject, len(subjects) > 1), result.series, metric, subject)
        for variant, result in runs.items()
        for subject in sorted(subjects)
    ]
