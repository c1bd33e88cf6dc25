"""The runs of a directory of results."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from ..store.read import read_results
from ..store.stored_run import StoredRun

Runs = Mapping[str, StoredRun]
"""Runs by the name that tells each from the others."""


class ExportError(ValueError):
    """Something that cannot be exported."""


def read_runs(directory: Path) -> dict[str, StoredRun]:
    """The runs that were written to a directory; of several seeds the first.

    Raises `OSError` or `StoreError` if there are none.
    """
    firsts = ((group.name, group.first) for group in read_results(directory).groups)
    return {name: run for name, run in firsts if isinstance(run, StoredRun)}


def choose(runs: Runs, variant: str | None) -> tuple[str, StoredRun]:
    """The run of this name, or the only one; with its name."""
    if variant is None and len(runs) == 1:
        return next(iter(runs.items()))
    if variant is not None and variant in runs:
        return variant, runs[variant]
    found = "none" if variant is None else repr(variant)
    names = ", ".join(name for name in runs if name) or "none: there is one run, without a name"
    raise ExportError(f"variant: found {found}; allowed: {names}")


def packets_of(run: StoredRun) -> pa.Table:
    """The packet trace of a run."""
    if not run.keeps("packets"):
        raise ExportError(
            "the run kept no packets: run its scenario again with --set metrics.packet_trace=true"
        )
    table: pa.Table = run.packets
    if "forwarded_s" not in table.column_names:
        raise ExportError("the packets of the run are those of an older version: run it again")
    return table
