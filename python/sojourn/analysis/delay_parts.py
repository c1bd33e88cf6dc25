"""Where the time goes: the parts of the mean delay of traffic entries."""

from collections.abc import Iterable, Mapping
from itertools import groupby

from .groups import Group
from .measures import judged_flows

_LEAST_SHARE = 0.01
"""A part that is less of each delay is not shown."""

_SENSITIVE = (
    *("game", "voice", "video_call", "cloud_game", "own", "responses", "pages", "video"),
    *("responsiveness", "unscored", "throughput", "probes"),
)
"""Qualities of traffic, from those that notice a delay first."""

Parts = dict[str, float]
"""By part, its mean in ms of all packets that were sent, until they were delivered or dropped."""


def flow_parts_ms(group: Group) -> dict[tuple[str, str], Parts]:
    """By judged entry and direction, the parts over all seeds: sensitive traffic first."""
    runs = [run for run in group.runs if run.keeps("delay_parts")]
    found: dict[tuple[str, str], Parts] = {}
    for run in runs:
        rows = [row for row in judged_flows(run) if row["quality"]]
        rows.sort(key=lambda row: _SENSITIVE.index(row["quality"]))
        judged = dict.fromkeys((row["traffic"], row["direction"]) for row in rows)
        of_flows = {
            flow: list(parts)
            for flow, parts in groupby(
                run.table("delay_parts").to_pylist(), lambda row: (row["traffic"], row["direction"])
            )
        }
        for flow in judged:
            parts_ms = found.setdefault(flow, {})
            for row in of_flows.get(flow, ()):
                if row["part"] != "total":
                    mean_ms = row["mean_ms"] / len(runs)
                    parts_ms[row["part"]] = parts_ms.get(row["part"], 0.0) + mean_ms
    return {flow: parts_ms for flow, parts_ms in found.items() if any(parts_ms.values())}


def both_ways_ms(group: Group) -> dict[str, Parts]:
    """By judged entry, the parts of both directions together."""
    found: dict[str, Parts] = {}
    for (traffic, _), parts_ms in flow_parts_ms(group).items():
        sums = found.setdefault(traffic, {})
        for part, mean_ms in parts_ms.items():
            sums[part] = sums.get(part, 0.0) + mean_ms
    return found


def greatest_shares(delays: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """By part worth showing, its greatest share of a delay."""
    found: dict[str, float] = {}
    for parts_ms in delays:
        for part, mean_ms in parts_ms.items():
            found[part] = max(found.get(part, 0.0), mean_ms / sum(parts_ms.values()))
    return {part: share for part, share in found.items() if share >= _LEAST_SHARE}
