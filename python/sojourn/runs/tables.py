"""Names of the tables of a result."""

from collections.abc import Mapping, Sequence

TABLES = (
    "flows",
    "qualities",
    "connections",
    "service_flows",
    "channels",
    "queues",
    "pages",
    "latencies",
    "series",
)
"""The tables of every result."""

TRACES: Mapping[str, Sequence[str]] = {
    "packet_trace": ("packets",),
    "modem_trace": ("modem_events", "delay_parts"),
}
"""The tables that are empty unless the scenario sets the key in `metrics`."""
