"""Charts of parts: one-way delay by what packets spend it on, dropped packets by reason."""

from collections.abc import Mapping
from itertools import groupby

from ...analysis.grids import DROP_COLUMNS
from ...analysis.groups import Group, Results
from ...analysis.measures import judged_flows
from ..charts.bars import Bars
from ..charts.base import FEW_AT_MOST, Axis, Chart

BARS_AT_MOST = 48
"""More bars take more than a screen; the table has their numbers."""

_PARTS_AT_MOST = 12
"""More parts would share a combination of colour and hatch."""

_LEAST_SHARE = 0.01
"""A part that is less of every bar is not seen."""


def delay(results: Results) -> Chart | None:
    """The parts of the mean delay of each judged flow, with the variants side by side."""
    of_groups = {group.name: _parts_ms(group) for group in results.groups}
    flows = list(dict.fromkeys(flow for found in of_groups.values() for flow in found))
    if len(of_groups) > FEW_AT_MOST:
        # A screenful: the first flow stands for the others, which wait in the same queue.
        flows = flows[:1]
    bars = {
        f"{flow}: {group}" if group else flow: found[flow]
        for flow in flows
        for group, found in of_groups.items()
        if any(found.get(flow, {}).values())
    }
    if not bars or len(bars) > BARS_AT_MOST:
        return None
    shares = {
        part: max(parts.get(part, 0.0) / sum(parts.values()) for parts in bars.values())
        for part in dict.fromkeys(part for parts in bars.values() for part in parts)
    }
    largest = sorted(shares, key=lambda part: -shares[part])[:_PARTS_AT_MOST]
    shown = [part for part in shares if part in largest and shares[part] >= _LEAST_SHARE]
    but = (
        "" if len(shown) == len(shares) else " Parts that are below 1 % of each bar are not drawn."
    )
    return Bars(
        "Parts of the delay",
        "Parts of the mean one-way delay of all packets that were sent, until they were delivered "
        f"or dropped.{but}",
        Axis("one-way delay (ms)"),
        Axis(""),
        list(bars),
        {
            part.replace("_", " "): [parts.get(part, 0.0) for parts in bars.values()]
            for part in shown
        },
    )


def _parts_ms(group: Group) -> Mapping[str, Mapping[str, float]]:
    """By flow that has a quality, the mean of each part over the runs of a group."""
    runs = [run for run in group.runs if run.keeps("delay_parts")]
    found: dict[str, dict[str, float]] = {}
    for run in runs:
        judged = {(row["traffic"], row["direction"]) for row in judged_flows(run) if row["quality"]}
        for (traffic, direction), rows in groupby(
            run.table("delay_parts").to_pylist(), lambda row: (row["traffic"], row["direction"])
        ):
            if (traffic, direction) not in judged:
                continue
            parts_ms = found.setdefault(f"{traffic} {direction}", {})
            for row in rows:
                if row["part"] != "total":
                    mean_ms = row["mean_ms"] / len(runs)
                    parts_ms[row["part"]] = parts_ms.get(row["part"], 0.0) + mean_ms
    return found


def drops(results: Results) -> Chart | None:
    """The share of dropped packets, by reason."""
    reasons = {c.key: c.heading for c in DROP_COLUMNS if c.key.startswith("dropped_")}
    shares = {
        heading: [_share_dropped(group, key) for group in results.groups]
        for key, heading in reasons.items()
    }
    there = {heading: values for heading, values in shares.items() if any(values)}
    if not there or len(results.groups) > BARS_AT_MOST:
        return None
    return Bars(
        "Dropped packets by reason",
        "Share of all sent packets, acknowledgements included.",
        Axis("dropped packets (%)"),
        Axis(""),
        [group.name or "all traffic" for group in results.groups],
        there,
    )


def _share_dropped(group: Group, reason: str) -> float:
    rows = [row for run in group.runs for row in judged_flows(run)]
    sent, dropped = (sum(int(row[key]) for row in rows) for key in ("sent_packets", reason))
    return 100 * dropped / max(sent, 1)
