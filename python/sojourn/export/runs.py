"""Selects runs in a directory of results."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from ..analysis.groups import THIS_RUN
from ..base.lookup import listed
from ..store.read import read_results
from ..store.stored_run import StoredRun

Runs = Mapping[str, StoredRun]
"""Runs by name."""


class ExportError(ValueError):
    """A run cannot be exported."""


def read_runs(directory: Path) -> dict[str, StoredRun]:
    """The runs in a directory of results; with several seeds, those of the first.

    Raises `OSError` or `StoreError` if there are none.
    """
    firsts = ((group.name, group.first) for group in read_results(directory).groups)
    return {name: run for name, run in firsts if isinstance(run, StoredRun)}


def is_single(runs: Runs) -> bool:
    """Is there one run, alone or beside its idle line?"""
    return len(runs) == 1 or next(iter(runs)) == THIS_RUN


def choose(runs: Runs, variant: str | None) -> tuple[str, StoredRun]:
    """The name and the run with this name, or the only run, whether or not it has an idle line."""
    if variant is None and is_single(runs):
        return next(iter(runs.items()))
    if variant is not None and variant in runs:
        return variant, runs[variant]
    found = "missing" if variant is None else f"found {variant!r}"
    names = listed([name for name in runs if name]) or "none, as there is a single run"
    raise ExportError(f"variant: {found}; allowed: {names}")


def packets_of(run: StoredRun) -> pa.Table:
    """The packet trace of a run."""
    if not run.keeps("packets"):
        raise ExportError(
            "the run has no packet trace; rerun the scenario with --set metrics.packet_trace=true"
        )
    table: pa.Table = run.packets
    if "forwarded_s" not in table.column_names:
        raise ExportError("an older version wrote the packet trace; rerun the scenario")
    return table
