"""Names of the tables of a result."""

from collections.abc import Mapping, Sequence
from itertools import chain

from ..base.lookup import UnknownError, look_up

TABLES = (
    "flows",
    "traffic_classes",
    "connections",
    "service_flows",
    "channels",
    "queues",
    "latency_histogram",
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

ALL_TABLES = (*TABLES, *chain.from_iterable(TRACES.values()))
"""All of them."""

_RENAMED = {"qualities": "traffic_classes"}


def known_table(name: str) -> str:
    """The name itself; raises `UnknownError`, with the new name of a table that was renamed."""
    if new := _RENAMED.get(name):
        raise UnknownError(f"table {name!r} was renamed in 0.2.0: use {new!r}")
    return look_up("table", name, ALL_TABLES)
