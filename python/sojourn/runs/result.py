"""The result of a run: its tables, settings and metadata."""

import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from .._sojourn import Facts, RunResult, Variant
from ..analysis.fairness import Fairness, fairness
from ..analysis.groups import Results
from ..analysis.summary import print_summary, summary_json
from ..analysis.tables import ALL_TABLES
from ..analysis.verdict import Assessment, Verdict, verdict
from ..base.errors import Warning
from .frames import Frames, arrow_table, joined, labelled
from .hooks import hooks
from .parts import described_in
from .tables import missing_key, recorded

_OF_FACTS = ("flows", "queues", "pages", "delay_parts", "first_half")


class _Table(cached_property[pa.Table]):
    """A table of results, by the name of the attribute."""

    def __init__(self, doc: str) -> None:
        """Takes what the table has."""
        super().__init__(lambda of: of.table(self.attrname))
        self.__doc__ = doc


class KeyChange(NamedTuple):
    """A key that was changed in a run."""

    at_s: float
    key: str
    value: float | bool | str
    """Its value from then on."""

    def __str__(self) -> str:
        return f"{self.key} = {json.dumps(self.value)} from {self.at_s:.15g} s on"


def changes_of(meta: Mapping[str, Any]) -> list[KeyChange]:
    """The keys that were changed in a run with these metadata."""
    return [
        KeyChange(one["at_ps"] / 1e12, one["key"], one["value"]) for one in meta.get("changes", ())
    ]


class Outcome(Frames):
    """The return value of `sojourn.run`: a `Result`, or a `Comparison` of several."""

    @property
    @abstractmethod
    def runs(self) -> Mapping[str, "Result"]:
        """The results by variant. A single run has an empty name, and its idle line may follow."""

    @property
    def groups(self) -> Results:
        """The runs of each variant, which differ in their seed."""
        return Results.of_seeds({name: [*of.seeds.values()] for name, of in self.runs.items()})

    @cached_property
    def verdict(self) -> Verdict:
        """The question of the runs, its answer in sentences, and the grades of each variant.

        >>> verdict = sojourn.compare("upload", duration_s=2).verdict
        >>> verdict.question
        'Which of drop-tail and DOCSIS-PIE works best for game, call and upload?'
        >>> list(verdict.groups)
        ['drop-tail', 'DOCSIS-PIE', 'idle line']
        """
        return verdict(self.groups)

    @abstractmethod
    def __getitem__(self, variant: str) -> "Result":
        """The result of a variant."""

    @abstractmethod
    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `InputError` for an unknown name or a trace without key."""

    flows = _Table("One row per traffic entry and direction: counts, loss, rates, latency, scores.")
    traffic_classes = _Table(
        "One row per quality (how traffic is judged) and direction: counts, loss and scores."
    )
    connections = _Table(
        """One row per TCP connection and direction: times, bytes, losses and retransmissions.

        Only the first connections of each traffic entry have rows, up to the scenario's
        `metrics.connections`.
        """
    )
    service_flows = _Table(
        "One row per group of homes, service flow and direction: counters as in a modem's MIB."
    )
    channels = _Table(
        "One row for the upstream channel, if modems share it: its use and contention."
    )
    queues = _Table("One row per queue in the first home of each group: sojourn times in ms.")
    latency_histogram = _Table(
        """Packets of low-latency aggregates by estimated queue latency, as modems count them.

        Empty unless a scheduler `low_latency` sets `latency_histogram_ms`. One row per queue,
        member of the aggregate and bin.
        """
    )
    pages = _Table(
        "One row per loaded web page: start and load time in s, and its rank by load time."
    )
    latencies = _Table(
        "Histogram of one-way latency: number of packets per bin, by its upper edge in ms."
    )
    series = _Table("Values over time; `time_s` is the end of the interval of a value.")
    packets = _Table("Headers, times and outcome of every packet. Needs `metrics.packet_trace`.")
    modem_events = _Table(
        """Events at the first home's modem. Needs `metrics.modem_trace`.

        One row per event of its primary upstream service flow, in order of time.

        - Events of a packet, whose number is in `packet`: arrive, drop (with a `reason`), mark,
          dequeue and sent. A two-queue modem adds hold and release: the packet waits, or has
          tokens for the transmit queue.
        - Events of the MAC: request; withhold (the token buckets delay requests for `bytes`);
          map (a MAP grants `bytes`); defer (the token buckets delay grants of `bytes` on a shared
          channel); grant (transmission may start); piece and piece_end (a fragment of the packet
          dequeued last); unused (granted bytes that were not used).

        `tokens_bytes` is the level of the sustained-rate bucket. `backlog_bytes` is the queue
        after the event, without the packet in transmission.
        """
    )
    delay_parts = _Table(
        """What packets spend their time on: one row per traffic entry, direction and part.

        The time of a packet lasts until it is delivered or dropped, or until the run ends. The
        means of the parts, in ms over all packets that were sent, add up to that of the row
        `total`. Quantiles are those of delivered packets, and null without `metrics.modem_trace`.
        The column `part` in `docs/columns.md` names the parts.
        """
    )
    first_half = _Table(
        """What grades read of `flows` and `queues`, of the first half of the time that counts.

        One row per value, with its `table`, `name`, `direction` and `column`.
        """
    )

    def tidy(self, table: str = "flows") -> pa.Table:
        """A table of all variants together, with the first columns `variant` and `seed`.

        >>> result = sojourn.run("scenarios/upload.toml", duration_s=1)
        >>> result.tidy("queues").column_names[:2]
        ['variant', 'seed']
        """
        return joined(
            labelled(run.table(table), {"variant": of.name, "seed": seed})
            for of in having(table, self.runs.values())
            for seed, run in of.seeds.items()
        )

    def means(self) -> pa.Table:
        """The measures of the summary: a row per variant and measure, over all seeds.

        `mean` is the mean over the `n` seeds that had a value, `low` and `high` bound its 95 %
        interval. With a single seed there is no interval.

            >>> result = sojourn.run("scenarios/upload.toml", seeds=3, duration_s=1)
            >>> result.means().column_names
            ['variant', 'measure', 'mean', 'low', 'high', 'n']
        """
        return pa.Table.from_pylist(
            [
                {"variant": of["name"], "measure": key, **value}
                for of in summary_json(self.groups)["means"]
                for key, value in of["summary"].items()
            ]
        )

    def summary(self, *, in_full: bool = False) -> None:
        """Prints the answer, what users notice and where the time goes; `in_full` all tables."""
        print_summary(self.groups, in_full=in_full)

    @property
    def qualities(self) -> NoReturn:
        """The name of `traffic_classes` before 0.2.0. Raises `AttributeError`."""
        raise AttributeError("table 'qualities' was renamed in 0.2.0: use 'traffic_classes'")

    def _ipython_key_completions_(self) -> list[str]:
        """What IPython offers after `result["` and Tab."""
        return [name for name in self.runs if name]

    def _repr_html_(self) -> str:
        return hooks().results_html(self.groups)

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Writes a report and all tables, like `sojourn run --out`.

        It replaces what an earlier `save` of the same runs wrote there. With `overwrite` it also
        replaces results of other settings or seeds, and those of `sojourn run --out`. Other files
        are never replaced: it raises `FileExistsError`.

            >>> sojourn.run("scenarios/fibre.toml", duration_s=1).save("out/fibre")
        """
        hooks().save(self.groups, Path(directory), overwrite)


class Result(Outcome):
    """The result of one run. Its Arrow tables convert to polars or pandas without a copy.

    Of several seeds, the tables have the rows of all of them and a first column `seed`; `meta` has
    the list `seeds`, and the result of each seed is in `seeds`.

    >>> result = sojourn.run("scenarios/upload.toml", duration_s=1)["drop-tail"]
    >>> result
    <Result 'drop-tail', seed 1, 1 s simulated>
    >>> result.flows.column_names[:3]
    ['traffic', 'quality', 'direction']
    >>> sojourn.run("scenarios/upload.toml", seeds=3, duration_s=1)["drop-tail"]
    <Result 'drop-tail', seeds 1 to 3, 1 s simulated>
    """

    idle_line: "Result | None" = None
    """A run of the same traffic without bulk traffic. Only a single run has it here."""

    def __init__(
        self, variant: Variant, native: RunResult, idle_line: "Result | None" = None
    ) -> None:
        """Wraps the native result of `variant`."""
        self._variant = variant
        self._native = native
        self._name = variant.name
        self.idle_line = idle_line

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        which = seeds_in_words(list(self.seeds))
        return f"<Result {name}{which}, {self.meta['duration_s']:g} s simulated>"

    @property
    def runs(self) -> Mapping[str, "Result"]:
        """This result by its name, and its idle line if it has one."""
        idle = self.idle_line
        return {self.name: self, **({idle.name: idle} if idle else {})}

    @property
    def seeds(self) -> Mapping[int, "Result"]:
        """The results by seed: only this one, if the scenario was run with one."""
        return {self.meta["seed"]: self}

    @property
    def grades(self) -> Mapping[str, Assessment]:
        """What is graded, by its name, with its grade, its values and a summary in words.

        Grades that need the idle line, as *under load*, are in those of a comparison alone.

        >>> result = sojourn.run("upload", duration_s=2)["drop-tail"]
        >>> result.grades["call"].values["mos"] < 4
        True
        """
        return {one.application: one for one in self.verdict.groups[self.groups.groups[0].name]}

    def tidy(self, table: str = "flows") -> pa.Table:
        """A table with the first columns `variant` and `seed`, without the idle line."""
        return joined(
            labelled(run.table(table), {"variant": self.name, "seed": seed})
            for seed, run in self.seeds.items()
        )

    def __getitem__(self, variant: str) -> "Result":
        """The result itself, if it is of this variant. Raises `KeyError` otherwise."""
        if variant != self.name:
            allowed = f"{self.name!r}" if self.name else "none: the scenario has no variants"
            raise KeyError(f"found {variant!r}; allowed: {allowed}")
        return self

    def _ipython_key_completions_(self) -> list[str]:
        return [self.name] if self.name else []

    @property
    def name(self) -> str:
        """Name in the scenario's compare table, empty where there is none."""
        return self._name

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings.

        With parts of one's own, `parts` has by the digest of each the digests of its files and what
        it declares, and of a class the versions of Python and of the packages that it imports.
        """
        meta: dict[str, Any] = json.loads(self._native.meta)
        parts = described_in(self.scenario)
        return {**meta, "parts": parts} if parts else meta

    @property
    def changes(self) -> list[KeyChange]:
        """Keys that were changed while the run went on, in order; empty for most runs."""
        return changes_of(self.meta)

    @property
    def warnings(self) -> list[Warning]:
        """What a user should know of the run, each with its code, values and remedy."""
        return [Warning(**data) for data in self.meta["warnings"]]

    @cached_property
    def scenario(self) -> str:
        """The complete scenario with defaults, as TOML that can be run again."""
        return self._variant.to_toml()

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The complete scenario with defaults, as a dict."""
        settings: dict[str, Any] = json.loads(self._variant.to_json())
        return settings

    @cached_property
    def facts(self) -> Facts:
        """What the run contributes to measures, grades and verdicts."""
        return self._native.facts

    def keeps(self, table: str) -> bool:
        """Does the result have this table? Traces must be recorded, and some be stored."""
        return table in ALL_TABLES and missing_key(table, self.settings) is None

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `InputError` for an unknown name or a trace without key."""
        return arrow_table(self._native.table(recorded(name, self.settings)))

    def __reduce__(self) -> tuple[Any, ...]:
        tables = {name: getattr(self, name) for name in ALL_TABLES if self.keeps(name)}
        state = (self.name, self.scenario, self.settings, self.meta, tables, self.idle_line)
        return _Restored, state

    def fairness(
        self,
        traffic: Sequence[str],
        *,
        from_s: float | None = None,
        to_s: float | None = None,
        shares: Mapping[str, float] | None = None,
        demands_mbps: Mapping[str, float] | None = None,
        capacity_mbps: float | None = None,
    ) -> Fairness:
        """How evenly the flows of these entries shared the capacity from `from_s` to `to_s`.

        The default is from `metrics.from_s` to the end of the run.

        A flow is a TCP connection, in the direction of its payload, or the datagrams of an entry.
        Its throughput counts bytes on the wire; it is exact at multiples of the series interval
        and interpolated in between. Its fair share is that of a weighted max-min division of
        `capacity_mbps`, by default the total throughput of the flows. `shares` are the weights of
        an entry's flows (default 1), `demands_mbps` the most that one of them can use (default: no
        limit). See Hong 2015, sections 3.1.3 and 4.2.2.

        Raises `ValueError` for unknown names, for a window outside the run, and if an entry opened
        more connections than `metrics.connections` keeps.
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


def having(table: str, results: Iterable[Result]) -> Sequence[Result]:
    """The results that have a table, or all of them if none has."""
    runs = list(results)
    return [run for run in runs if run.keeps(table)] or runs


def seeds_in_words(seeds: Sequence[int]) -> str:
    """Seeds in order, as `seed 3`, `seeds 1 to 5` or `seeds 1, 4, 9`."""
    if len(seeds) == 1:
        return f"seed {seeds[0]}"
    if list(seeds) == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"seeds {seeds[0]} to {seeds[-1]}"
    return f"seeds {', '.join(map(str, seeds))}"


class SavedResult(Result):
    """The result of an earlier run."""

    def __init__(self, name: str) -> None:
        """Names the variant; empty if there is none."""
        self._name = name

    @cached_property
    def facts(self) -> Facts:
        """As `Result.facts`, from its tables."""
        kept = filter(self.keeps, _OF_FACTS)
        tables = {name: getattr(self, name).to_pylist() for name in kept}
        parts = json.dumps(self.meta.get("parts"))
        return Facts(json.dumps(self.settings), json.dumps(tables), parts)


class _Restored(SavedResult):
    """A result restored from a pickle."""

    def __init__(
        self,
        name: str,
        scenario: str,
        settings: dict[str, Any],
        meta: dict[str, Any],
        tables: dict[str, pa.Table],
        idle_line: Result | None = None,
    ) -> None:
        super().__init__(name)
        self.idle_line = idle_line
        self.__dict__.update(scenario=scenario, settings=settings, meta=meta)
        self._tables = tables

    def keeps(self, table: str) -> bool:
        return table in self._tables

    def table(self, name: str) -> pa.Table:
        return self._tables[recorded(name, self.settings)]
