"""Tasks: runs to execute, and the files with their results."""

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from .._sojourn import Job, Variant, version
from ..base.errors import Warning
from ..runs.frames import repeated
from ..runs.parts import Part, known
from ..runs.request import load
from ..runs.result import Result
from ..runs.threads import run_native
from .checksums import SUMS, sums_of
from .table_file import parquet_of

_NAME_DIGITS = 20  # 80 bits: the chance of a collision among a million runs is 4e-13

SCALARS = ("flows", "traffic_classes", "connections", "queues", "pages")
"""The tables that are stored for every run."""

_RUN = {"description": "Name of a run in a store: a hash of scenario, seed and version."}

_SUMMED_UP = ("flows", "traffic_classes", "queues", "service_flows")
"""Tables that summaries read."""

Files = Mapping[str, bytes]


class Ran(NamedTuple):
    """What came of a task."""

    files: Files
    known: Mapping[str, Any]
    """Attributes of the run, which need not be read back from the files."""


@dataclass(frozen=True)
class Task:
    """A run to execute: a complete scenario with its seed, and the tables to store."""

    scenario: str
    duration_s: float
    tables: tuple[str, ...] = SCALARS
    memory_bytes: int = 0
    """Memory that the run may need."""
    notes: tuple[Warning, ...] = ()
    """Warnings of the run about how its scenario was made."""
    parts: tuple[Part, ...] = ()
    """The parts of the user's own that the scenario chooses."""

    @cached_property
    def run(self) -> str:
        """The name of the run: a hash of scenario, seed and version."""
        return name_of(self.scenario)

    @property
    def files(self) -> list[str]:
        """The names of the files of the run."""
        tables = (f"{table}.parquet" for table in self.tables)
        return [*tables, "meta.json", "scenario.toml", SUMS]


def name_of(scenario: str) -> str:
    """The name of the run of a complete scenario."""
    content = f"{version}\n{scenario}".encode()
    return hashlib.sha256(content).hexdigest()[:_NAME_DIGITS]


def task(scenario: Mapping[str, Any], *, seed: int, tables: Iterable[str] = ()) -> Task:
    """The task to run `scenario` with `seed`, storing `tables` in addition to `SCALARS`."""
    (variant,) = load(scenario, seed=seed)
    return task_of(variant, tables)


def task_of(variant: Variant, tables: Iterable[str] = (), notes: Iterable[Warning] = ()) -> Task:
    """The task to run a variant returned by `load`, with notes to keep among its warnings."""
    scenario = variant.to_toml()
    chosen = tuple(part for part in known() if part.digest in scenario)
    return Task(
        scenario,
        variant.duration_s,
        (*SCALARS, *tables),
        variant.memory_bytes,
        tuple(notes),
        chosen,
    )


def execute(task: Task, job: Job | None = None) -> Ran:
    """Runs a task. The files are identical on every machine."""
    # Its memory was checked when the task was made, on this machine or another.
    (variant,) = load(task.scenario, max_memory_gb=math.inf, parts=task.parts)
    result = Result(variant, run_native(variant, job or Job()))
    files = {f"{name}.parquet": _parquet(name, task.run, result) for name in task.tables}
    notes = [note.data for note in task.notes]
    meta = {**result.meta, "warnings": [*notes, *result.meta["warnings"]]}
    files["meta.json"] = (json.dumps(meta, indent=2, ensure_ascii=False) + "\n").encode()
    files["scenario.toml"] = task.scenario.encode()
    tables = {name: getattr(result, name) for name in _SUMMED_UP if name in task.tables}
    settings = json.loads(variant.to_json(), object_hook=_with_values)
    known = {"meta": meta, "settings": settings, "facts": result.facts, **tables}
    return Ran({**files, SUMS: sums_of(files)}, known)


def _with_values(table: dict[str, Any]) -> dict[str, Any]:
    """The keys that have a value, as TOML has them alone."""
    return {key: value for key, value in table.items() if value is not None}


def _parquet(name: str, run: str, result: Result) -> bytes:
    """A table as Parquet, with the name of its run."""
    table: pa.Table = getattr(result, name)
    runs = repeated(run, len(table))
    column = pa.field("run", runs.type, metadata=_RUN)
    return parquet_of(table.add_column(0, column, runs))
