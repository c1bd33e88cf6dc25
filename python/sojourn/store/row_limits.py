"""How many rows the tables of a scenario can have: a small untrusted file may hold many more."""

from collections.abc import Mapping
from typing import Any

_MOST_ROWS = 1 << 24
"""Of any table that grows with the run: as many as the longest trace."""

_ROWS_OF_A_VALUE = {"latencies": 1 << 14, "latency_histogram": 1 << 14}
"""Rows for each value of the scenario, which has several of them for each entry; others have 10."""

_SERIES_OF_A_VALUE = 32
"""A queue has up to 28 series in each group of homes, and at least 7 values in the scenario.

Laws of the user's own may have some hundred.
"""

_MOST_OF_A_SERIES = 4096
"""Values of a series in the longest run."""

_SHORTEST_PAGE_S = 1e-5
"""No page loads faster: it takes two round trips."""

Settings = Mapping[str, Any]


def most_rows(table: str, scenario: Settings) -> int:
    """How many rows a table of this scenario can have."""
    match table:
        case "packets" | "modem_events":
            return _MOST_ROWS
        case "connections":
            rows = _connections(scenario)
        case "pages":
            rows = _pages(scenario)
        case "series":
            rows = _series(scenario) * _values_of_a_series(scenario)
        case _:
            return _ROWS_OF_A_VALUE.get(table, 10) * _values(scenario)
    return min(rows, _MOST_ROWS)


_SERIES_OF_A_CONNECTION = 64
"""Its rate, what its sender shows, and gauges of a control of the user's own."""


def _connections(scenario: Settings) -> int:
    """Both directions of the connections that are recorded of each entry."""
    most: int = scenario["metrics"]["connections"]
    return 2 * len(scenario["traffic"]) * most


def _pages(scenario: Settings) -> int:
    """A user opens the next page `pause_s` after the last one has loaded."""
    homes = sum(group["count"] for group in scenario["homes"].values()) or 1
    webs = [entry for entry in scenario["traffic"].values() if entry["kind"] == "web"]
    times = (scenario["duration_s"] / (web["pause_s"] + _SHORTEST_PAGE_S) for web in webs)
    users = (web["users"] for web in webs)
    return sum(homes * of * (1 + int(time)) for of, time in zip(users, times, strict=True))


def _series(scenario: Settings) -> int:
    """Those of connections, of queues with their watched flows, and of entries."""
    groups, watched = len(scenario["homes"]) or 1, 1 + scenario["metrics"]["watch_flows"]
    others: int = _SERIES_OF_A_VALUE * _values(scenario) * groups * watched
    return _SERIES_OF_A_CONNECTION * _connections(scenario) + others


def _values_of_a_series(scenario: Settings) -> int:
    intervals = scenario["duration_s"] * 1e3 / scenario["metrics"]["series_interval_ms"]
    return min(1 + int(intervals), _MOST_OF_A_SERIES)


def _values(settings: Any) -> int:
    """How many values a scenario or a part of it has."""
    if isinstance(settings, dict):
        return sum(map(_values, settings.values()))
    return sum(map(_values, settings)) if isinstance(settings, list) else 1
