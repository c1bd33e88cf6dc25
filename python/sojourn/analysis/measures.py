"""The summary measures, each computed from rows of a run's tables."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from .statistics import Value, over_seeds
from .tables import RunTables

Row = dict[str, Any]

_UNITS = ("ms", "s", "%", "Mbps")


@dataclass(frozen=True)
class Measure:
    """A number of a run: column `measure` of the rows that `of` selects, combined by `merge`."""

    key: str
    heading: str
    digits: int
    of: Callable[[RunTables], list[Row]]
    measure: str
    merge: Callable[[Iterable[float]], float]

    def applies(self, results: Iterable[RunTables]) -> bool:
        """Does any of the runs have such rows?"""
        return any(self.of(result) for result in results)

    @property
    def label(self) -> str:
        """The heading on one line, with its unit in brackets."""
        *words, unit = self.heading.split("\n")
        named = [*words, f"({unit})"] if unit in _UNITS else [*words, unit]
        return " ".join(named)

    def over(self, runs: Iterable[RunTables]) -> Value:
        """Mean and interval over runs that differ in their seed."""
        return over_seeds([self.value(run) for run in runs])

    def value(self, result: RunTables) -> float | None:
        """The number, or `None` if nothing was measured."""
        values = [row[self.measure] for row in self.of(result) if row[self.measure] is not None]
        return self.merge(values) if values else None


def flows_of(*qualities: str) -> Callable[[RunTables], list[Row]]:
    """Selects the flows with one of these qualities."""
    return lambda result: [row for row in result.flows.to_pylist() if row["quality"] in qualities]


def transfers(direction: str) -> Callable[[RunTables], list[Row]]:
    """Selects bulk transfers that go `up` or `down`, without their acknowledgements."""

    def select(result: RunTables) -> list[Row]:
        traffic = result.settings["traffic"]
        return [
            row
            for row in flows_of("throughput")(result)
            if row["direction"] == direction == traffic[row["traffic"]].get("direction")
        ]

    return select


def queue(name: str) -> Callable[[RunTables], list[Row]]:
    """Selects a queue."""
    return lambda result: [row for row in result.queues.to_pylist() if row["queue"] == name]


# With several flows of a kind the worst counts; rates are summed.
MEASURES = (
    Measure("game_latency_p50_ms", "game\np50\nms", 1, flows_of("game"), "latency_p50_ms", max),
    Measure("game_latency_p90_ms", "game\np90\nms", 1, flows_of("game"), "latency_p90_ms", max),
    Measure("game_latency_p99_ms", "game\np99\nms", 1, flows_of("game"), "latency_p99_ms", max),
    Measure("game_loss_percent", "game\nloss\n%", 2, flows_of("game"), "loss_percent", max),
    Measure("voice_mos", "voice\nMOS", 2, flows_of("voice"), "mos", min),
    Measure("page_load_median_s", "page\nload\ns", 2, flows_of("pages"), "page_load_median_s", max),
    Measure(
        "response_median_s",
        "web\nresponse\ns",
        3,
        flows_of("responses"),
        "response_median_s",
        max,
    ),
    Measure("video_rate_mbps", "video\nMbps", 2, flows_of("video"), "video_rate_mbps", min),
    Measure(
        "video_stalled_percent",
        "video\nstalled\n%",
        1,
        flows_of("video"),
        "video_stalled_percent",
        max,
    ),
    Measure("upload_mbps", "upload\nMbps", 2, transfers("up"), "throughput_mbps", sum),
    Measure("download_mbps", "download\nMbps", 2, transfers("down"), "throughput_mbps", sum),
    Measure("upstream_queue_p50_ms", "queue\np50\nms", 1, queue("upstream"), "sojourn_p50_ms", max),
    Measure("upstream_queue_p99_ms", "queue\np99\nms", 1, queue("upstream"), "sojourn_p99_ms", max),
)
