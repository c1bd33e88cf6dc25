"""Tables as Parquet files, also untrusted ones, of which a small one can hold a large table."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from io import BytesIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from ..base.memory import allowed_bytes
from ..base.plain_text import is_plain

_FEW_ROWS = 1 << 10
"""So many rows do no harm in any table."""

_MOST_WHOLE = 1 << 53
"""Whole numbers up to here are exact as floats, in which tables are summed and drawn."""

_MOST_TEXT_BYTES = 1 << 16
"""Texts are names of a scenario or of the simulator."""

_PLAIN = {"PLAIN", "RLE", "RLE_DICTIONARY"}
"""How texts are encoded, as themselves or by their number. Others build them from earlier ones."""


class TableError(ValueError):
    """A file that holds no table of a run."""


def parquet_of(table: pa.Table) -> bytes:
    """A table as Parquet. Texts are not packed, so that none is much larger than its file."""
    packing = {field.name: "none" if _is_text(field.type) else "zstd" for field in table.schema}
    buffer = BytesIO()
    pq.write_table(table, buffer, compression=packing)
    return buffer.getvalue()


def table_of(content: bytes, columns: pa.Schema, most_rows: Callable[[], int]) -> pa.Table:
    """The table in a file, with these columns alone.

    Raises `TableError` if it has other columns, more than `most_rows`, or values that no run has;
    also `ArrowException` or `OSError`.
    """
    table = _read(pa.BufferReader(content), columns, most_rows)
    _refuse(_fault(field, table[field.name]) for field in columns)
    return table


def _read(content: pa.BufferReader, columns: pa.Schema, most_rows: Callable[[], int]) -> pa.Table:
    """A table; texts are only written out once their lengths are known."""
    # Twice as fast as pq.read_table. Its threads would let go of Python's memory when they end,
    # which aborts a process that is ending too.
    with pq.ParquetFile(content) as file:
        about, schema = file.metadata, file.schema_arrow
    _refuse(map(partial(_other_type, schema), columns))
    rows = max(about.num_rows, sum(abs(group.num_rows) for group in _groups(about)))
    most = most_rows() if rows > _FEW_ROWS else _FEW_ROWS
    if rows > most:
        raise TableError(f"found {rows} rows; allowed: {most} or fewer")
    size = max(
        sum(abs(group.total_byte_size) for group in _groups(about)),
        rows * sum(field.type.bit_width for field in columns if not _is_text(field.type)) // 8,
    )
    texts = [field.name for field in columns if _is_text(field.type)]
    _refuse([_too_large(size), *(_packing(group, texts) for group in _groups(about))])
    with pq.ParquetFile(content, metadata=about, read_dictionary=texts) as file:
        table = _read_columns(file, columns.names, texts, size)
    strings = (column.name for column in columns if pa.types.is_string(column.type))
    longest = sum(max(map(_longest, table[text].chunks), default=0) for text in strings)
    _refuse([_too_large(size + rows * longest)])
    return table.cast(pa.schema([schema.field(column) for column in columns.names]))


def _read_columns(
    file: pq.ParquetFile, names: Sequence[str], texts: Sequence[str], size: int
) -> pa.Table:
    """The columns. Texts one after the other, since a file may be wrong about their size."""
    parts = [*([text] for text in texts), [name for name in names if name not in texts]]
    groups = []
    for group in range(file.num_row_groups):
        columns: dict[str, pa.ChunkedArray] = {}
        for part in parts:
            read = file.read_row_group(group, part, use_threads=False)
            columns |= zip(part, read.columns, strict=True)
            chunks = [chunk for text in texts if text in part for chunk in read[text].chunks]
            size += sum(chunk.dictionary.nbytes for chunk in chunks)
            is_long = max(map(_longest, chunks), default=0) > _MOST_TEXT_BYTES
            _refuse([_too_large(size), "a text is too long" if is_long else ""])
        groups.append(pa.table({name: columns[name] for name in names}))
    return pa.concat_tables(groups)


def _refuse(faults: Iterable[str]) -> None:
    """Raises `TableError` if there is a fault."""
    if fault := next(filter(None, faults), None):
        raise TableError(fault)


def _groups(about: pq.FileMetaData) -> list[pq.RowGroupMetaData]:
    return [about.row_group(number) for number in range(about.num_row_groups)]


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_dictionary(kind))


def _other_type(found: pa.Schema, column: pa.Field) -> str:
    """What is wrong with the type of a column in a file; empty if nothing is."""
    if found.names.count(column.name) != 1:
        return f"it has no column {column.name!r}"
    kind = found.field(column.name).type
    return "" if kind == column.type else f"the values of {column.name!r} are of type {kind}"


def _packing(group: pq.RowGroupMetaData, texts: Sequence[str]) -> str:
    """What is wrong with how texts are packed; empty if they take as many bytes as in the file."""
    columns = [group.column(number) for number in range(group.num_columns)]
    for column in columns:
        if column.path_in_schema in texts and not (
            column.compression == "UNCOMPRESSED" and _PLAIN.issuperset(column.encodings)
        ):
            return f"the texts of {column.path_in_schema!r} are packed"
    return ""


def _too_large(size: int) -> str:
    """What is wrong with the size of a table in memory; empty if nothing is."""
    most = allowed_bytes()
    return f"found {size} bytes of values; allowed: {most} or fewer" if size > most else ""


def _longest(texts: pa.DictionaryArray) -> int:
    """The length of the longest of encoded texts."""
    return pc.max(pc.binary_length(texts.dictionary)).as_py() or 0


def _fault(field: pa.Field, column: pa.ChunkedArray) -> str:
    """What is wrong with the values of a column; empty if nothing is."""
    if not field.nullable and column.null_count:
        return f"a value of {field.name!r} is missing"
    if _is_text(field.type):
        is_whole = all(map(is_plain, column.unique().drop_null().to_pylist()))
        return "" if is_whole else f"a value of {field.name!r} has an invisible character"
    if pa.types.is_floating(field.type) and pc.any(pc.invert(pc.is_finite(column))).as_py():
        return f"a value of {field.name!r} is not finite"
    ends = pc.min_max(column).as_py()
    if any(abs(end or 0) > _most(len(column)) for end in ends.values()):
        return f"a value of {field.name!r} is too large"
    return ""


def _most(rows: int) -> int:
    """The largest value in a column of so many rows; their sum is in 63 bits too."""
    return min(_MOST_WHOLE, (1 << 62) // max(rows, 1))
