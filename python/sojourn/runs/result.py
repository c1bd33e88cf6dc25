"""What a run gives: its tables, its settings and its meta data."""

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa

from .._sojourn import RunResult, Variant
from ..analysis.fairness import Fairness, fairness
from ..analysis.summary import print_summary
from .hooks import hooks
from .tables import ALL_TABLES, known_table


class Outcome(ABC):
    """What comes back: a `Result`, or a `Comparison` of several."""

    @property
    @abstractmethod
    def runs(self) -> Mapping[str, "Result"]:
        """The results by variant; a run that is not one of several has the empty name."""

    def summary(self) -> None:
        """Prints the numbers that matter."""
        print_summary(self.runs)

    @property
    def qualities(self) -> NoReturn:
        """Not there any more: `traffic_classes` is the table's name since 0.2.0."""
        raise AttributeError("table 'qualities' was renamed in 0.2.0: use 'traffic_classes'")

    def _repr_html_(self) -> str:
        return hooks().results_html(self.runs)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Writes a report and all tables, as `sojourn run --out` does."""
        hooks().save(self.runs, Path(directory))


class Result(Outcome):
    """The results of one run. Tables go to polars or pandas without a copy."""

    def __init__(self, variant: Variant, native: RunResult) -> None:
        """Wraps the outcome of `variant`."""
        self._variant = variant
        self._native = native

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        meta = self.meta
        return f"<Result {name}seed {meta['seed']}, {meta['duration_s']:g} s simulated>"

    @property
    def runs(self) -> Mapping[str, "Result"]:
        """This one alone."""
        return {self.name: self}

    @property
    def name(self) -> str:
        """Name in the scenario's compare table, empty where there is none."""
        return self._variant.name

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""
        meta: dict[str, Any] = json.loads(self._native.meta)
        return meta

    @property
    def scenario(self) -> str:
        """The scenario in full, defaults included, as TOML that can be run again."""
        return self._variant.to_toml()

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The scenario in full, as a dict."""
        settings: dict[str, Any] = json.loads(self._variant.to_json())
        return settings

    def keeps(self, table: str) -> bool:
        """Is there such a table? What was read from a store has those alone that were kept."""
        return table in ALL_TABLES

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `ValueError` if there is none of that name."""
        return _ordered(pa.table(self._native.table(known_table(name))))

    def __reduce__(self) -> tuple[Any, ...]:
        tables = {name: getattr(self, name) for name in ALL_TABLES if self.keeps(name)}
        return _Restored, (self.name, self.scenario, self.settings, self.meta, tables)

    @cached_property
    def flows(self) -> pa.Table:
        """One row per traffic entry and direction: counts, loss, rates, latency, scores."""
        return self.table("flows")

    @cached_property
    def traffic_classes(self) -> pa.Table:
        """One row per quality and direction: counts, loss and scores of all entries judged so."""
        return self.table("traffic_classes")

    @cached_property
    def connections(self) -> pa.Table:
        """One row per TCP connection and direction: when, how much, what was lost and sent again.

        The first of each traffic entry alone, as many as the scenario's `metrics.connections`.
        """
        return self.table("connections")

    @cached_property
    def service_flows(self) -> pa.Table:
        """One row per group of homes, service flow and direction: counters of the modems' MIB."""
        return self.table("service_flows")

    @cached_property
    def channels(self) -> pa.Table:
        """One row for the upstream channel that modems share, if any do: how it was used."""
        return self.table("channels")

    @cached_property
    def queues(self) -> pa.Table:
        """One row per queue of the first home of each group: sojourn times in ms."""
        return self.table("queues")

    @cached_property
    def pages(self) -> pa.Table:
        """One row per web page loaded: start and load time in s, and its place among the others."""
        return self.table("pages")

    @cached_property
    def latencies(self) -> pa.Table:
        """Distribution of one-way latency: packets by upper edge of the cell in ms."""
        return self.table("latencies")

    @cached_property
    def series(self) -> pa.Table:
        """Values over time; `time_s` is the end of the interval that a value is of."""
        return self.table("series")

    @cached_property
    def packets(self) -> pa.Table:
        """Headers, times and outcome of every packet; empty without `metrics.packet_trace`."""
        return self.table("packets")

    @cached_property
    def modem_events(self) -> pa.Table:
        """What happens at the first home's modem; empty without `metrics.modem_trace`.

        One row per event of its primary upstream service flow, in the order of time. Of a packet,
        whose number in the run is in `packet`: arrive, drop (with a `reason`), mark, dequeue, sent,
        and in a two-queue modem hold and release (it has tokens for the transmit queue). Of the
        MAC: request, withhold (bytes that the token buckets keep from being requested), map (a MAP
        takes effect that grants `bytes`), defer (bytes that they keep a shared channel from
        granting), grant (the modem may send from now on), piece and piece_end (of the packet that
        was taken last), unused. `tokens_bytes` is the level of the sustained rate's bucket,
        `backlog_bytes` what waits after the event, without a packet that is being sent.
        """
        return self.table("modem_events")

    @cached_property
    def delay_parts(self) -> pa.Table:
        """Where packets through the first home's modem spent their time; empty as `modem_events`.

        One row per traffic entry and part of the one-way delay, of delivered packets: queue (behind
        others), request_wait (for a chance to ask for bandwidth), grant_wait (for the grant),
        shaping (for tokens), transmission, and path (from the modem to the server). Each instant
        belongs to one part, so each packet's parts add up to its latency, and the means to that of
        the row `total`.
        """
        return self.table("delay_parts")

    def fairness(
        self,
        traffic: Sequence[str],
        *,
        from_s: float = 0.0,
        to_s: float | None = None,
        shares: Mapping[str, float] | None = None,
        demands_mbps: Mapping[str, float] | None = None,
        capacity_mbps: float | None = None,
    ) -> Fairness:
        """How evenly the flows of these entries shared the capacity from `from_s` to `to_s`.

        A flow is a TCP connection, in the direction that carries the payload, or the datagrams of
        an entry; its throughput is that of bytes on the wire, exact at multiples of the series'
        interval and taken as even within one. What it should have got is its share of a weighted
        max-min fair division of `capacity_mbps`: `shares` are weights of the entries' flows (1 by
        default), `demands_mbps` what one flow of an entry wants at most (no limit by default).
        Without a capacity it is what the flows got together (Hong 2015 sections 3.1.3 and 4.2.2).

        Raises `ValueError` if an entry opened more connections than have accounts
        (`metrics.connections`), for unknown names, and for a window outside of the run.
        """
        return fairness(
            self,
            traffic,
            from_s=from_s,
            to_s=to_s,
            shares=shares or {},
            demands_mbps=demands_mbps or {},
            capacity_mbps=capacity_mbps,
        )


def _ordered(table: pa.Table) -> pa.Table:
    """The same with metadata in order, so that files have the same bytes: Arrow's come in any."""
    fields = [field.with_metadata(dict(sorted(field.metadata.items()))) for field in table.schema]
    return pa.table(table.columns, schema=pa.schema(fields))


class SavedResult(Result):
    """The result of a run that was made some time ago."""

    def __init__(self, name: str) -> None:
        """The result of the variant `name`, empty where there is none."""
        self._name = name

    @property
    def name(self) -> str:
        """Name in the scenario's compare table, empty where there is none."""
        return self._name


class _Restored(SavedResult):
    """A result that was pickled."""

    def __init__(
        self,
        name: str,
        scenario: str,
        settings: dict[str, Any],
        meta: dict[str, Any],
        tables: dict[str, pa.Table],
    ) -> None:
        super().__init__(name)
        self._scenario, self._settings, self._meta = scenario, settings, meta
        self._tables = tables

    @property
    def scenario(self) -> str:
        return self._scenario

    @cached_property
    def settings(self) -> dict[str, Any]:
        return self._settings

    @cached_property
    def meta(self) -> dict[str, Any]:
        return self._meta

    def keeps(self, table: str) -> bool:
        return table in self._tables

    def table(self, name: str) -> pa.Table:
        return self._tables[known_table(name)]
