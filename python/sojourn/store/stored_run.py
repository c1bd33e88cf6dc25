"""A run read from a directory."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._sojourn import ScenarioError, empty_tables, stored_scenario
from ..base.json_text import json_of
from ..base.memory import allowed_bytes
from ..base.plain_text import is_plain
from ..runs.result import SavedResult
from ..runs.tables import TRACES, known_table
from .checksums import SUMS, Checksums, DamagedError, StoreError

_META = {
    "version": str,
    "seed": int,
    "duration_s": float,
    "events": int,
    "forwarded_packets": int,
    "fingerprint": str,
    "warnings": list,
}

_GROWING = {"connections", "pages", "series", *chain(*TRACES.values())}
"""Tables that grow with the run. All others have rows for each traffic entry, queue and so on."""

_MOST_ROWS = 1 << 24
"""Of a table that grows: as many as the longest trace."""

_FEW_ROWS = 1 << 10
"""So many rows do no harm in any table."""

_ROWS_OF_A_VALUE = {"latencies": 1 << 14, "latency_histogram": 1 << 14}
"""Rows for each value of the scenario, which has several of them for each entry; others have 10."""

_MOST_WHOLE = 1 << 53
"""Whole numbers up to here are exact as floats, in which tables are summed and drawn."""

_MOST_TEXT_BYTES = 1 << 16
"""Texts are names of a scenario or of the simulator."""

Rows = Sequence[Mapping[str, Any]]


class AbsentError(LookupError):
    """A missing row: the traffic sent nothing, or the run was too short."""


class StoredRun(SavedResult):
    """The result of a run in a directory.

    Tables are read on first use. Reading a damaged file raises `DamagedError`.
    """

    def __init__(self, directory: Path, name: str = "") -> None:
        """Opens the run in this directory; `name` is its variant."""
        super().__init__(name)
        self.directory = directory
        self._rows: dict[str, Rows] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRun, (self.directory, self._name), {"idle_line": self.idle_line}

    @cached_property
    def _files(self) -> Checksums:
        if self.directory.is_symlink():  # it may lead out of the results
            raise DamagedError(self.directory, "found a link; allowed: a directory")
        return Checksums(self.directory)

    def keeps(self, table: str) -> bool:
        """Is this table stored?"""
        return _file_of(table) in self._files

    def verify(self) -> None:
        """Raises `DamagedError` unless all files of the run are as they were written."""
        self._files.verify()
        for path in self.directory.iterdir():
            if path.name not in self._files and path.name != SUMS and path.name[0] != ".":
                raise DamagedError(path, f"it has no checksum in {SUMS}")

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `StoreError` if it is missing or damaged.

        A trace that the scenario does not record is empty, as it is after the run.
        """
        if not self.keeps(known_table(name)):
            metrics = self.settings["metrics"]
            if any(name in names and not metrics[key] for key, names in TRACES.items()):
                return _schemas()[name].empty_table()
            raise StoreError(f"{self.directory}: the table {name!r} was not stored")
        content = pa.BufferReader(self._files.read(_file_of(name)))
        try:
            table = self._read(name, content)
        except (pa.ArrowException, OSError) as error:
            raise DamagedError(self.directory / _file_of(name), str(error)) from None
        self._refuse(name, (_fault(field, table[field.name]) for field in _schemas()[name]))
        return table

    def _read(self, name: str, content: pa.BufferReader) -> pa.Table:
        """A table; raises `DamagedError` if its columns are others, or if it is too large.

        A small file can hold a large table, so texts are only written out once their lengths are
        known.
        """
        columns = _schemas()[name]
        # Twice as fast as pq.read_table. Its threads would let go of Python's memory when they end,
        # which aborts a process that is ending too.
        with pq.ParquetFile(content) as file:
            about, schema = file.metadata, file.schema_arrow
        self._refuse(name, map(partial(_other_type, schema), columns))
        rows = max(about.num_rows, sum(abs(group.num_rows) for group in _groups(about)))
        most_rows = self._most_rows(name) if rows > _FEW_ROWS else _FEW_ROWS
        if rows > most_rows:
            self._refuse(name, [f"found {rows} rows; allowed: {most_rows} or fewer"])
        size = max(
            sum(abs(group.total_byte_size) for group in _groups(about)),
            rows * sum(field.type.bit_width for field in columns if not _is_text(field.type)) // 8,
        )
        self._refuse(name, [_too_large(size)])
        texts = [field.name for field in columns if _is_text(field.type)]
        with pq.ParquetFile(content, metadata=about, read_dictionary=texts) as file:
            table = self._read_columns(name, file, columns.names, texts, size)
        strings = (column.name for column in columns if pa.types.is_string(column.type))
        longest = sum(max(map(_longest, table[text].chunks), default=0) for text in strings)
        self._refuse(name, [_too_large(size + rows * longest)])
        return table.cast(pa.schema([schema.field(column) for column in columns.names]))

    def _read_columns(
        self, name: str, file: pq.ParquetFile, names: Sequence[str], texts: Sequence[str], size: int
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
                self._refuse(name, [_too_large(size), "a text is too long" if is_long else ""])
            groups.append(pa.table({name: columns[name] for name in names}))
        return pa.concat_tables(groups)

    def _most_rows(self, name: str) -> int:
        """How many rows a table of this scenario can have."""
        if name in _GROWING:
            return _MOST_ROWS
        return _ROWS_OF_A_VALUE.get(name, 10) * _values(self.settings)

    def _refuse(self, name: str, faults: Iterable[str]) -> None:
        """Raises `DamagedError` if there is a fault."""
        if fault := next(filter(None, faults), None):
            raise DamagedError(self.directory / _file_of(name), fault)

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""
        content = self._files.read("meta.json")
        try:
            meta: dict[str, Any] = json_of(content)
        except ValueError:
            meta = {}
        if not _is_meta(meta):
            raise DamagedError(self.directory / "meta.json", "not what sojourn writes of a run")
        return meta

    @cached_property
    def scenario(self) -> str:
        """The complete scenario, as TOML."""
        try:
            return self._files.read("scenario.toml").decode()
        except UnicodeDecodeError:
            raise DamagedError(self.directory / "scenario.toml", "not UTF-8 text") from None

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The complete scenario, as a dict; keys without a value are missing."""
        path = self.directory / "scenario.toml"
        try:
            is_whole = stored_scenario(self.scenario, str(path)) == self.scenario
        except ScenarioError as error:
            raise DamagedError(path, f"{error.path}: {error.problems[0].message}") from None
        if not is_whole:
            raise DamagedError(path, "not a complete scenario as sojourn writes it")
        return tomllib.loads(self.scenario)

    def rows(self, table: str) -> Rows:
        """The rows of a table. They are cached because studies read them thousands of times."""
        if table not in self._rows:
            self._rows[table] = getattr(self, table).to_pylist()
        return self._rows[table]

    def flow(self, traffic: str, direction: str) -> Mapping[str, Any]:
        """The row of `flows` for an entry and direction; raises `AbsentError` without one."""
        return _row(self.rows("flows"), traffic=traffic, direction=direction)

    def queue(self, name: str) -> Mapping[str, Any]:
        """The row of `queues` for a queue."""
        return _row(self.rows("queues"), queue=name)


@cache
def _schemas() -> dict[str, pa.Schema]:
    """The columns of each table."""
    return {name: pa.table(empty).schema for name, empty in empty_tables().items()}


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


def _too_large(size: int) -> str:
    """What is wrong with the size of a table in memory; empty if nothing is."""
    most = allowed_bytes()
    return f"found {size} bytes of values; allowed: {most} or fewer" if size > most else ""


def _values(settings: Any) -> int:
    """How many values a scenario or a part of it has."""
    if isinstance(settings, dict):
        return sum(map(_values, settings.values()))
    return sum(map(_values, settings)) if isinstance(settings, list) else 1


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


def _is_meta(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), kind) for key, kind in _META.items())
        and all(isinstance(warning, str) for warning in value["warnings"])
        and is_plain(value["version"] + value["fingerprint"])
        and all(0 <= value[key] < 1 << 64 for key in ("seed", "events", "forwarded_packets"))
        and 0.0 < value["duration_s"] < inf
    )


def _file_of(table: str) -> str:
    return f"{table}.parquet"


def _row(rows: Rows, **keys: str) -> Mapping[str, Any]:
    for row in rows:
        if all(row[key] == word for key, word in keys.items()):
            return row
    raise AbsentError(keys)
