"""The interface of a run, as analysis reads it, and the names of its tables."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from .._sojourn import Facts, definitions_json
from ..base.errors import Warning

if TYPE_CHECKING:
    import pyarrow as pa

TRACES: Mapping[str, Sequence[str]] = {
    "packet_trace": ("packets",),
    "modem_trace": ("modem_events",),
}
"""The tables that runs have only if the scenario sets the key in `metrics`."""

_defined, _ = json.loads(definitions_json())

ALL_TABLES: Sequence[str] = tuple(table["name"] for table in _defined)
"""All of them."""

TABLES = tuple(name for name in ALL_TABLES if name not in chain.from_iterable(TRACES.values()))
"""The tables of every result."""


class RunTables(Protocol):
    """The tables, settings and metadata of a run, from memory or from files.

    The columns of the tables, with their units, are in docs/columns.md.
    """

    @property
    def name(self) -> str:
        """Name of the variant; empty for a single run."""

    @property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""

    @property
    def warnings(self) -> list[Warning]:
        """What a user should know of the run."""

    @property
    def scenario(self) -> str:
        """The complete scenario, as TOML."""

    @property
    def settings(self) -> dict[str, Any]:
        """The complete scenario, as a dict."""

    @property
    def facts(self) -> Facts:
        """What the run contributes to measures, grades and verdicts."""

    def keeps(self, table: str) -> bool:
        """Does the run have this table?"""

    def table(self, name: str) -> "pa.Table":
        """A table by its name."""

    @property
    def flows(self) -> "pa.Table":
        """One row per traffic entry and direction."""

    @property
    def traffic_classes(self) -> "pa.Table":
        """One row per quality (how traffic is judged) and direction."""

    @property
    def service_flows(self) -> "pa.Table":
        """One row per group of homes, service flow and direction."""

    @property
    def channels(self) -> "pa.Table":
        """One row for the upstream channel, if modems share it."""

    @property
    def queues(self) -> "pa.Table":
        """One row per queue."""

    @property
    def pages(self) -> "pa.Table":
        """One row per loaded web page."""

    @property
    def latencies(self) -> "pa.Table":
        """Histogram of one-way latency: packets per bin, by its upper edge."""

    @property
    def series(self) -> "pa.Table":
        """Values over time."""


def where(table: "pa.Table", **words: str) -> "pa.Table":
    """The rows of a table that have these words in these columns."""
    import pyarrow.compute as pc  # which takes long, and is not needed for a summary

    for column, word in words.items():
        # An expression would load pyarrow's module of data sets, which takes longer than the rows.
        table = table.filter(pc.equal(table[column], word))
    return table
