"""Selects runs in a directory of results."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from ..analysis.groups import THIS_RUN, Group, Results
from ..analysis.tables import RunTables
from ..base.errors import InputError
from ..base.lookup import listed
from ..store.stored_run import StoredRun


class ExportError(InputError):
    """A run cannot be exported."""


def narrowed(results: Results, variant: str | None, seed: int | None) -> Results:
    """The runs of a variant or setting, and of a seed; all of them where these are `None`."""
    kept = _groups(results, variant)
    groups = [replace(group, runs=_runs(group, seed)) for group in kept]
    groups = [group for group in groups if group.runs]
    if not groups:
        raise _wrong_seed(seed, kept)
    return replace(results, groups=groups)


def choose(results: Results, variant: str | None, seed: int | None) -> tuple[str, StoredRun]:
    """One run, with the name of its setting.

    A run that has just an idle line beside it is chosen without being named.
    """
    group = _group(results, variant)
    runs = _runs(group, seed)
    if len(runs) != 1:
        raise _wrong_seed(seed, [group])
    return group.name, cast(StoredRun, runs[0])  # results come from a directory


def _runs(group: Group, seed: int | None) -> Sequence[RunTables]:
    return [run for run in group.runs if seed in (None, run.meta["seed"])]


def _groups(results: Results, variant: str | None) -> list[Group]:
    """The setting of that name, or the settings of that variant."""
    groups = results.groups
    named = [group for group in groups if variant in (None, group.name)]
    found = named or [group for group in groups if group.variant == variant]
    if not found:
        raise ExportError(f"variant: found {variant!r}; allowed: {_names(groups)}")
    return found


def _group(results: Results, variant: str | None) -> Group:
    if variant is None and not results.is_comparison:
        return results.groups[0]
    found = _groups(results, variant)
    if len(found) == 1:
        return found[0]
    what = "missing" if variant is None else f"found {variant!r}, which is {len(found)} settings"
    raise ExportError(f"variant: {what}; allowed: {_names(found)}")


def _names(groups: Sequence[Group]) -> str:
    names = listed([group.name for group in groups if group.name])
    return names or f"no variant, as there is {THIS_RUN} alone"


def _wrong_seed(seed: int | None, groups: Sequence[Group]) -> ExportError:
    seeds = dict.fromkeys(run.meta["seed"] for group in groups for run in group.runs)
    found = "missing" if seed is None else f"found {seed}"
    return ExportError(f"seed: {found}; allowed: {listed(list(map(str, seeds)))}")
