"""Charts of parts: one-way delay by what packets spend it on, dropped packets by reason."""

from collections.abc import Sequence

from ...analysis.delay_parts import flow_parts_ms, greatest_shares
from ...analysis.grids import DROP_COLUMNS
from ...analysis.groups import Group, Results
from ...analysis.measures import judged_flows
from ..charts.bars import Bars
from ..charts.base import FEW_AT_MOST, Axis, Chart

BARS_AT_MOST = 48
"""More bars take more than a screen; the table has their numbers."""

_PARTS_AT_MOST = 12
"""More parts would share a combination of colour and hatch."""


def delay(results: Results, traffic: Sequence[str] = ()) -> Chart | None:
    """The parts of the mean delay of judged flows, or of some entries, by flow and variant."""
    of_groups = {
        group.name: {
            f"{entry} {way}": of
            for (entry, way), of in flow_parts_ms(group).items()
            if not traffic or entry in traffic
        }
        for group in results.groups
    }
    flows = list(dict.fromkeys(flow for found in of_groups.values() for flow in found))
    if len(of_groups) > FEW_AT_MOST:
        # A screenful: the first flow stands for the others, which wait in the same queue.
        flows = flows[:1]
    bars = {
        f"{flow}: {group}" if group else flow: found[flow]
        for flow in flows
        for group, found in of_groups.items()
        if flow in found
    }
    if not bars or len(bars) > BARS_AT_MOST:
        return None
    shares = greatest_shares(bars.values())
    shown = sorted(shares, key=lambda part: -shares[part])[:_PARTS_AT_MOST]
    all_parts = {part for parts in bars.values() for part in parts}
    but = "" if len(shown) == len(all_parts) else f" {_left_out(len(shares) - len(shown))}"
    return Bars(
        "Parts of the delay",
        "Parts of the mean one-way delay of all packets that were sent, until they were delivered "
        f"or dropped.{but}",
        Axis("one-way delay (ms)"),
        Axis(""),
        list(bars),
        {
            part.replace("_", " "): [parts.get(part, 0.0) for parts in bars.values()]
            for part in shares
            if part in shown
        },
    )


def _left_out(count: int) -> str:
    """What is not drawn, where so many parts are beyond those that can be."""
    small = "Parts below 1 % of each bar are not drawn"
    return f"{small}, nor {count} of the other parts, the smallest." if count else f"{small}."


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
