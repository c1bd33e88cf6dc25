"""Grades applications as good, fair or poor, and gives the source of every threshold."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain
from statistics import median
from typing import Any

import pyarrow.compute as pc

from ..analysis.measures import Row, flows_of
from ..analysis.statistics import over_seeds
from ..analysis.tables import RunTables
from .unfinished import unfinished_s


class Grade(Enum):
    """A grade, and a mark that distinguishes it without colour."""

    GOOD = "✓"
    FAIR = "~"
    POOR = "✗"

    @property
    def word(self) -> str:
        """The grade as a word."""
        return self.name.lower()


@dataclass(frozen=True)
class Threshold:
    """The upper or lower bound of a metric that a grade requires."""

    metric: str
    bound: float
    text: str
    source: str
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        """Does the value meet the threshold?"""
        return value >= self.bound if self.at_least else value <= self.bound

    def worst(self, values: Sequence[float]) -> float:
        """The worst of several values."""
        return min(values) if self.at_least else max(values)


@dataclass(frozen=True)
class Application:
    """An application of the household: the rows that are graded, and the thresholds."""

    name: str
    rows: Callable[[RunTables], list[Row]]
    good: tuple[Threshold, ...]
    fair: tuple[Threshold, ...]
    summary: str
    """A template of the measured values, in summary; its fields are metrics."""
    shown: tuple[str, ...] = ()
    """Metrics that the summary shows and no threshold needs: the less, the better."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """Text added to the summary if a run has a value above 0 of the metric."""

    def assess(self, runs: Sequence[RunTables]) -> "Assessment | None":
        """Grades runs that differ only in their seed; `None` if none has the application."""
        rows = [self.rows(run) for run in runs]
        if not any(rows):
            return None
        thresholds = {threshold.metric: threshold for threshold in (*self.fair, *self.good)}
        values = {metric: _mean(threshold, rows) for metric, threshold in thresholds.items()}
        for metric in self.shown:
            values[metric] = _mean(Threshold(metric, 0, "", ""), rows)
        every = list(chain.from_iterable(rows))
        notes = [text for metric, text in self.notes.items() if any(row[metric] for row in every)]
        return Assessment(self, values, notes)


@dataclass(frozen=True)
class Assessment:
    """An application with its measured values and grade."""

    application: Application
    values: dict[str, float | None]
    notes: Sequence[str] = ()

    @property
    def grade(self) -> Grade | None:
        """The best grade whose thresholds are all met; `None` if a value is missing."""
        if any(value is None for value in self.values.values()):
            return None
        for grade, thresholds in (
            (Grade.GOOD, self.application.good),
            (Grade.FAIR, self.application.fair),
        ):
            if all(
                threshold.is_met(self.values[threshold.metric] or 0.0) for threshold in thresholds
            ):
                return grade
        return Grade.POOR

    @property
    def summary(self) -> str:
        """The measured values in summary."""
        if self.grade is None:
            return "the run is too short, or no packet was delivered"
        return ", ".join([self.application.summary.format(**self.values), *self.notes])


def _mean(threshold: Threshold, rows: Sequence[list[Row]]) -> float | None:
    per_run = [[row[threshold.metric] for row in of_run] for of_run in rows]
    known = [[value for value in values if value is not None] for values in per_run]
    return over_seeds([threshold.worst(values) if values else None for values in known]).mean


def _unlimited_uploads(result: RunTables) -> list[Row]:
    """The upstream throughput of each home with an unlimited upload, as a share of the allowed.

    The sustained rate and the burst allow it. Homes with several upstream service flows and uploads
    that end are not graded.
    """
    traffic = result.settings["traffic"]
    homes = {traffic[name].get("home") for name in _unlimited(result)}
    rows, duration_s = result.flows.to_pylist(), result.meta["duration_s"]
    shares = [
        100 * _sent_up_mbps(rows, traffic, home) / _allowed_mbps(result.settings, home, duration_s)
        for home in sorted(homes, key=str)
    ]
    is_long = duration_s >= _SHORTEST_UPLOAD_S
    return [{"upload_share_percent": share if is_long else None} for share in shares]


def _unlimited(result: RunTables) -> list[str]:
    """Names of the traffic entries that are graded as uploads."""
    return [
        name
        for name, entry in result.settings["traffic"].items()
        if entry["kind"] == "transfer"
        and entry.get("direction") == "up"
        and entry.get("file_bytes") is None
        and entry.get("stop_s") is None
        and _allowed_mbps(result.settings, entry.get("home"), result.meta["duration_s"])
    ]


def _pages(result: RunTables) -> list[Row]:
    """Web traffic with its page load times."""
    return [{**row, **_page_load(result, row)} for row in flows_of("pages")(result)]


def _page_load(result: RunTables, row: Row) -> Row:
    """The median load time, including unfinished pages.

    A page still loading at the end counts as loaded at that time, unless that would lower the
    median. A single loaded page is not graded: it was loaded before the queue had filled. Without
    a loaded page, an unfinished page counts once it has taken longer than the fair threshold.
    """
    loaded = result.pages.filter(pc.field("traffic") == row["traffic"])["load_time_s"].to_pylist()
    typical_s = median(loaded) if loaded else 0.0
    had = [had_s for had_s in unfinished_s(result, row["traffic"]) if had_s > typical_s]
    times = [*loaded, *had]
    is_known = len(times) >= _FEWEST_PAGES or (not loaded and any(t > _POOR_PAGE_S for t in had))
    median_s = row["page_load_median_s"] if not had else median(times)
    return {"page_load_median_s": median_s if is_known else None, "unfinished_pages": len(had)}


def _sent_up_mbps(rows: Sequence[Row], traffic: dict[str, Any], home: str | None) -> float:
    own = (row for row in rows if traffic[row["traffic"]].get("home") == home)
    return sum(float(row["throughput_mbps"]) for row in own if row["direction"] == "up")


def _allowed_mbps(settings: dict[str, Any], home: str | None, duration_s: float) -> float:
    group = (settings.get("homes") or {}).get(home) or {}
    service = group.get("upstream") or settings["upstream"]
    if service.get("flows"):
        return 0.0
    burst_mbps = service["burst_bytes"] * 8 / 1e6 / duration_s
    each = min(service["sustained_mbps"] + burst_mbps, service["peak_mbps"])
    return float(each * group.get("count", 1))


_FEWEST_PAGES = 2
_POOR_PAGE_S = 6.9
_SHORTEST_UPLOAD_S = 10
"""An upload needs some seconds to reach its rate."""

_GAMES = "White & Rice 2013, section 4.1.3"
_TENTH = "the 90 % quantile as in White 2014, section 5.1"
_SCALE = "ITU-T P.800, as in White 2014, section 5.1"
_PAGES = "White & Padden 2012, tables 7 and 8"
_STALLS = "Krishnan & Sitaraman 2012: stalls of 1 % of a video cut the viewing time by 5 %"
_OURS = (
    "chosen by Sojourn; uploads kept 97 % or more with CoDel in White & Padden 2012, tables 7, 8"
)

APPLICATIONS = (
    Application(
        "game",
        flows_of("game"),
        good=(
            Threshold(
                "over_20_ms_access_percent",
                10,
                "at most 10 % of packets spend more than 20 ms in the access network",
                f"{_GAMES}; {_TENTH}",
            ),
            Threshold(
                "loss_percent", 1, "at most 1 % of packets are lost", f"Jarschel, cited in {_GAMES}"
            ),
        ),
        fair=(
            Threshold(
                "over_80_ms_round_trip_percent",
                10,
                "at most 10 % of packets have a round-trip time above 80 ms",
                f"Choy, cited in {_GAMES}; {_TENTH}",
            ),
            Threshold(
                "loss_percent", 20, "at most 20 % of packets are lost", f"Bredel, cited in {_GAMES}"
            ),
        ),
        summary="{over_20_ms_access_percent:.0f} % of packets spend more than 20 ms in the access "
        "network, {over_80_ms_round_trip_percent:.0f} % have a round-trip time above 80 ms, "
        "{loss_percent:.2f} % are lost",
    ),
    Application(
        "call",
        flows_of("voice"),
        good=(
            Threshold("mos", 4, "a mean opinion score of 4 (good) or more", _SCALE, at_least=True),
        ),
        fair=(
            Threshold("mos", 3, "a mean opinion score of 3 (fair) or more", _SCALE, at_least=True),
        ),
        summary="the mean opinion score is {mos:.2f} on a scale from 1 (bad) to 5 (excellent); "
        "{late_percent:.1f} % of packets come too late, {loss_percent:.1f} % are lost",
        shown=("late_percent", "loss_percent"),
    ),
    Application(
        "page",
        _pages,
        good=(
            Threshold(
                "page_load_median_s",
                3.3,
                "half of the pages load within 3.3 s, as with CoDel during uploads",
                _PAGES,
            ),
        ),
        fair=(
            Threshold(
                "page_load_median_s",
                _POOR_PAGE_S,
                "half of the pages load within 6.9 s, the best with a full buffer during uploads",
                _PAGES,
            ),
        ),
        summary="half of the pages load within {page_load_median_s:.1f} s",
        notes={"unfinished_pages": "counting pages unfinished at the end as loaded then"},
    ),
    Application(
        "video",
        flows_of("video"),
        good=(Threshold("video_stalled_percent", 0, "no stall", _STALLS),),
        fair=(
            Threshold("video_stalled_percent", 1, "stalled for at most 1 % of the time", _STALLS),
        ),
        summary="playback is stalled for {video_stalled_percent:.1f} % of the time",
    ),
    Application(
        "upload",
        _unlimited_uploads,
        good=(
            Threshold(
                "upload_share_percent",
                90,
                "during an unlimited upload, upstream throughput is 90 % or more of what the "
                "sustained rate and burst allow",
                _OURS,
                at_least=True,
            ),
        ),
        fair=(
            Threshold(
                "upload_share_percent",
                50,
                "upstream throughput is 50 % or more of that",
                _OURS,
                at_least=True,
            ),
        ),
        summary="upstream throughput is {upload_share_percent:.0f} % of what sustained rate and "
        "burst allow",
    ),
)
"""Graded applications, in the order of the report."""


def assess(runs: Sequence[RunTables]) -> list[Assessment]:
    """The grade of each application in runs that differ only in their seed."""
    return [found for application in APPLICATIONS if (found := application.assess(runs))]


def not_graded(result: RunTables) -> list[str]:
    """Names of the traffic entries that have no grade."""
    judged_rows = flows_of("game", "voice", "pages", "video")(result)
    graded = {row["traffic"] for row in judged_rows} | set(_unlimited(result))
    return [name for name in result.settings["traffic"] if name not in graded]
