"""Exports tables as CSV."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv

from ..base.files import draft_of
from ..runs.tables import ALL_TABLES
from .runs import ExportError, Runs, choose, is_single


def write_tables(runs: Runs, variant: str | None, out: Path) -> None:
    """Writes the tables of a run to a directory, or of several runs to subdirectories."""
    if out.exists():
        raise ExportError(f"{out} already exists; give the path of a new directory")
    alone = variant is not None or is_single(runs)
    names = [choose(runs, variant)[0]] if alone else list(runs)
    with draft_of(out) as draft:
        for name in names:
            run = runs[name]
            target = draft if alone else draft / run.directory.name
            target.mkdir(exist_ok=True)
            for table in filter(run.keeps, ALL_TABLES):
                with open(target / f"{table}.csv", "wb") as file:
                    csv.write_csv(_plain(run.table(table)), file)


def _plain(table: pa.Table) -> pa.Table:
    """The table with dictionary columns as plain strings."""
    columns = [
        column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
        for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))
