"""A store: a directory of many runs, each a directory of Parquet files named by a hash.

The hash is over everything the run depends on. A run appears only when it is complete and never
changes, so an interrupted store is valid.
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
"""The file that marks a store."""

_RUNS = "runs"

RUN_LIST = "runs.csv"
"""The file that maps settings, variants and seeds to runs."""

REPORT = "report.html"
"""The report of a store. A new batch removes it because it describes the old runs."""

PLAN = "study.json"
"""The file that names the study whose runs the store holds, if any."""


class Store:
    """A directory of runs made by one version of sojourn."""

    def __init__(self, directory: Path) -> None:
        """Opens or creates a store; raises `StoreError` if another version wrote it."""
        self.directory = directory
        self.added: list[Task] = []
        """The tasks whose runs were added since then."""
        self.replaced = 0
        """How many of these runs replaced existing ones."""
        marker = directory / MARKER
        if marker.exists():
            _check(directory, marker)
        elif directory.is_dir() and any(directory.iterdir()):
            raise FileExistsError(
                f"{directory} holds other files and no sweep or study; give another directory"
            )
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
        """Is the run of a task stored, complete and readable?"""
        if task not in self:
            return False
        run = self[task]
        try:
            for name in task.tables:
                run.table(name)
            return run.scenario == task.scenario and "fingerprint" in run.meta
        except ValueError:  # StoreError, invalid JSON or invalid UTF-8
            return False

    def named(self, run: str, variant: str = "") -> StoredRun:
        """The run with this name, labelled with its variant."""
        return StoredRun(self.directory / _RUNS / run, variant)

    def keeps(self, run: str) -> bool:
        """Is a run with this name stored?"""
        return (self.directory / _RUNS / run / "meta.json").exists()

    def check(self, there: Sequence[bool]) -> None:
        """Raises `StoreError` unless every run is present."""
        if missing := there.count(False):
            raise StoreError(
                f"{self.directory}: {missing} of {len(there)} runs are missing; "
                "repeat the command with --resume to run them"
            )

    def put(self, task: Task, files: Files) -> None:
        """Stores the files of a run."""
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
        """Writes a file next to the runs; it appears only when it is complete."""
        path = self.directory / name
        write_file(path, content)
        return path

    @contextmanager
    def held(self) -> Iterator[None]:
        """Locks the store for writing; raises `StoreError` if another process holds the lock."""
        with failures_named(self.directory):
            marker = open(self.directory / MARKER, "rb+")  # noqa: SIM115
        with marker:
            try:
                fcntl.flock(marker, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise StoreError(
                    f"{self.directory}: another sojourn process is writing here; "
                    "wait for it, or give another directory"
                ) from None
            yield

    def sweep_drafts(self) -> None:
        """Removes temporary directories left by killed processes."""
        for draft in self._drafts():
            shutil.rmtree(draft, ignore_errors=True)

    def _drafts(self) -> Iterator[Path]:
        return (path for path in (self.directory / _RUNS).glob(".*") if path.is_dir())

    def _place(self, task: Task) -> Path:
        return self.directory / _RUNS / task.run


def open_store(directory: Path) -> Store:
    """Opens an existing store."""
    if not (directory / MARKER).exists():
        raise FileNotFoundError(errno.ENOENT, "holds no sweep or study", str(directory))
    return Store(directory)


def _check(directory: Path, marker: Path) -> None:
    try:
        content = json.loads(marker.read_text())
        form, version = content["format"], content["version"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"{marker}: not a file that sojourn wrote; give another directory"
        ) from None
    if form != FORMAT or version != this_version:
        raise StoreError(
            f"{directory}: written by sojourn {version} ({form}); "
            f"this is {this_version} ({FORMAT}); give another directory"
        )
