"""A store: a directory of many runs, each a directory of Parquet files named by a hash.

The hash is over everything the run depends on. A run appears only when it is complete and never
changes, so an interrupted store is valid. Every file has a checksum (`checksums.py`).
"""

import errno
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Any

from .._sojourn import version as this_version
from ..base.files import (
    check_place,
    draft_of,
    failures_named,
    held,
    is_name,
    is_running,
    make_directory,
    remove,
    sync,
    write_file,
    writer_of,
)
from ..base.json_text import json_of
from ..runs.parts import refuse_in_parts
from .checksums import SUMS, Checksums, DamagedError, StoreError, read_result, sums_of
from .other_version import refusal_of_store
from .stored_run import StoredRun
from .task import Ran, Task, name_of

FORMAT = "sojourn-store-3"

MARKER = "store.json"
"""The file that marks a store."""

_MARKER_CONTENT = (
    json.dumps({"format": FORMAT, "version": this_version}, indent=2) + "\n"
).encode()

_RUNS = "runs"

_MOST_KNOWN = 1_000
"""Of so many runs the memory holds what summaries need; those beyond are read back."""

_DRAFT_OF_MARKER = re.compile(r"\.store\.json\.\d+(\.draft)?")
"""Also those that version 0.1.0 left."""

_LOCK = ".lock"
"""The file by which a process holds the store while it writes."""

RUN_LIST = "runs.csv"
"""The file that maps settings, variants and seeds to runs."""

ANSWER = "answer.txt"
"""What a search came to, in words."""

REPORT = "report.html"
"""The report of a store. A batch that changes the runs removes it: it describes the old ones."""

PLAN = "study.json"
"""The file that names the study whose runs the store holds, if any."""

ORIGIN = "sweep.json"
"""The file that names the sweep file, or the search, whose runs the store holds, if any."""

SHARD = "shard.json"
"""The file that says which part of a batch the store holds, if it holds no whole one."""


class Store:
    """A directory of runs made by one version of sojourn."""

    def __init__(self, directory: Path) -> None:
        """Opens or creates a store; raises `StoreError` if another version wrote it."""
        self.directory = directory
        self.added: list[Task] = []
        """The tasks whose runs were added since then."""
        self.replaced = 0
        """How many of these runs replaced existing ones."""
        self._known: dict[str, Mapping[str, Any]] = {}
        """What is known of these runs without reading them."""
        marker = directory / MARKER
        _require_own(directory / _RUNS)  # else what a link leads to would be written, and swept
        if marker.exists() and not _is_damaged(marker):
            _check(directory, marker)
        elif not is_store(directory) and _holds_other_files(directory):
            raise FileExistsError(
                f"{directory} holds other files and no sweep or study; give another directory"
            )
        else:
            check_place(directory)
            with failures_named(directory):
                make_directory(directory)
            self.write(MARKER, _MARKER_CONTENT)

    def __contains__(self, task: Task) -> bool:
        return all((self._place(task) / name).exists() for name in task.files)

    def __getitem__(self, task: Task) -> StoredRun:
        return self.named(task.run)

    def damage_of(self, run: str) -> DamagedError | None:
        """What is wrong with a run; `None` if it is as it was written."""
        try:
            self.verify_run(run)
        except DamagedError as damage:
            return damage
        return None

    def verify_run(self, run: str) -> None:
        """Raises `DamagedError` unless all files of a run are as they were written."""
        stored = StoredRun(self.directory / _RUNS / run)
        stored.verify()
        if name_of(stored.scenario) != run:
            raise DamagedError(stored.directory, "it holds the scenario of another run")

    @property
    def runs(self) -> list[str]:
        """The names of all runs in the store."""
        runs = self.directory / _RUNS
        paths = runs.iterdir() if runs.exists() else ()  # glob would hide errors
        return sorted(path.name for path in paths if path.is_dir() and path.name[0] != ".")

    def named(self, run: str, variant: str = "") -> StoredRun:
        """The run with this name, labelled with its variant."""
        return StoredRun(self.directory / _RUNS / run, variant, self._known.get(run, {}))

    def keeps(self, run: str) -> bool:
        """Is there a run with this name, damaged or not?"""
        return is_name(run) and (self.directory / _RUNS / run).is_dir()

    def check(self, there: Sequence[bool]) -> None:
        """Raises `StoreError` unless every run is present."""
        if missing := there.count(False):
            raise StoreError(
                f"{self.directory}: {missing} of {len(there)} runs are missing; "
                "repeat the command with --resume to run them"
            )

    def remove_run(self, run: str) -> None:
        """Removes a run."""
        remove(self.directory / _RUNS / run)

    def keep_only(self, tasks: Iterable[Task]) -> None:
        """Removes all other runs: those of a batch that this one replaces."""
        for run in {*self.runs} - {task.run for task in tasks}:
            place = self.directory / _RUNS / run
            # Under this name it is removed later, if the process is killed meanwhile.
            place = place.rename(place.with_name(f".{run}"))
            remove(place)

    def remove_description(self) -> None:
        """Removes the files that describe the runs of a batch that this one replaces."""
        with suppress(DamagedError):
            for name in {*Checksums(self.directory)} - {MARKER}:
                (self.directory / name).unlink(missing_ok=True)

    def put(self, task: Task, ran: Ran) -> None:
        """Stores the files of a run. When all are stored, `sync_names` must follow."""
        place = self._place(task)
        self.replaced += place.exists()
        if place.is_symlink():  # else what it leads to would be replaced
            place.unlink()
        with failures_named(self.directory), draft_of(place, is_one_of_many=True) as draft:
            for name, content in ran.files.items():
                (draft / name).write_bytes(content)
        self.added.append(task)
        if len(self._known) < _MOST_KNOWN:
            self._known[task.run] = ran.known

    def sync_names(self) -> None:
        """Waits until the names of the runs are on the disk."""
        with failures_named(self.directory):
            sync(self.directory / _RUNS)

    def write(self, name: str, content: bytes) -> Path:
        """Writes a file next to the runs; it appears only when it is complete."""
        path = self.directory / name
        write_file(path, content)
        return path

    def is_described(self, about: Mapping[str, bytes]) -> bool:
        """Are these the files that describe the runs, as they stand there?"""
        try:
            return all(read_result(self.directory / name) == about[name] for name in about)
        except DamagedError:
            return False

    def describe(self, about: Mapping[str, bytes]) -> None:
        """Writes the files that describe the runs, in place of all others."""
        if SHARD not in about:
            (self.directory / SHARD).unlink(missing_ok=True)
        self._write_all(sums_of({MARKER: _MARKER_CONTENT, **about}), about)

    def add(self, derived: Mapping[str, bytes]) -> None:
        """Writes files that are computed from the runs, beside those that describe them."""
        self._write_all(Checksums(self.directory).with_files(derived), derived)

    def _write_all(self, sums: bytes, files: Mapping[str, bytes]) -> None:
        """Writes checksums and files.

        So a store that is stopped in between lacks files, and none is without its checksum.
        """
        self.write(SUMS, sums)
        for name, content in files.items():
            self.write(name, content)

    def read(self, name: str) -> bytes:
        """A file that describes the runs; raises `DamagedError` if it is not as written."""
        return Checksums(self.directory).read(name)

    def verify(self) -> None:
        """Raises `DamagedError` unless the files that describe the runs are as they were."""
        Checksums(self.directory).verify()

    def sweep_drafts(self) -> None:
        """Removes temporary files and directories left by killed processes."""
        for draft in (self.directory / _RUNS).glob(".*"):
            remove(draft)
        for draft in filter(_is_left_over, self.directory.glob(".*")):
            remove(draft)

    def _place(self, task: Task) -> Path:
        return self.directory / _RUNS / task.run


def held_for_runs(directory: Path) -> AbstractContextManager[None]:
    """Holds the directory of a store for writing; raises `OSError` if another process does."""
    refuse_in_parts()
    check_place(directory)
    return held(directory, directory / _LOCK)


def open_store(directory: Path) -> Store:
    """Opens an existing store."""
    if not is_store(directory):
        missing = "holds no sweep or study" if directory.exists() else "no such directory"
        raise FileNotFoundError(errno.ENOENT, missing, str(directory))
    if not (directory / MARKER).exists():
        raise DamagedError(directory / MARKER, "the file is missing")
    if _is_damaged(directory / MARKER):
        raise DamagedError(directory / MARKER, "not as sojourn writes it")
    return Store(directory)


def is_store(directory: Path) -> bool:
    """Does it hold a store? Its marker may be missing, or damaged."""
    return (directory / MARKER).exists() or _was_whole(directory)


def _require_own(directory: Path) -> None:
    """Raises `StoreError` for a link, or for anything but a directory, if there is one."""
    is_link = directory.is_symlink()
    if is_link or (directory.exists() and not directory.is_dir()):
        found = "a link" if is_link else "no directory"
        raise StoreError(f"{directory}: found {found}; allowed: a directory; remove it")


def _is_damaged(marker: Path) -> bool:
    """Was this a marker of this version? A power cut can leave an empty one."""
    if not marker.is_file():
        return False
    content = read_result(marker)
    return not content or (content != _MARKER_CONTENT and _was_whole(marker.parent))


def _was_whole(directory: Path) -> bool:
    try:
        return Checksums(directory).is_of(MARKER, _MARKER_CONTENT)
    except DamagedError:
        return False


def _holds_other_files(directory: Path) -> bool:
    """Is there anything but a lock and drafts of a marker, which a killed process may have left?"""
    paths = directory.iterdir() if directory.is_dir() else ()
    return not all(path.name == _LOCK or _is_draft_of_marker(path) for path in paths)


def _is_left_over(path: Path) -> bool:
    """Is this a draft that nobody writes? That of a report may be written meanwhile."""
    writer = writer_of(path)
    return _is_draft_of_marker(path) or (writer is not None and not is_running(writer))


def _is_draft_of_marker(path: Path) -> bool:
    return _DRAFT_OF_MARKER.fullmatch(path.name) is not None


def _check(directory: Path, marker: Path) -> None:
    text = read_result(marker)
    try:
        content = json_of(text)
        form, version = content["format"], content["version"]
    except (ValueError, KeyError, TypeError):
        raise StoreError(
            f"{marker}: not a file that sojourn wrote; give another directory"
        ) from None
    if form != FORMAT or version != this_version:
        raise refusal_of_store(directory, version, PLAN, ORIGIN, SHARD)
