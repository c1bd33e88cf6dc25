"""Shards: a batch in parts, each of which may run on another machine into a store of its own."""

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from operator import lt
from pathlib import Path
from typing import Any, TypeVar

from ..base.csv_text import csv_bytes
from ..base.json_text import json_of
from ..base.lookup import UnknownError
from .checksums import SUMS, Checksums, DamagedError, StoreError
from .store import RUN_LIST, SHARD
from .task import Task

MOST_SHARDS = 100_000
"""As many as a sweep may have combinations."""

_MOST_TEXT = 100_000
"""The longest command of a batch, in characters; systems allow little more."""

_SHARD = re.compile(r"([1-9][0-9]{0,5})/([1-9][0-9]{0,5})")

Name = TypeVar("Name", bound=tuple[object, ...])


@dataclass(frozen=True)
class Shard:
    """One of the parts of a batch, counted from 1."""

    number: int
    count: int
    command: Sequence[str] = ()
    """The command of the whole batch, without its directory."""

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @staticmethod
    def of(text: str, command: Sequence[str] = ()) -> "Shard":
        """The shard that a text such as 3/100 names; raises `UnknownError` for another text."""
        numbers = _SHARD.fullmatch(text)
        if numbers and int(numbers[1]) <= int(numbers[2]) <= MOST_SHARDS:
            return Shard(int(numbers[1]), int(numbers[2]), command)
        raise UnknownError(
            f"--shard: found {text!r}; allowed: I/N, the part I of N, from 1/N to N/N with N up to "
            f"{MOST_SHARDS}, such as 3/100"
        )

    def command_into(self, directory: str, *options: str) -> str:
        """The command that makes this part."""
        return shlex.join([*self.command, "--shard", str(self), *options, "--out", directory])

    def part_of(self, tasks: Mapping[Name, Task]) -> dict[Name, Task]:
        """The tasks of this part.

        Runs are dealt out in turn, the longest first, of these those that may need the most memory,
        and of these by their names, which are as good as random.
        """
        runs = {task.run: task for task in tasks.values()}
        dealt = sorted(runs, key=lambda run: (-runs[run].duration_s, -runs[run].memory_bytes, run))
        mine = set(dealt[self.number - 1 :: self.count])
        return {name: task for name, task in tasks.items() if task.run in mine}

    def file(self, tasks: Mapping[Name, Task], part: Mapping[Name, Task]) -> bytes:
        """What a part knows of the batch: which lines of its list of runs are here, and a hash."""
        everything = [(*map(str, name), task.run, task.tables) for name, task in tasks.items()]
        content = {
            "shard": self.number,
            "shards": self.count,
            "batch": sha256(json.dumps(everything).encode()).hexdigest(),
            "runs": len(tasks),
            "lines": [line for line, name in enumerate(tasks) if name in part],
            "command": list(self.command),
        }
        return (json.dumps(content) + "\n").encode()


@dataclass(frozen=True)
class Part:
    """What the file of a part says."""

    shard: Shard
    batch: str
    """The hash of all runs of the batch. Parts with the same are of the same batch."""
    runs: int
    """How many lines the list of all runs has."""
    lines: Sequence[int]
    """The places of this part's lines in it."""


def about_part(
    columns: Sequence[str], tasks: Mapping[Name, Task], shard: Shard | None
) -> tuple[dict[Name, Task], dict[str, bytes]]:
    """The tasks to run, and the files that list them: all of a batch, or a shard of it."""
    mine = shard.part_of(tasks) if shard else dict(tasks)
    about = {SHARD: shard.file(tasks, mine)} if shard else {}  # first: a list alone is of a whole
    rows = [(*name, task.run) for name, task in mine.items()]
    return mine, {**about, RUN_LIST: csv_bytes((*columns, "run"), rows)}


def part_in(directory: Path) -> Part | None:
    """Which part a store holds; `None` if it holds a whole batch. Raises `DamagedError`."""
    files = Checksums(directory)
    is_listed = (directory / SUMS).exists() and SHARD in files
    if not is_listed and not (directory / SHARD).exists():
        return None
    content = files.read(SHARD)
    try:
        return _part(json_of(content))
    except (ValueError, KeyError, TypeError):
        raise DamagedError(directory / SHARD, "not what sojourn writes of a part") from None


def _part(found: Mapping[str, Any]) -> Part:
    """Raises `ValueError` unless it is what `Shard.file` wrote."""
    lines, command = found["lines"], found["command"]
    ascending, texts = [-1, *lines, found["runs"]], [*command, found["batch"]]
    is_part = (
        all(type(number) is int for number in ascending)
        and all(map(lt, ascending, ascending[1:]))
        and isinstance(command, list)
        and all(isinstance(text, str) for text in texts)
        and sum(map(len, texts)) <= _MOST_TEXT
        and command[:1] in ([], ["sojourn"])
    )
    if not is_part:
        raise ValueError
    shard = Shard.of(f"{found['shard']}/{found['shards']}", command)
    return Part(shard, found["batch"], found["runs"], lines)


def refuse_other_part(directory: Path, shard: Shard | None) -> None:
    """Raises `StoreError` if the directory holds another part, or a part instead of a whole.

    Damaged files name none, and are written again.
    """
    try:
        part = part_in(directory)
    except DamagedError:
        return
    if part and str(part.shard) != str(shard):
        found = f"part {part.shard}"
    elif shard and not part and (directory / RUN_LIST).exists():
        found = "all runs"
    else:
        return
    wanted = f"part {shard}" if shard else "all runs"
    raise StoreError(f"{directory}: holds {found}; allowed for {wanted}: a directory of its own")


def require_whole_batch(directory: Path) -> None:
    """Raises `StoreError` if the directory holds a part."""
    if part := part_in(directory):
        raise StoreError(
            f"{directory}: holds part {part.shard} alone; join all parts first: "
            "sojourn merge PART... --out DIRECTORY"
        )
