"""A run read from a directory."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa

from .._sojourn import ScenarioError, empty_tables, stored_scenario
from .._sojourn import version as this_version
from ..base.json_text import json_of
from ..base.plain_text import is_plain
from ..runs.frames import arrow_table
from ..runs.result import SavedResult
from ..runs.tables import known_table, recorded
from .checksums import SUMS, Checksums, DamagedError, StoreError
from .row_limits import most_rows
from .table_file import TableError, table_of

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

    def __init__(
        self, directory: Path, name: str = "", known: Mapping[str, Any] | None = None
    ) -> None:
        """Opens the run in this directory; `name` is its variant.

        `known` are attributes that are not read, since this process wrote them.
        """
        super().__init__(name)
        self.__dict__.update(known or {})
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

    def path_of(self, table: str) -> Path:
        """The file of a table."""
        return self.directory / _file_of(table)

    def verify(self) -> None:
        """Raises `DamagedError` unless all files of the run are as they were written."""
        self._files.verify()
        for path in self.directory.iterdir():
            if path.name not in self._files and path.name != SUMS and path.name[0] != ".":
                raise DamagedError(path, f"it has no checksum in {SUMS}")

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `StoreError` if it is missing or damaged."""
        if not self.keeps(known_table(name)):
            recorded(name, self.settings)
            raise StoreError(f"{self.directory}: the table {name!r} was not stored")
        content = self._files.read(_file_of(name))
        try:
            return table_of(content, _schemas()[name], lambda: most_rows(name, self.settings))
        except (TableError, pa.ArrowException, OSError) as error:
            raise DamagedError(self.path_of(name), str(error)) from None

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
        parts = json.dumps(self.meta.get("parts"))
        try:
            is_whole = stored_scenario(self.scenario, str(path), parts) == self.scenario
        except ScenarioError as error:
            raise DamagedError(path, f"{error.path}: {error.problems[0].message}") from None
        if not is_whole:
            raise DamagedError(path, "not a complete scenario as sojourn writes it")
        settings = tomllib.loads(self.scenario)
        if any(settings[key] != self.meta[key] for key in ("seed", "duration_s")):
            raise DamagedError(self.directory / "meta.json", "of another run than its scenario")
        return settings

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
    return {name: arrow_table(empty).schema for name, empty in empty_tables().items()}


def _is_meta(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and all(isinstance(value.get(key), kind) for key, kind in _META.items())
        and all(map(_is_warning, value["warnings"]))
        and isinstance(value.get("changes", []), list)
        and all(map(_is_change, value.get("changes", [])))
        and isinstance(value.get("planned_s", 1.0), float)
        and value["version"] == this_version
        and is_plain(value["fingerprint"])
        and all(0 <= value[key] < 1 << 64 for key in ("seed", "events", "forwarded_packets"))
        and 0.0 < value["duration_s"] < inf
    )


def _is_warning(value: Any) -> bool:
    kinds = {"code": str, "path": str, "message": str, "values": dict, "remedy": dict}
    return isinstance(value, dict) and {key: type(value[key]) for key in value} == kinds


def _is_change(value: Any) -> bool:
    kinds = {"at_ps": int, "call": int, "key": str}
    return (
        isinstance(value, dict)
        and {*value} == {*kinds, "value"}
        and all(type(value[key]) is kind for key, kind in kinds.items())
        and isinstance(value["value"], int | float | str)
        and all(0 <= value[key] < 1 << 64 for key in ("at_ps", "call"))
        and is_plain(value["key"])
        and is_plain(str(value["value"]))
    )


def _file_of(table: str) -> str:
    return f"{table}.parquet"


def _row(rows: Rows, **keys: str) -> Mapping[str, Any]:
    for row in rows:
        if all(row[key] == word for key, word in keys.items()):
            return row
    raise AbsentError(keys)
