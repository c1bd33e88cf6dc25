"""Exports the tables of all runs as one data set, for data frames and spreadsheets."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq

from ..analysis.groups import Results
from ..analysis.tables import ALL_TABLES, TABLES, RunTables
from ..base.csv_text import csv_bytes, csv_rows
from ..base.files import draft_of
from ..runs.tidy import tidy, wide_means
from .runs import ExportError

SUMMARY = "summary"
"""The table of means, a row for each setting."""

_ROWS_AT_A_TIME = 65_536


@dataclass(frozen=True)
class Written:
    """What was written."""

    runs: int
    settings: int
    rows: Mapping[str, int]
    """The number of rows, by file."""
    runs_of: Mapping[str, int]
    """The number of runs that a file has rows of, if these are not all."""
    missing: Sequence[str]
    """Tables of every result that none of these runs keeps."""
    connections_left_out: int
    """Connections without rows, as each entry opened more than `metrics.connections`."""


def write_tables(results: Results, form: str, out: Path) -> Written:
    """Writes each table of all runs to a file in a new directory, and one with means.

    Key values, variant and seed are the first columns of each.
    """
    if out.exists():
        raise ExportError(f"{out} already exists; give the path of a new directory")
    runs = [run for group in results.groups for run in group.runs]
    counts = {table: sum(run.keeps(table) for run in runs) for table in ALL_TABLES}
    rows = {}
    with draft_of(out) as draft:
        for name, count in {**counts, SUMMARY: len(runs)}.items():
            if count:
                table = _plain(wide_means(results) if name == SUMMARY else tidy(results, name))
                with open(draft / f"{name}.{form}", "wb") as file:
                    WRITERS[form](table, file)
                rows[f"{name}.{form}"] = len(table)
    return Written(
        len(runs),
        len(results.groups),
        rows,
        {f"{name}.{form}": count for name, count in counts.items() if 0 < count < len(runs)},
        [name for name in TABLES if not counts[name]],
        sum(map(_connections_left_out, runs)),
    )


def _connections_left_out(run: RunTables) -> int:
    most = run.settings["metrics"]["connections"]
    opened = {row["traffic"]: row["connections"] for row in run.flows.to_pylist()}
    return sum(max(0, count - most) for count in opened.values())


def _plain(table: pa.Table) -> pa.Table:
    """The table with plain strings in place of dictionaries."""
    fields = [
        field.with_type(pa.string()) if pa.types.is_dictionary(field.type) else field
        for field in table.schema
    ]
    return table.cast(pa.schema(fields))


def _write_csv(table: pa.Table, file: IO[bytes]) -> None:
    # pyarrow would write 2.0 as 2, and readers take a column for one of whole numbers.
    file.write(csv_bytes(table.column_names, ()))
    for batch in table.to_batches(_ROWS_AT_A_TIME):
        file.write(csv_rows(zip(*(column.to_pylist() for column in batch.columns), strict=True)))


WRITERS: Mapping[str, Callable[[pa.Table, IO[bytes]], None]] = {
    "csv": _write_csv,
    "parquet": lambda table, file: pq.write_table(table, file, compression="zstd"),
    "arrow": feather.write_feather,
}
"""Formats of data sets."""
