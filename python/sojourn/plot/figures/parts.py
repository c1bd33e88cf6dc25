"""Charts of parts: one-way latency by cause, dropped packets by reason."""

from ...analysis.grids import DROP_COLUMNS
from ...analysis.groups import Group, Results
from ...analysis.measures import judged_flows
from ...runs.delay_split import DelaySplit
from ..charts.bars import Bars
from ..charts.base import FEW_AT_MOST, Axis, Chart

_PARTS = ("queue", "request_wait", "grant_wait", "shaping", "transmission", "path")
"""The parts of the one-way delay, in order along the path."""

BARS_AT_MOST = 48
"""More bars take more than a screen; the table has their numbers."""


def delay(split: DelaySplit) -> Chart | None:
    """The parts of each entry's mean latency, with the variants side by side."""
    rows = [(group, row) for group, rows in split.rows.items() for row in rows]
    means_ms = {(group, row["traffic"], row["part"]): row["mean_ms"] or 0.0 for group, row in rows}
    entries = list(dict.fromkeys(row["traffic"] for _, row in rows))
    if len(split.rows) > FEW_AT_MOST:
        # A screenful: the first entry stands for the others, which wait in the same queue.
        entries = entries[:1]
    there = {(group, row["traffic"]) for group, row in rows}
    bars = [(group, entry) for entry in entries for group in split.rows if (group, entry) in there]
    if not bars or len(bars) > BARS_AT_MOST:
        return None
    return Bars(
        "Parts of the delay",
        "Parts of the mean one-way latency through the first home's modem: waiting in the queue, "
        "until bandwidth is requested, until it is granted, for tokens (shaping), transmission, "
        f"and the path to the server. {split.about}".rstrip(),
        Axis("one-way latency (ms)"),
        Axis(""),
        [f"{entry}: {group}" if group else entry for group, entry in bars],
        {
            part.replace("_", " "): [means_ms.get((*bar, part), 0.0) for bar in bars]
            for part in _PARTS
        },
    )


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
