"""The runs of an output directory."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyarrow as pa

from ..output import MARKER
from ..store import StoredRun


class ExportError(ValueError):
    """Something that cannot be exported."""


class StoredRuns(Mapping[str, StoredRun]):
    """The runs that `sojourn run --out` wrote to a directory, by variant."""

    def __init__(self, directory: Path) -> None:
        """Reads which there are."""
        self.directory = directory
        try:
            summary = json.loads((directory / MARKER).read_text(encoding="utf-8"))
            variants = {run["name"]: run["directory"] for run in summary["variants"]}
        except FileNotFoundError:
            reason = "no results are there, as `sojourn run --out` writes them"
            raise ExportError(f"{directory}: {reason}") from None
        except (ValueError, KeyError, TypeError, OSError):
            raise ExportError(f"{directory}: {MARKER} is not that of a run's results") from None
        self.directories: dict[str, str] = variants

    def __getitem__(self, variant: str) -> StoredRun:
        return StoredRun(self.directory / self.directories[variant])

    def __iter__(self) -> Iterator[str]:
        return iter(self.directories)

    def __len__(self) -> int:
        return len(self.directories)


def choose(runs: StoredRuns, variant: str | None) -> tuple[str, StoredRun]:
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
    try:
        table: pa.Table = run.packets
    except AttributeError:
        raise ExportError(
            "the run kept no packets: run its scenario again with --set metrics.packet_trace=true"
        ) from None
    if "passed_s" not in table.column_names:
        raise ExportError("the packets of the run are those of an older version: run it again")
    return table
