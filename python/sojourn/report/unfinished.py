"""Pages still loading when a run ended; the tables list only loaded pages."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from ..analysis.tables import RunTables

_SAME_S = 1e-6


def unfinished_s(result: RunTables, traffic: str) -> list[float]:
    """How long each unfinished page of a traffic entry had been loading at the end, in s.

    A user opens the next page `pause_s` after the last one was loaded. The start of a user who has
    not loaded any page is known to within `start_spread_s`; the latest possible time is used.
    """
    settings, end_s = result.settings, result.meta["duration_s"]
    entry = settings["traffic"][traffic]
    pages = [row for row in result.pages.to_pylist() if row["traffic"] == traffic]
    starts = [row["start_s"] for row in pages]
    next_s = [row["start_s"] + row["load_time_s"] + entry["pause_s"] for row in pages]
    firsts, waiting = _matched(starts, next_s)
    homes = (settings.get("homes") or {}).get(entry.get("home")) or {}
    users = entry["users"] * homes.get("count", 1)
    latest_s = entry["start_s"] + entry["start_spread_s"]
    began = [*waiting, *[latest_s] * (users - firsts)]
    return [end_s - start_s for start_s in began if start_s < end_s]


def _matched(starts: Iterable[float], expected: Sequence[float]) -> tuple[int, list[float]]:
    """The number of unexpected starts, and the expected starts that are missing."""
    left, missing = sorted(starts), []
    for time_s in expected:
        place = bisect_left(left, time_s - _SAME_S)
        if place < len(left) and left[place] <= time_s + _SAME_S:
            left.pop(place)
        else:
            missing.append(time_s)
    return len(left), missing
