"""Charts of what makes up a whole: latency by where it was spent, drops by reason."""

from ..results import Group, Results
from ..summary import DROP_COLUMNS, Row
from .charts import Axis, Bars, Chart

_PARTS = ("queue", "request_wait", "grant_wait", "shaping", "transmission", "path")
"""Where the time of a packet goes, in the order of its way."""


def delay(results: Results) -> Chart | None:
    """The split of delay of the first seed, where the runs have a table of it."""
    means_ms = {
        (_bar(group, row), row["part"]): row["mean_ms"] or 0.0
        for group in results.groups
        if group.first.keeps("delay_parts")
        for row in group.first.table("delay_parts").to_pylist()
    }
    bars = list(dict.fromkeys(bar for bar, _ in means_ms))
    if not bars:
        return None
    return Bars(
        "Where the time goes",
        "Parts of the mean one-way latency: behind other packets, until bandwidth can be asked "
        "for, until it is granted, for tokens, being sent, and on the way to the server.",
        Axis("one-way latency (ms)"),
        Axis(""),
        bars,
        {
            part.replace("_", " "): [means_ms.get((bar, part), 0.0) for bar in bars]
            for part in _PARTS
        },
    )


def _bar(group: Group, row: Row) -> str:
    return ": ".join(filter(None, (group.name, row["traffic"])))


def drops(results: Results) -> Chart | None:
    """The share of packets dropped, by reason."""
    reasons = {c.key: c.heading for c in DROP_COLUMNS if c.key.startswith("dropped_")}
    shares = {
        heading: [_share_dropped(group, key) for group in results.groups]
        for key, heading in reasons.items()
    }
    there = {heading: values for heading, values in shares.items() if any(values)}
    if not there:
        return None
    return Bars(
        "Dropped packets by reason",
        "Share of all packets that were sent, acknowledgements too.",
        Axis("dropped packets (%)"),
        Axis(""),
        [group.name or "all traffic" for group in results.groups],
        there,
    )


def _share_dropped(group: Group, reason: str) -> float:
    rows = [row for run in group.runs for row in run.flows.to_pylist()]
    sent, dropped = (sum(int(row[key]) for row in rows) for key in ("sent_packets", reason))
    return 100 * dropped / max(sent, 1)
