"""The summary measures, and selections of rows of a run's tables."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

from .._sojourn import measures_json
from .entries import entries_of
from .statistics import Value, over_seeds
from .tables import RunTables

Row = dict[str, Any]


@dataclass(frozen=True)
class Measure:
    """A number of a run, which the simulator computes from its tables."""

    key: str
    name: str
    """Its name in words, without its unit."""
    unit: str
    better: Literal["lower", "higher"]
    queues: Literal["up", "down"] | None = None
    """The direction of the queues whose delay it is, if it is of queues."""

    def applies(self, results: Iterable[RunTables]) -> bool:
        """Does any of the runs have what it is about?"""
        return any(self.key in result.facts.measures for result in results)

    @property
    def heading(self) -> str:
        """The heading of a column, a word on each line."""
        return "\n".join([*self.name.split(), *filter(None, [self.unit])])

    @property
    def label(self) -> str:
        """The heading on one line, with its unit in brackets."""
        return f"{self.name} ({self.unit})" if self.unit else self.name

    def over(self, runs: Iterable[RunTables]) -> Value:
        """Mean and interval over runs that differ in their seed."""
        return over_seeds([self.value(run) for run in runs])

    def value(self, result: RunTables) -> float | None:
        """The number, or `None` if nothing was measured."""
        return result.facts.measures.get(self.key)


MEASURES = tuple(
    Measure(one["key"], one["label"], one["unit"], one["better"], one["queues"])
    for one in json.loads(measures_json())
)
"""All measures, in the order of tables. With several flows of a kind the worst counts; rates are
summed."""


def judged_flows(result: RunTables) -> list[Row]:
    """The flows of the homes that answers are of (`metrics.homes`), or all."""
    rows: list[Row] = result.flows.to_pylist()
    settings = result.settings
    homes = settings["metrics"].get("homes")
    if homes is None:
        return rows
    first = next(iter(settings["homes"]))
    traffic = entries_of(settings)
    return [row for row in rows if (traffic[row["traffic"]].get("home") or first) == homes]


def flows_of(*qualities: str) -> Callable[[RunTables], list[Row]]:
    """Selects the judged flows with one of these qualities."""
    return lambda result: [row for row in judged_flows(result) if row["quality"] in qualities]


def payload_flows(result: RunTables) -> list[Row]:
    """The judged flows without the acknowledgements of transfers."""
    traffic = entries_of(result.settings)
    return [
        row
        for row in judged_flows(result)
        if row["quality"] != "throughput"
        or traffic[row["traffic"]].get("direction") in (None, "both", row["direction"])
    ]


def transfers(direction: str) -> Callable[[RunTables], list[Row]]:
    """Selects judged bulk transfers that go `up` or `down`, without their acknowledgements."""

    def select(result: RunTables) -> list[Row]:
        traffic = entries_of(result.settings)
        return [
            row
            for row in flows_of("throughput")(result)
            if row["direction"] == direction == traffic[row["traffic"]].get("direction")
        ]

    return select
