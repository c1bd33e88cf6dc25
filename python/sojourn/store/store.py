"""A directory of results: one set of Parquet files per run, named by what the run depends on.

A set appears when it is complete and never changes, so a store that was cut off anywhere is good as
far as it goes.
"""

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from .._sojourn import version as this_version
from ..base.files import check_place, failures_named, write_file
from .stored_run import StoredRun, StoreError
from .task import Files, Task

FORMAT = "sojourn-store-2"

MARKER = "store.json"
"""The file by which a store is known."""

_RUNS = "runs"

RUN_LIST = "runs.csv"
"""The file of a store that says which run is which."""

REPORT = "report.html"
"""The report of a store. A new batch removes it, as it may describe other runs."""

PLAN = "study.json"
"""The file of a store that says which study was run into it, if one was."""


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
            content = {"format": FORMAT, "version": this_version}
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


def _check(directory: Path, marker: Path) -> None:
    try:
        content = json.loads(marker.read_text())
        form, version = content["format"], content["version"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(f"{marker}: not the marker of a store; give another directory") from None
    if form != FORMAT or version != this_version:
        raise StoreError(
            f"{directory}: made by sojourn {version} ({form}); "
            f"this is {this_version} ({FORMAT}); give another directory"
        )
