"""Pages that were under way when a run ended: its tables have those alone that were loaded."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from ..analysis.tables import RunTables

_SAME_S = 1e-6


def unfinished_s(result: RunTables, traffic: str) -> list[float]:
    """For how long in s each page under way at the end had been loading, of an entry of pages.

    The next page of a person starts `pause_s` after the end of the last. When those began who
    have not loaded a page is known up to `start_spread_s`; the latest time is taken.
    """
    settings, end_s = result.settings, result.meta["duration_s"]
    entry = settings["traffic"][traffic]
    pages = [row for row in result.pages.to_pylist() if row["traffic"] == traffic]
    starts = [row["start_s"] for row in pages]
    next_s = [row["start_s"] + row["load_time_s"] + entry["pause_s"] for row in pages]
    firsts, waiting = _matched(starts, next_s)
    homes = (settings.get("homes") or {}).get(entry.get("home")) or {}
    people = entry["users"] * homes.get("count", 1)
    latest_s = entry["start_s"] + entry["start_spread_s"]
    began = [*waiting, *[latest_s] * (people - firsts)]
    return [end_s - start_s for start_s in began if start_s < end_s]


def _matched(starts: Iterable[float], expected: Sequence[float]) -> tuple[int, list[float]]:
    """How many starts were not expected, and which expected ones did not come."""
    left, missing = sorted(starts), []
    for time_s in expected:
        place = bisect_left(left, time_s - _SAME_S)
        if place < len(left) and left[place] <= time_s + _SAME_S:
            left.pop(place)
        else:
            missing.append(time_s)
    return len(left), missing
