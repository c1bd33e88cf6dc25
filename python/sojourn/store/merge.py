"""Joins the parts of a sweep or study to the store that one command would have written."""

import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from ..base.csv_text import csv_bytes
from ..base.files import (
    check_place,
    draft_of,
    failures_named,
    held,
    lock_beside,
    place_of,
    reason_of,
)
from ..base.json_text import json_of
from ..base.lookup import listed
from ..base.terminal import counting_bar
from .checksums import DamagedError, StoreError
from .listing import listed_lines
from .shard import Part, Shard, part_in
from .store import ORIGIN, PLAN, RUN_LIST, Store, is_store, open_store
from .sweep import origin_json

Completed = Callable[[Path], Mapping[str, bytes]]
"""What is computed from the runs of a store, and stored beside them."""


class PartsError(StoreError):
    """Parts that cannot be joined, with all that is wrong with them."""

    def __init__(self, problems: Sequence[str]) -> None:
        """Takes a sentence for each problem."""
        self.problems = problems
        super().__init__("; ".join(problems))


@dataclass(frozen=True)
class _StoredPart:
    """A part of a batch in its directory."""

    store: Store
    about: Part
    listed: Sequence[Mapping[str, str]]
    """Its lines of the list of runs."""

    @staticmethod
    def at(directory: Path) -> "_StoredPart":
        """Opens a part; raises `OSError` or `StoreError` if there is none."""
        store = open_store(directory)
        if (part := part_in(directory)) is None:
            raise StoreError(
                f"{directory}: holds no part; allowed: what `sojourn sweep --shard` or "
                "`sojourn study run --shard` wrote"
            )
        found = listed_lines(store)
        if len(found) != len(part.lines):
            raise DamagedError(directory / RUN_LIST, "it lists other runs than the part has")
        return _StoredPart(store, part, found)

    @property
    def shard(self) -> Shard:
        """Which part it is."""
        return self.about.shard

    @property
    def directory(self) -> Path:
        """Where it is."""
        return self.store.directory

    @property
    def runs(self) -> list[str]:
        """The names of its runs, each once."""
        return list(dict.fromkeys(line["run"] for line in self.listed))

    def problem(self) -> str | None:
        """What is wrong with its files, and the command that mends it."""
        missing = [run for run in self.runs if not self.store.keeps(run)]
        damages = (self.store.damage_of(run) for run in self.runs if run not in missing)
        damage = next(filter(None, damages), None)
        if missing:
            found = f"{self.directory}: {len(missing)} of {len(self.runs)} runs are missing"
        elif damage:
            found = f"{damage.path}: damaged ({damage.reason})"
        else:
            return None
        again = self.shard.command_into(str(self.directory), "--resume")
        return f"{found}; make what is missing: {again}"


def merge(directories: Sequence[Path], directory: Path, completed: Completed) -> Store:
    """Joins parts in a new directory, which appears only when it is complete.

    Its files are, byte for byte, those of the batch without shards; `completed` gives those that
    are computed from the runs. If it holds these parts joined, nothing is done. Raises `PartsError`
    unless the parts are undamaged, of one batch, and all of it; `OSError` if the directory holds
    something else or cannot be written.
    """
    check_place(directory)
    parts = _opened(directories)
    _raise_all(list(_around(parts, directory)))
    _raise_all(_odd(parts) or [*_doubled(parts), *_missing(parts)])
    about = _about(parts, directory)
    if _holds(directory, parts, about, completed):
        return open_store(directory)
    with counting_bar(parts, "parts checked") as checked:
        _raise_all([problem for part in checked if (problem := part.problem())])
    with held(directory, lock_beside(directory)):
        _refuse_other_files(directory)
        with failures_named(directory), draft_of(directory) as draft:
            store = Store(draft)
            store.describe(about)
            with counting_bar(parts, "parts joined") as joined:
                for part in joined:
                    _copy_runs(part, store)
            if derived := completed(draft):
                store.add(derived)
    return open_store(directory)


def _holds(
    directory: Path,
    parts: Sequence[_StoredPart],
    about: Mapping[str, bytes],
    completed: Completed,
) -> bool:
    """Does the directory hold these parts joined? Raises `OSError` if it holds something else."""
    if is_store(directory):
        store = open_store(directory)
        runs = chain.from_iterable(part.runs for part in parts)
        is_whole = store.is_described(about) and all(map(store.keeps, runs))
        if is_whole and store.is_described(completed(directory)):
            return True
    _refuse_other_files(directory)
    return False


def _refuse_other_files(directory: Path) -> None:
    if directory.exists() and any(directory.iterdir()):
        raise FileExistsError(
            f"{directory} holds other files; allowed: the path of a new directory"
        )


def _raise_all(problems: Sequence[str]) -> None:
    if problems:
        raise PartsError(problems)


def _opened(directories: Sequence[Path]) -> list[_StoredPart]:
    """The parts in their order; raises `PartsError` for directories that hold none."""
    parts, problems = [], []
    for directory in directories:
        try:
            parts.append(_StoredPart.at(directory))
        except StoreError as error:
            problems.append(str(error))
        except OSError as error:
            problems.append(reason_of(error))
    _raise_all(problems)
    return sorted(parts, key=lambda part: part.shard.number)


def _around(parts: Sequence[_StoredPart], directory: Path) -> Iterator[str]:
    """Parts that would hold the new directory."""
    new = directory.resolve()
    for part in parts:
        if part.directory.resolve() in new.parents:
            yield f"{directory}: found in the part {part.directory}; allowed: another directory"


def _odd(parts: Sequence[_StoredPart]) -> list[str]:
    """Parts of another batch than most are."""
    batches = [(part.shard.count, part.about.batch) for part in parts]
    ((most, _),) = Counter(batches).most_common(1)
    first = parts[batches.index(most)]
    return [
        f"{part.directory}: part {part.shard} of another sweep or study than {first.directory}, "
        f"part {first.shard}; {_difference(part.shard, first.shard)}"
        for part, batch in zip(parts, batches, strict=True)
        if batch != most
    ]


def _difference(one: Shard, other: Shard) -> str:
    here, there = one.command_into("DIRECTORY"), other.command_into("DIRECTORY")
    if one.command != other.command or one.count != other.count:
        return f"it was made by: {here}; the other by: {there}"
    return f"its files were changed in between; make all parts again as: {there}"


def _doubled(parts: Sequence[_StoredPart]) -> Iterator[str]:
    for earlier, part in pairwise(parts):
        if earlier.shard.number == part.shard.number:
            there = f"part {part.shard}, as {earlier.directory} is"
            yield f"{part.directory}: {there}; allowed: each part once"


def _missing(parts: Sequence[_StoredPart]) -> Iterator[str]:
    shard = parts[0].shard
    there = {part.shard.number for part in parts}
    if missing := [n for n in range(1, shard.count + 1) if n not in there]:
        names = listed([f"{n}/{shard.count}" for n in missing])
        command = Shard(missing[0], shard.count, shard.command).command_into("DIRECTORY")
        if len(missing) > 1:
            yield f"parts {names} are missing; make each, as: {command}"
        else:
            yield f"part {names} is missing; make it: {command}"


def _about(parts: Sequence[_StoredPart], directory: Path) -> dict[str, bytes]:
    """The files that describe the runs, in the order in which one command writes them."""
    first = parts[0]
    if (first.directory / PLAN).exists():
        return {PLAN: first.store.read(PLAN), RUN_LIST: _run_list(parts)}
    origin = _origin(first.store)
    moved = place_of(first.directory / origin, directory) if origin else ""
    return {RUN_LIST: _run_list(parts), ORIGIN: origin_json(moved)}


def _origin(store: Store) -> str:
    """The path of the sweep file from the store; empty if there was none."""
    content = store.read(ORIGIN)
    try:
        origin = json_of(content)["sweep"]
        if isinstance(origin, str):
            return origin
    except (ValueError, KeyError, TypeError):
        pass
    raise DamagedError(store.directory / ORIGIN, "it names no sweep file")


def _run_list(parts: Sequence[_StoredPart]) -> bytes:
    lines = dict(
        chain.from_iterable(zip(part.about.lines, part.listed, strict=True) for part in parts)
    )
    if not lines or len(lines) != parts[0].about.runs:
        raise PartsError(["the parts do not list all runs; make them again"])
    ordered = [lines[line] for line in sorted(lines)]
    return csv_bytes(list(ordered[0]), [list(line.values()) for line in ordered])


def _copy_runs(part: _StoredPart, store: Store) -> None:
    for run in part.runs:
        source, target = part.store.named(run).directory, store.named(run).directory
        shutil.copytree(
            source, target, ignore=shutil.ignore_patterns(".*"), copy_function=shutil.copyfile
        )
