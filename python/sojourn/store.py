"""A directory of results: one set of Parquet files per run, named by what the run depends on.

A set appears when it is complete and never changes, so a store that was cut off anywhere is good as
far as it goes.
"""

import errno
import fcntl
import hashlib
import json
import os
import shutil
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from . import _sojourn
from .api import RestingResult, Result, load
from .report.definitions import meaning
from .writing import check_place, failures_named, write_file

FORMAT = "sojourn-store-1"
MARKER = "store.json"
"""The file by which a store is known."""

_RUNS = "runs"
_NAME_DIGITS = 20  # 80 bits: two of a million runs share a name with a chance of 4e-13

SCALARS = ("flows", "qualities", "connections", "queues", "pages")
"""The tables that every run keeps."""

RUN_LIST = "runs.csv"
"""The file of a store that says which run is which."""

REPORT = "report.html"
"""The page that tells of a store. It goes when runs are asked for again: it may tell of others."""

PLAN = "study.json"
"""The file of a store that says which study was run into it, if one was."""

Files = Mapping[str, bytes]
Rows = Sequence[Mapping[str, Any]]


class AbsentError(LookupError):
    """A row that a run has not got, as nothing was sent in it, or it was too short."""


class StoreError(ValueError):
    """A store that cannot be used."""


@dataclass(frozen=True)
class Task:
    """A run to be made: a scenario in full, seed included, and the tables to keep."""

    scenario: str
    duration_s: float
    tables: tuple[str, ...] = SCALARS

    @cached_property
    def run(self) -> str:
        """Name of the run: a hash of scenario, seed and version."""
        content = f"{_sojourn.version}\n{self.scenario}".encode()
        return hashlib.sha256(content).hexdigest()[:_NAME_DIGITS]

    @property
    def files(self) -> list[str]:
        """The files of its set."""
        return [*(f"{table}.parquet" for table in self.tables), "meta.json", "scenario.toml"]


def task(scenario: Mapping[str, Any], *, seed: int, tables: Iterable[str] = ()) -> Task:
    """The task of running `scenario` with `seed`; `tables` are kept beside the `SCALARS`."""
    (variant,) = load(scenario, seed=seed)
    return task_of(variant, tables)


def task_of(variant: _sojourn.Variant, tables: Iterable[str] = ()) -> Task:
    """The task of running what `load` gave."""
    return Task(variant.to_toml(), variant.duration_s, (*SCALARS, *tables))


def execute(task: Task, job: _sojourn.Job | None = None) -> Files:
    """Runs a task; the same bytes each time, on any machine."""
    (variant,) = load(task.scenario)
    result = Result(variant, _sojourn.run(variant, job or _sojourn.Job()))
    files = {f"{name}.parquet": _parquet(name, task.run, result) for name in task.tables}
    files["meta.json"] = (json.dumps(result.meta, indent=2, ensure_ascii=False) + "\n").encode()
    files["scenario.toml"] = task.scenario.encode()
    return files


class StoredRun(RestingResult):
    """The result of a run in a directory, whose tables are read when they are asked for."""

    def __init__(self, directory: Path, name: str = "") -> None:
        """The run in this directory; `name` is that of the variant."""
        super().__init__(name)
        self.directory = directory
        self._rows: dict[str, Rows] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return StoredRun, (self.directory, self._name)

    def keeps(self, table: str) -> bool:
        """Is there such a table?"""
        return self._place(table).exists()

    def table(self, name: str) -> pa.Table:
        """A table by its name; raises `StoreError` if the run kept none, or it is damaged."""
        if not self.keeps(name):
            raise StoreError(f"{self.directory}: the run kept no table {name!r}")
        try:
            # Twice as fast as pq.read_table, which is made for many files.
            with pq.ParquetFile(self._place(name)) as file:
                return file.read()
        except (pa.ArrowException, OSError) as error:
            raise StoreError(
                f"{self._place(name)}: damaged ({error}); --resume makes the run again"
            ) from None

    @cached_property
    def meta(self) -> dict[str, Any]:
        """Version, seed, duration in s, counts, fingerprint and warnings."""
        meta: dict[str, Any] = json.loads((self.directory / "meta.json").read_text("utf-8"))
        return meta

    @cached_property
    def scenario(self) -> str:
        """The scenario in full, as TOML."""
        return (self.directory / "scenario.toml").read_text(encoding="utf-8")

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The scenario in full; keys without a value are missing."""
        return tomllib.loads(self.scenario)

    def rows(self, table: str) -> Rows:
        """The rows of a table; studies ask for them by the thousand, so they are made once."""
        if table not in self._rows:
            self._rows[table] = getattr(self, table).to_pylist()
        return self._rows[table]

    def flow(self, traffic: str, direction: str) -> Mapping[str, Any]:
        """The row of `flows` of an entry and direction; raises `AbsentError` if it has none."""
        return _row(self.rows("flows"), traffic=traffic, direction=direction)

    def queue(self, name: str) -> Mapping[str, Any]:
        """The row of `queues` of a queue."""
        return _row(self.rows("queues"), queue=name)

    def _place(self, table: str) -> Path:
        return self.directory / f"{table}.parquet"


class Store:
    """A directory of runs of one version."""

    def __init__(self, directory: Path) -> None:
        """Opens a store, or makes one; raises `StoreError` for that of another version."""
        self.directory = directory
        self.added: list[Task] = []
        """The tasks whose runs came in since."""
        self.replaced = 0
        """How many of these runs had been there before."""
        marker = directory / MARKER
        if marker.exists():
            _check(directory, marker)
        elif directory.is_dir() and any(directory.iterdir()):
            raise FileExistsError(f"{directory} holds other files and no store of runs")
        else:
            check_place(directory)
            with failures_named(directory):
                directory.mkdir(parents=True, exist_ok=True)
            content = {"format": FORMAT, "version": _sojourn.version}
            self.write(MARKER, (json.dumps(content, indent=2) + "\n").encode())

    def __contains__(self, task: Task) -> bool:
        return all((self._place(task) / name).exists() for name in task.files)

    def __getitem__(self, task: Task) -> StoredRun:
        return StoredRun(self._place(task))

    def is_sound(self, task: Task) -> bool:
        """Is the run of a task there, whole and readable?"""
        if task not in self:
            return False
        run = self[task]
        try:
            for name in task.tables:
                run.table(name)
            return run.scenario == task.scenario and "fingerprint" in run.meta
        except ValueError:  # StoreError, and what is no JSON or no text
            return False

    def named(self, run: str, variant: str = "") -> StoredRun:
        """The run of this name, as that of a variant."""
        return StoredRun(self.directory / _RUNS / run, variant)

    def keeps(self, run: str) -> bool:
        """Is there a run of this name?"""
        return (self.directory / _RUNS / run / "meta.json").exists()

    def check(self, there: Sequence[bool]) -> None:
        """Raises `StoreError` unless every run is there."""
        if missing := there.count(False):
            raise StoreError(
                f"{self.directory}: {missing} of {len(there)} runs are missing; use --resume"
            )

    def put(self, task: Task, files: Files) -> None:
        """Keeps the files of a run."""
        place = self._place(task)
        draft = place.with_name(f".{place.name}.{os.getpid()}")
        with failures_named(self.directory):
            try:
                draft.mkdir(parents=True)
                for name, content in files.items():
                    (draft / name).write_bytes(content)
                if place.exists():
                    shutil.rmtree(place)
                    self.replaced += 1
                draft.rename(place)
                self.added.append(task)
            finally:
                shutil.rmtree(draft, ignore_errors=True)

    def write(self, name: str, content: bytes) -> Path:
        """Writes a file beside the runs, which appears when it is complete."""
        path = self.directory / name
        write_file(path, content)
        return path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keeps others from writing here; raises `StoreError` if one does."""
        with failures_named(self.directory):
            marker = open(self.directory / MARKER, "rb+")  # noqa: SIM115
        with marker:
            try:
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    f"{self.directory}: another sojourn is writing there; "
                    "wait for it, or give another directory"
                ) from None
            yield

    def sweep_drafts(self) -> None:
        """Removes what runs that were killed left unfinished."""
        for draft in self._drafts():
            shutil.rmtree(draft, ignore_errors=True)

    def _drafts(self) -> Iterator[Path]:
        return (path for path in (self.directory / _RUNS).glob(".*") if path.is_dir())

    def _place(self, task: Task) -> Path:
        return self.directory / _RUNS / task.run


def open_store(directory: Path) -> Store:
    """A store that is there already."""
    if not (directory / MARKER).exists():
        raise FileNotFoundError(errno.ENOENT, "no store of runs is there", str(directory))
    return Store(directory)


def _row(rows: Rows, **keys: str) -> Mapping[str, Any]:
    for row in rows:
        if all(row[key] == word for key, word in keys.items()):
            return row
    raise AbsentError(keys)


def _check(directory: Path, marker: Path) -> None:
    try:
        content = json.loads(marker.read_text())
        form, version = content["format"], content["version"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{marker}: not the marker of a store; give another directory") from None
    if form != FORMAT or version != _sojourn.version:
        raise StoreError(
            f"{directory}: made by sojourn {version} ({form}); "
            f"this is {_sojourn.version} ({FORMAT}); give another directory"
        )


def _parquet(name: str, run: str, result: Result) -> bytes:
    """A table as Parquet, each column with its meaning and unit."""
    table: pa.Table = getattr(result, name)
    table = table.add_column(0, "run", pa.repeat(pa.scalar(run), len(table)).dictionary_encode())
    fields = [field.with_metadata(_described(field)) for field in table.schema]
    table = table.cast(pa.schema(fields, metadata=table.schema.metadata))
    buffer = BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    return buffer.getvalue()


def _described(field: pa.Field) -> dict[bytes, bytes]:
    described = dict(field.metadata or {})
    if definition := meaning(field.name):
        described[b"description"] = definition.text.encode()
        described.setdefault(b"unit", definition.unit.encode())
    return described
