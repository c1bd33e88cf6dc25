"""Tables of results as one data frame, for polars and pandas."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from .._sojourn import ArrowTable
from ..base.optional import required

if TYPE_CHECKING:
    import pandas
    import polars


class Frames(ABC):
    """Results whose tables are data frames: a row per observation, with what it is of in front."""

    @abstractmethod
    def tidy(self, table: str = "flows") -> pa.Table:
        """A table of all runs together, as Arrow table.

        Its first columns say which run a row is of: swept keys, `variant` and `seed`. `table` is
        the name of a table of `Result`. Raises `ValueError` if there is none of that name.
        """

    def to_polars(self, table: str = "flows") -> "polars.DataFrame":
        """The table of `tidy` as a polars data frame. Needs polars."""
        from_arrow = required("polars", "to_polars", "polars").from_arrow
        frame: polars.DataFrame = from_arrow(self.tidy(table))
        return frame

    def to_pandas(self, table: str = "flows") -> "pandas.DataFrame":
        """The table of `tidy` as a pandas data frame. Needs pandas."""
        required("pandas", "to_pandas", "pandas")
        frame: pandas.DataFrame = self.tidy(table).to_pandas()
        return frame


def arrow_table(native: ArrowTable) -> pa.Table:
    """The table, with sorted metadata. Arrow returns them in any order; files must not differ."""
    # `pa.table` and `pa.scalar` would import pandas, where there is one.
    reader = pa.RecordBatchReader.from_stream(native)
    fields = [field.with_metadata(dict(sorted(field.metadata.items()))) for field in reader.schema]
    return pa.Table.from_batches(list(reader), pa.schema(fields))


def repeated(text: str, rows: int) -> pa.DictionaryArray:
    """A column with this text in all rows."""
    content = text.encode()
    ends = array("i", [0, len(content)])
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(content)]
    return pa.repeat(pa.Array.from_buffers(pa.string(), 1, buffers)[0], rows).dictionary_encode()


def labelled(table: pa.Table, labels: Mapping[str, Any]) -> pa.Table:
    """The table with a column in front for each label, the same in all rows.

    Where the table has a column of that name, as `traffic` if it was swept, it is `swept_traffic`.
    """
    for place, (name, value) in enumerate(labels.items()):
        rows = len(table)
        column = repeated(value, rows) if isinstance(value, str) else pa.repeat(value, rows)
        is_taken = name in table.column_names
        table = table.add_column(place, f"swept_{name}" if is_taken else name, column)
    return table


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """The rows of all tables, which have the same columns."""
    return pa.concat_tables(tables, promote_options="permissive")
