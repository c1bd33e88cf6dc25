"""Charts of the distributions of one-way latency and page load time."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...analysis.curves import (
    Sample,
    Select,
    ccdf,
    cdf,
    judged_by_latency,
    latencies,
    main_flows,
    page_loads,
)
from ...analysis.groups import Group
from ...analysis.measures import Row, flows_of
from ...analysis.tables import RunTables
from ...base.lookup import look_up
from ..charts.base import Axis, Chart, is_wide
from ..charts.boxes import Boxes
from ..charts.lines import BAND, Lines, quantile_grid, tail_grid

METRICS = ("latency", "page_load")
"""Metrics with distributions."""

_TWO_WAY = ("game", "voice", "video_call", "cloud_game")
"""Qualities of traffic with payload in both directions."""


class Samples(list[Sample]):
    """Samples of one quantity, with its name and unit."""

    def __init__(
        self,
        samples: Iterable[Sample],
        subject: str,
        quantity: str,
        unit: str,
        title: str,
        seeds: int,
    ) -> None:
        """Keeps the samples with their description."""
        super().__init__(samples)
        self.over = f" Over {seeds} seeds together." if seeds > 1 else ""
        self.band = f" {BAND}" if any(sample.seeds for sample in self) else ""
        self.subject, self.quantity, self.unit, self.title = subject, quantity, unit, title

    @property
    def axis(self) -> Axis:
        """The axis of the values."""
        values = np.concatenate([sample.values.values for sample in self])
        return Axis(f"{self.quantity} ({self.unit})", log=is_wide(values))


def samples_of(groups: Sequence[Group], metric: str, traffic: Sequence[str]) -> Samples:
    """Samples of each group, for the given entries or the most important traffic."""
    look_up("metric", metric, METRICS)
    seeds = max(len(group.runs) for group in groups)
    if metric == "page_load":
        samples = page_loads(groups, _either(_loading, traffic))
        return Samples(samples, "pages", "page load time", "s", "Page load time", seeds)
    quality, judged = judged_by_latency(groups)
    select = _entries(traffic, groups) if traffic else _loaded(judged, groups)
    subject = f"{' and '.join(traffic) if traffic else quality} packets"
    title = f"One-way latency of {subject}"
    return Samples(latencies(groups, select), subject, "one-way latency", "ms", title, seeds)


def _entries(traffic: Sequence[str], groups: Sequence[Group]) -> Select:
    """Selects these entries in the direction of their payload, or of bulk traffic if it has two."""
    rows = _either(lambda result: result.flows.to_pylist(), traffic)
    two_way = _loaded(
        lambda result: [row for row in rows(result) if row["quality"] in _TWO_WAY], groups
    )
    return lambda result: [
        *two_way(result),
        *main_flows([row for row in rows(result) if row["quality"] not in _TWO_WAY]),
    ]


def _loaded(select: Select, groups: Sequence[Group]) -> Select:
    """Selects what goes where bulk traffic goes in any group, or all if nothing does."""
    loaded = {direction for group in groups for direction in group.first.facts.loaded}
    return lambda result: (
        [row for row in select(result) if row["direction"] in loaded] or select(result)
    )


def _either(select: Select, traffic: Sequence[str]) -> Select:
    return lambda result: [
        row for row in select(result) if not traffic or row["traffic"] in traffic
    ]


def _loading(result: RunTables) -> list[Row]:
    return [row for row in flows_of("pages")(result) if row["page_loads"]]


def main_flows_of(traffic: Sequence[str]) -> Select:
    """Selects these entries in the direction of their payload."""
    return lambda result: main_flows(
        [row for row in result.flows.to_pylist() if row["traffic"] in traffic]
    )


def cdf_chart(samples: Samples) -> Chart | None:
    """The CDF of the samples."""
    if not samples:
        return None
    return Lines(
        samples.title,
        f"Share of {samples.subject} whose {samples.quantity} is at most the value on the "
        f"horizontal axis. Further left is better.{samples.over}{samples.band}",
        samples.axis,
        Axis(f"{samples.subject} (%)"),
        [cdf(sample) for sample in samples],
        steps=True,
        table=quantile_grid(f"Quantiles of {samples.quantity}", samples, samples.unit),
    )


def ccdf_chart(samples: Samples) -> Chart | None:
    """The complementary CDF of the samples."""
    curves = [curve for curve in map(ccdf, samples) if len(curve.x)]
    if not curves:
        return None
    title = f"{samples.quantity.capitalize()} exceeded by 10 % to 0.01 % of {samples.subject}"
    return Lines(
        f"Tail of {samples.quantity}: {samples.subject}",
        f"Share of {samples.subject} whose {samples.quantity} is more than the value on the "
        f"horizontal axis. Lower is better.{samples.over}{samples.band}",
        samples.axis,
        Axis(f"{samples.subject} (%)", log=True),
        curves,
        steps=True,
        table=tail_grid(title, samples, samples.unit),
    )


def box_chart(samples: Samples) -> Chart | None:
    """A box for each sample."""
    if not samples:
        return None
    return Boxes(
        f"{samples.title}: quartiles and range",
        "Boxes show quartiles and median, whiskers the range from 1 to 99 %. "
        f"Small samples are drawn as dots too.{samples.over}",
        samples.axis,
        Axis(""),
        samples,
        samples.unit,
    )
