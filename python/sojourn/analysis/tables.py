"""What analysis reads of a run."""

from typing import Any, Protocol

import pyarrow as pa


class RunTables(Protocol):
    """A run by its tables, its settings and its meta data, wherever they come from.

    The columns of the tables, with their units, are in docs/columns.md.
    """

    @property
    def name(self) -> str:
        """Name of the variant, empty where there is one run alone."""

    @property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""

    @property
    def scenario(self) -> str:
        """The scenario in full, as TOML."""

    @property
    def settings(self) -> dict[str, Any]:
        """The scenario in full, as a dict."""

    def keeps(self, table: str) -> bool:
        """Is there such a table?"""

    def table(self, name: str) -> pa.Table:
        """A table by its name."""

    @property
    def flows(self) -> pa.Table:
        """One row per traffic entry and direction."""

    @property
    def traffic_classes(self) -> pa.Table:
        """One row per quality and direction."""

    @property
    def service_flows(self) -> pa.Table:
        """One row per group of homes, service flow and direction."""

    @property
    def channels(self) -> pa.Table:
        """One row for the upstream channel that modems share, if any do."""

    @property
    def queues(self) -> pa.Table:
        """One row per queue."""

    @property
    def pages(self) -> pa.Table:
        """One row per web page loaded."""

    @property
    def latencies(self) -> pa.Table:
        """Packets by upper edge of the cell of one-way latency."""

    @property
    def series(self) -> pa.Table:
        """Values over time."""
