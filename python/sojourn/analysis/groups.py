"""Groups of runs that reports and figures show: a run, a comparison, a sweep or a study."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..base.errors import Warning
from ..base.lookup import look_up
from .tables import RunTables

EQUAL = "equal-variants"
"""The code of the warning that a run stands for other variants too, or has tables like theirs."""
THIS_RUN = "this run"
"""The name of a single run beside its idle line."""


@dataclass(frozen=True)
class Group:
    """Runs that differ only in their seed."""

    name: str
    """A unique name; empty for a single run."""
    runs: Sequence[RunTables]
    point: Sequence[str] = ()
    """The values of the swept keys, as TOML."""
    variant: str = ""
    is_idle: bool = False
    """Is it drawn as an idle line?"""

    @property
    def first(self) -> RunTables:
        """The run of the first seed, which represents the group where one run is shown."""
        return self.runs[0]

    @property
    def names(self) -> list[str]:
        """What it is called: its variant, itself, and the variants that its run stands for."""
        return [*filter(None, (self.variant, self.name)), *equals(self.first.warnings)]


def equals(warnings: Iterable[Warning]) -> list[str]:
    """The variants that a run with these warnings stands for, beside its own."""
    return [name for one in warnings if one.code == EQUAL for name in one.values.get("others", ())]


@dataclass(frozen=True)
class Results:
    """Groups of runs, in the order of the scenario or the sweep."""

    groups: Sequence[Group]
    keys: Sequence[str] = ()
    """The keys that were swept."""
    answer: Sequence[str] = ()
    """What a search came to, a sentence or more for each variant."""

    @staticmethod
    def of(runs: Mapping[str, RunTables]) -> "Results":
        """The results of one run, or of a comparison."""
        return Results.of_seeds({name: [run] for name, run in runs.items()})

    @staticmethod
    def of_seeds(runs: Mapping[str, Sequence[RunTables]]) -> "Results":
        """The results of the runs of each variant, which differ in their seed."""
        alone = THIS_RUN if len(runs) > 1 else ""
        return Results([Group(name or alone, of, variant=name) for name, of in runs.items()])

    @property
    def by_name(self) -> dict[str, Sequence[RunTables]]:
        """The runs of each group; a single run has an empty name."""
        return {group.name: group.runs for group in self.groups}

    @property
    def first(self) -> RunTables:
        """The first run of all."""
        return self.groups[0].first

    @property
    def seeds(self) -> int:
        """The largest number of seeds in a group."""
        return max(len(group.runs) for group in self.groups)

    @property
    def is_comparison(self) -> bool:
        """Are there several groups, and not just a single run with its idle line?"""
        return len(self.groups) > 1 and bool(self.keys or self.groups[0].variant)

    def only(self, names: Sequence[str]) -> "Results":
        """The groups with these names or variants; raises `UnknownError` for unknown ones."""
        there = [name for group in self.groups for name in group.names]
        for name in names:
            look_up("variant", name, list(dict.fromkeys(there)))
        kept = [g for g in self.groups if not names or not {*names}.isdisjoint(g.names)]
        return Results(kept, self.keys)
