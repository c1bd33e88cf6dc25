"""The runs of a study, and what may be changed in them: alternatives to its baseline."""

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from sojourn.store.stored_run import StoredRun
from sojourn.store.task import Task, task

from .rows import Row

Runs = Mapping[str, StoredRun]
"""The runs of one seed, by the name of their case."""


Rule = tuple[Callable[[Row], Sequence["Case"]], Callable[[Row, Runs], float | None]]
"""The runs that a cell is computed from, and its value from them."""


def by_rule(rule_of: Callable[[Row], Rule]) -> Rule:
    """`cases_of` and `value_of` of a study that has several rules for its cells."""
    return lambda row: rule_of(row)[0](row), lambda row, runs: rule_of(row)[1](row, runs)


def of_one(case_of: Callable[[Row], "Case"], value: Callable[[Row, StoredRun], Any]) -> Rule:
    """The rule of cells that a single run has."""
    return lambda row: [case_of(row)], lambda row, runs: value(row, runs[case_of(row).name])


def of_several(
    cases_of: Callable[[Row], Sequence["Case"]], value: Callable[[Row, list[StoredRun]], Any]
) -> Rule:
    """The rule of cells that several runs have together, in the order of their cases."""
    return cases_of, lambda row, runs: value(row, [runs[case.name] for case in cases_of(row)])


def no_runs(row: Row) -> Sequence["Case"]:
    """Of a cell that is computed without any."""
    return ()


@dataclass(frozen=True)
class Case:
    """A run of a study, whatever the seed."""

    name: str
    scenario: Mapping[str, Any] = field(hash=False, compare=False)
    series: bool = False
    """Keep what is measured over time."""
    packets: bool = False
    """Keep the outcome of every packet; the scenario must ask for it."""
    latencies: bool = False
    """Keep the distributions of latency."""
    also: Sequence[str] = ()
    """Other tables to keep, by name; the scenario must ask for those of traces."""
    draw: int = 0
    """Cases of another number have other random numbers, and so other hashes of their flows."""

    @property
    def duration_s(self) -> float:
        """How long the document's run is."""
        return float(self.scenario["duration_s"])

    def task(self, seed: int, duration_scale: float) -> Task:
        """The run with this seed, its duration scaled, with clocks that do not drift."""
        tables = [name for name in ("series", "packets", "latencies") if getattr(self, name)]
        duration_s = self.duration_s * duration_scale
        scaled = {"clock_drift_ppm": 0, **self.scenario, "duration_s": duration_s}
        return task(scaled, seed=seed + _SEEDS * self.draw, tables=[*tables, *self.also])


def unshaped(mbps: float, burst_bytes: int = 3000) -> dict[str, Any]:
    """Keys of a service that has no higher rate for a time."""
    return {"sustained_mbps": mbps, "peak_mbps": mbps, "burst_bytes": burst_bytes}


_SEEDS = 10_000  # the most that a study is run with

Change = Callable[[dict[str, Any]], None]
"""Changes a scenario in place."""


@dataclass(frozen=True, eq=False)
class Alternative:
    """An alternative assumption, run beside the baseline: the effect of a choice."""

    name: str
    what: str
    change: Change
    tables: Sequence[str] = ()
    """Whose cells it is run for; all if none is named."""
    experiments: Sequence[str] = ()
    schemes: Sequence[str] = ()
    draw: int = 0
    """What is added to the draw of a case: other random numbers, for what is chance."""
    for_all: bool = False
    """Run it for cells without a published value too."""

    def wants(self, row: Row) -> bool:
        """Is it run for this cell?"""
        return (self.for_all or row.result is not None) and all(
            not names or any(name in word.split("/") for name in names)
            for names, word in (
                (self.tables, row.table),
                (self.experiments, row.experiment),
                (self.schemes, row.scheme),
            )
        )

    def case(self, case: Case) -> Case:
        """The run under this assumption."""
        scenario = deepcopy(dict(case.scenario))
        self.change(scenario)
        name, draw = case.name + self._suffix, case.draw + self.draw
        return replace(case, name=name, scenario=scenario, draw=draw)

    def runs(self, runs: Runs) -> Runs:
        """The runs made so, by the names of the baseline's."""
        suffix = self._suffix
        named = {name: run for name, run in runs.items() if name.endswith(suffix)}
        return {name.removesuffix(suffix): run for name, run in named.items()}

    @property
    def _suffix(self) -> str:
        return f" | {self.name}"
