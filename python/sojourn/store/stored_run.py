"""A run read from a directory."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..runs.result import SavedResult

Rows = Sequence[Mapping[str, Any]]


class AbsentError(LookupError):
    """A missing row: the traffic sent nothing, or the run was too short."""


class StoreError(ValueError):
    """A store or a stored run that cannot be used."""


class StoredRun(SavedResult):
    """The result of a run in a directory. Tables are read on first use."""

    def __init__(self, directory: Path, name: str = "") -> None:
        """Opens the run in this directory; `name` is its variant."""
        super().__init__(name)
        self.directory = directory
        self._rows: dict[str, Rows] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRun, (self.directory, self._name)

    def keeps(self, table: str) -> bool:
        """Is this table stored?"""
        return self._place(table).exists()

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `StoreError` if it is missing or damaged."""
        if not self.keeps(name):
            raise StoreError(f"{self.directory}: the table {name!r} was not stored")
        try:
            # Twice as fast as pq.read_table.
            with pq.ParquetFile(self._place(name)) as file:
                return file.read()
        except (pa.ArrowException, OSError) as error:
            raise StoreError(
                f"{self._place(name)}: damaged ({error}); "
                "repeat the command with --resume to rerun it"
            ) from None

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""
        meta: dict[str, Any] = json.loads((self.directory / "meta.json").read_text("utf-8"))
        return meta

    @cached_property
    def scenario(self) -> str:
        """The complete scenario, as TOML."""
        return (self.directory / "scenario.toml").read_text(encoding="utf-8")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The complete scenario, as a dict; keys without a value are missing."""
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

    def _place(self, table: str) -> Path:
        return self.directory / f"{table}.parquet"


def _row(rows: Rows, **keys: str) -> Mapping[str, Any]:
    for row in rows:
        if all(row[key] == word for key, word in keys.items()):
            return row
    raise AbsentError(keys)
