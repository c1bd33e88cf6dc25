"""How good what people do at home is: good, fair or poor, with the source of every limit."""

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
    """A grade, and the mark that tells it without colour."""

    GOOD = "✓"
    FAIR = "~"
    POOR = "✗"

    @property
    def word(self) -> str:
        """The grade in words."""
        return self.name.lower()


@dataclass(frozen=True)
class Limit:
    """A value of `metric` that a grade asks for, at most or at least."""

    metric: str
    bound: float
    text: str
    source: str
    at_least: bool = False

    def holds(self, value: float) -> bool:
        """Is the value on the right side?"""
        return value >= self.bound if self.at_least else value <= self.bound

    def worst(self, values: Sequence[float]) -> float:
        """Of several entries the worst counts."""
        return min(values) if self.at_least else max(values)


@dataclass(frozen=True)
class Use:
    """Something that people do: whose rows are judged, and what each grade asks for."""

    name: str
    rows: Callable[[RunTables], list[Row]]
    good: tuple[Limit, ...]
    fair: tuple[Limit, ...]
    words: str
    """What was measured, in a sentence's words; the names are those of metrics."""
    notes: Mapping[str, str] = field(default_factory=dict)
    """What the words go on with where a run has any of this metric."""

    def judge(self, runs: Sequence[RunTables]) -> "Judged | None":
        """The grade over runs that differ in their seed; nothing if none of them has such a use."""
        rows = [self.rows(run) for run in runs]
        if not any(rows):
            return None
        limits = {limit.metric: limit for limit in (*self.fair, *self.good)}
        values = {metric: _mean(limit, rows) for metric, limit in limits.items()}
        every = list(chain.from_iterable(rows))
        notes = [text for metric, text in self.notes.items() if any(row[metric] for row in every)]
        return Judged(self, values, notes)


@dataclass(frozen=True)
class Judged:
    """A use with its grade."""

    use: Use
    values: dict[str, float | None]
    notes: Sequence[str] = ()

    @property
    def grade(self) -> Grade | None:
        """The best grade whose limits all hold; nothing if there was nothing to measure."""
        if any(value is None for value in self.values.values()):
            return None
        for grade, limits in ((Grade.GOOD, self.use.good), (Grade.FAIR, self.use.fair)):
            if all(limit.holds(self.values[limit.metric] or 0.0) for limit in limits):
                return grade
        return Grade.POOR

    @property
    def words(self) -> str:
        """What was measured."""
        if self.grade is None:
            return "nothing was measured: the run is too short for it, or nothing came through"
        return ", ".join([self.use.words.format(**self.values), *self.notes])


def _mean(limit: Limit, rows: Sequence[list[Row]]) -> float | None:
    per_run = [[row[limit.metric] for row in of_run] for of_run in rows]
    known = [[value for value in values if value is not None] for values in per_run]
    return over_seeds([limit.worst(values) if values else None for values in known]).mean


def _endless_uploads(result: RunTables) -> list[Row]:
    """What each home with an upload without end sent, of what its sustained rate and burst allow.

    Not of homes with several service flows upstream, nor of uploads that end.
    """
    traffic = result.settings["traffic"]
    homes = {traffic[name].get("home") for name in _endless(result)}
    rows, duration_s = result.flows.to_pylist(), result.meta["duration_s"]
    shares = [
        100 * _sent_up_mbps(rows, traffic, home) / _allowed_mbps(result.settings, home, duration_s)
        for home in sorted(homes, key=str)
    ]
    is_long = duration_s >= _SHORTEST_UPLOAD_S
    return [{"upload_share_percent": share if is_long else None} for share in shares]


def _endless(result: RunTables) -> list[str]:
    """The entries that are graded as uploads."""
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
    """Who loads pages, with what is known of their load times."""
    return [{**row, **_page_load(result, row)} for row in flows_of("pages")(result)]


def _page_load(result: RunTables, row: Row) -> Row:
    """The median load time; a page under way at the end counts as loaded then, if against it.

    A single page is not judged, for it was loaded before the others had filled the queue. But one
    that has not come in the time that is poor for half of them is.
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
"""An upload needs some seconds until it has found its rate."""

_GAMES = "White & Rice 2013, section 4.1.3"
_TENTH = "White 2014, section 5.1 reads the 90 % quantile"
_SCALE = "ITU-T P.800, as in White 2014, section 5.1"
_PAGES = "White & Padden 2012, tables 7 and 8"
_STALLS = "Krishnan & Sitaraman 2012: a stall of 1 % of a video costs 5 % of the time watched"
_OURS = (
    "the share is ours; with CoDel uploads kept 97 % or more in White & Padden 2012, tables 7, 8"
)

USES = (
    Use(
        "game",
        flows_of("game"),
        good=(
            Limit(
                "over_20_ms_access_percent",
                10,
                "at most 10 % of packets spend more than 20 ms in the access network",
                f"{_GAMES}; {_TENTH}",
            ),
            Limit("loss_percent", 1, "at most 1 % of packets are lost", f"Jarschel in {_GAMES}"),
        ),
        fair=(
            Limit(
                "over_80_ms_round_trip_percent",
                10,
                "at most 10 % of packets leave a round trip of more than 80 ms",
                f"Choy in {_GAMES}; {_TENTH}",
            ),
            Limit("loss_percent", 20, "at most 20 % of packets are lost", f"Bredel in {_GAMES}"),
        ),
        words="{over_20_ms_access_percent:.0f} % of its packets spend more than 20 ms in the "
        "access network, {over_80_ms_round_trip_percent:.0f} % leave a round trip of more than "
        "80 ms, {loss_percent:.2f} % are lost",
    ),
    Use(
        "call",
        flows_of("voice"),
        good=(Limit("mos", 4, "a mean opinion score of 4 (good) or more", _SCALE, at_least=True),),
        fair=(Limit("mos", 3, "a mean opinion score of 3 (fair) or more", _SCALE, at_least=True),),
        words="its mean opinion score is {mos:.2f} on the scale of 1 (bad) to 5 (excellent)",
    ),
    Use(
        "page",
        _pages,
        good=(
            Limit(
                "page_load_median_s",
                3.3,
                "half of the pages load within 3.3 s, as beside uploads under CoDel",
                _PAGES,
            ),
        ),
        fair=(
            Limit(
                "page_load_median_s",
                _POOR_PAGE_S,
                "half of the pages load within 6.9 s, the least beside uploads under a full buffer",
                _PAGES,
            ),
        ),
        words="half of the pages load within {page_load_median_s:.1f} s",
        notes={"unfinished_pages": "with those that the end cut off taken as loaded then"},
    ),
    Use(
        "video",
        flows_of("video"),
        good=(Limit("video_stalled_percent", 0, "no stall", _STALLS),),
        fair=(Limit("video_stalled_percent", 1, "stalled for at most 1 % of the time", _STALLS),),
        words="it stands still for {video_stalled_percent:.1f} % of the time",
    ),
    Use(
        "upload",
        _endless_uploads,
        good=(
            Limit(
                "upload_share_percent",
                90,
                "an upload without end and all beside it get 90 % or more of what the sustained "
                "rate and the burst allow",
                _OURS,
                at_least=True,
            ),
        ),
        fair=(
            Limit(
                "upload_share_percent",
                50,
                "they get 50 % or more",
                _OURS,
                at_least=True,
            ),
        ),
        words="all that is sent gets {upload_share_percent:.0f} % of what the sustained rate and "
        "the burst allow",
    ),
)
"""What is graded, in the order of the report."""


def judged(runs: Sequence[RunTables]) -> list[Judged]:
    """Every use that runs have, with its grade; the runs differ in nothing but their seed."""
    return [found for use in USES if (found := use.judge(runs))]


def not_graded(result: RunTables) -> list[str]:
    """The traffic entries that no use is of."""
    judged_rows = flows_of("game", "voice", "pages", "video")(result)
    graded = {row["traffic"] for row in judged_rows} | set(_endless(result))
    return [name for name in result.settings["traffic"] if name not in graded]
