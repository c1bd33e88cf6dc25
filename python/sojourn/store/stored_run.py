"""A run read from a directory."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from math import isfinite
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .._sojourn import ScenarioError, empty_tables, stored_scenario
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
        self._files = Checksums(directory)

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRun, (self.directory, self._name), {"idle_line": self.idle_line}

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
        content = self._files.read(_file_of(name))
        try:
            # Twice as fast as pq.read_table. Its threads would let go of Python's memory when they
            # end, which aborts a process that is ending too.
            with pq.ParquetFile(pa.BufferReader(content)) as file:
                table = file.read(use_threads=False)
        except (pa.ArrowException, OSError) as error:
            raise DamagedError(self.directory / _file_of(name), str(error)) from None
        self._check(name, table)
        return table

    def _check(self, name: str, table: pa.Table) -> None:
        """Raises `DamagedError` unless it has the columns of that table, with such values."""
        for field in _schemas()[name]:
            if fault := _fault(field, table):
                raise DamagedError(self.directory / _file_of(name), fault)

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""
        content = self._files.read("meta.json")
        try:
            meta: dict[str, Any] = json.loads(content)
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


def _fault(field: pa.Field, table: pa.Table) -> str:
    """What is wrong with a column of a table; empty if nothing is."""
    if table.column_names.count(field.name) != 1:
        return f"it has no column {field.name!r}"
    column = table[field.name]
    if column.type != field.type:
        return f"the values of {field.name!r} are of type {column.type}"
    if not field.nullable and column.null_count:
        return f"a value of {field.name!r} is missing"
    if pa.types.is_floating(field.type) and pc.any(pc.invert(pc.is_finite(column))).as_py():
        return f"a value of {field.name!r} is not finite"
    return ""


def _is_meta(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), kind) for key, kind in _META.items())
        and all(isinstance(warning, str) for warning in value["warnings"])
        and isfinite(value["duration_s"])
    )


def _file_of(table: str) -> str:
    return f"{table}.parquet"


def _row(rows: Rows, **keys: str) -> Mapping[str, Any]:
    for row in rows:
        if all(row[key] == word for key, word in keys.items()):
            return row
    raise AbsentError(keys)
