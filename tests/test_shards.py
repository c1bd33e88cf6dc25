"""Sweeps and studies in parts, and how parts are joined."""

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from sojourn.base.files import remove
from sojourn.store.merge import PartsError, merge
from sojourn.store.shard import Shard
from sojourn.store.sweep import read_sweep, run_sweep
from sojourn.store.task import Task
from stores import Inside, bytes_of, command, resealed

SCENARIO = """
duration_s = 0.5
upstream.sustained_mbps = 10
downstream.sustained_mbps = 50
servers.net.delay_ms = 10
traffic.game = { kind = "stream", purpose = "game", server = "net" }
traffic.up = { kind = "transfer", server = "net", direction = "up" }
"""
SWEEP = """
scenario = "line.toml"
seeds = 2
keys."upstream.sustained_mbps" = [5, 10]
keys."servers.net.delay_ms" = [10, 10]
"""
"""Eight lines of four runs: a value is there twice."""

STUDY = ("study", "run", "white2012", "--figure", "3")
SHORT = ("--duration-scale", "0.004", "--seeds", "2")


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    (tmp_path / "line.toml").write_text(SCENARIO)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path / "sweep.toml"


@pytest.fixture
def parts(sweep: Path) -> list[Path]:
    """A sweep in three parts."""
    return [part_of(sweep, number) for number in (1, 2, 3)]


def part_of(sweep: Path, number: int, count: int = 3, name: str = "part") -> Path:
    directory = sweep.with_name(f"{name}-{number}")
    shard = Shard.of(f"{number}/{count}", ["sojourn", "sweep", "my sweep.toml"])
    run_sweep(read_sweep(sweep), directory, shard=shard, quiet=True)
    return directory


def problems_of(parts: Sequence[Path], directory: Path) -> Sequence[str]:
    """What keeps parts from being joined; nothing is written then."""
    with pytest.raises(PartsError) as refusal:
        merge(parts, directory / "joined", lambda there: {})
    assert not (directory / "joined").exists()
    return refusal.value.problems


def test_parts_of_a_sweep_join_to_the_bytes_of_one_run(sweep: Path) -> None:
    whole, joined = sweep.with_name("whole"), sweep.with_name("joined")
    assert command("sweep", sweep, "--out", whole, "--quiet") == 0
    # Six parts of four runs: two have none.
    parts = [sweep.with_name(f"part-{number}") for number in range(1, 7)]
    for number, part in enumerate(parts, 1):
        assert command("sweep", sweep, "--shard", f"{number}/6", "--out", part, "--quiet") == 0
    assert sorted(len(list(part.glob("runs/*"))) for part in parts) == [0, 0, 1, 1, 1, 1]
    assert command("merge", *reversed(parts), "--out", joined) == 0
    assert bytes_of(joined) == bytes_of(whole)
    assert command("verify", joined) == 0
    # Joined already, there is nothing to do.
    before = {path: path.stat().st_ino for path in joined.rglob("*")}
    assert command("merge", *parts, "--out", joined) == 0
    assert {path: path.stat().st_ino for path in joined.rglob("*")} == before


def test_parts_of_a_study_join_to_the_bytes_of_one_run(tmp_path: Path) -> None:
    whole, joined = tmp_path / "whole", tmp_path / "joined"
    assert command(*STUDY, *SHORT, "--out", whole) == 0
    parts = [tmp_path / "1", tmp_path / "2"]
    for part in parts:
        assert command(*STUDY, *SHORT, "--shard", f"{part.name}/2", "--out", part) == 0
        assert not (part / "cells.csv").exists()
    assert command("merge", *parts, "--out", joined) == 0
    assert bytes_of(joined) == bytes_of(whole)
    assert "cells.csv" in bytes_of(joined)


def test_a_part_of_a_study_is_no_study(tmp_path: Path, inside: Inside) -> None:
    assert command(*STUDY, *SHORT, "--shard", "1/2", "--out", tmp_path) == 0
    for reading in ("report", "study score"):
        message = inside.refused(*reading.split(), tmp_path)
        assert f"{tmp_path}: holds part 1/2 alone; join all parts first: sojourn merge " in message


def test_a_part_of_a_sweep_has_no_report(parts: list[Path], inside: Inside) -> None:
    for reading in ("report", "export --format csv"):
        message = inside.refused(*reading.split(), parts[0], "--out", parts[0].parent / "out")
        assert f"{parts[0]}: holds part 1/3 alone; join all parts" in message
    assert command("verify", parts[0]) == 0


def test_a_part_goes_on(sweep: Path, inside: Inside) -> None:
    part = part_of(sweep, 1, 2)
    whole = bytes_of(part)
    lost = next((part / "runs").iterdir())
    shutil.rmtree(lost)
    other = part_of(sweep, 2, 2)
    (problem,) = problems_of([part, other], sweep.parent)
    assert problem == (
        f"{part}: 1 of 2 runs are missing; make what is missing: "
        f"sojourn sweep 'my sweep.toml' --shard 1/2 --resume --out {part}"
    )
    kept = {path: path.stat().st_ino for path in part.glob("runs/*/*")}
    printed = inside.printed("sweep", sweep, "--shard", "1/2", "--resume", "--out", part)
    assert f"part 1/2: 1 run added to {part}" in printed
    assert all(path.stat().st_ino == number for path, number in kept.items())
    # The command that made it is another than before, and the runs are the same.
    assert {name for name, _ in bytes_of(part).items() ^ whole.items()} <= {
        "shard.json",
        "SHA256SUMS",
    }


def test_each_part_is_needed_once(parts: list[Path]) -> None:
    first, second, third = parts
    again = "sojourn sweep 'my sweep.toml' --shard"
    assert problems_of([first, third], first.parent) == [
        f"part 2/3 is missing; make it: {again} 2/3 --out DIRECTORY"
    ]
    assert problems_of([second, second], first.parent) == [
        f"{second}: part 2/3, as {second} is; allowed: each part once",
        f"parts 1/3, 3/3 are missing; make each, as: {again} 1/3 --out DIRECTORY",
    ]


def test_parts_of_another_sweep_are_named(sweep: Path, parts: list[Path]) -> None:
    half = part_of(sweep, 1, 2, "half")
    (problem,) = problems_of([half, *parts], sweep.parent)
    assert problem.startswith(f"{half}: part 1/2 of another sweep or study than {parts[0]}, part")
    assert (
        "--shard 1/2 --out DIRECTORY; the other by: sojourn sweep 'my sweep.toml' --shard 1/3"
        in problem
    )
    (sweep.parent / "line.toml").write_text(SCENARIO.replace("0.5", "0.6"))
    changed = part_of(sweep, 3, 3, "changed")
    (problem,) = problems_of([*parts[:2], changed], sweep.parent)
    assert problem.startswith(f"{changed}: part 3/3 of another sweep or study than {parts[0]}")
    assert "; its files were changed in between; make all parts again as: sojourn" in problem


def test_parts_with_other_tables_are_of_another_sweep(sweep: Path, parts: list[Path]) -> None:
    sweep.write_text(f"series = true\n{SWEEP}")
    (problem,) = problems_of([*parts[:2], part_of(sweep, 3, 3, "series")], sweep.parent)
    assert "part 3/3 of another sweep" in problem


def test_each_damaged_part_is_named(parts: list[Path]) -> None:
    for part in parts[:2]:
        meta = next(part.glob("runs/*/meta.json"))
        meta.write_bytes(meta.read_bytes().replace(b"1", b"2", 1))
    found = problems_of(parts, parts[0].parent)
    assert [text.partition("/runs/")[0] for text in found] == [str(part) for part in parts[:2]]
    assert all("damaged (it differs from its checksum in SHA256SUMS); make" in one for one in found)
    (parts[2] / "shard.json").write_text("{}")
    (problem,) = problems_of(parts, parts[0].parent)
    assert problem.startswith(f"{parts[2] / 'shard.json'}: damaged (it differs from its checksum")


@pytest.mark.parametrize("name", ["shard.json", "store.json", "runs.csv", "SHA256SUMS"])
@pytest.mark.parametrize("harm", ["emptied", "removed", "a directory", "a pipe"])
def test_the_advice_on_a_damaged_part_mends_it(
    sweep: Path, name: str, harm: str, inside: Inside
) -> None:
    part, joined = sweep.with_name("part"), sweep.with_name("joined")
    again = ("sweep", sweep, "--shard", "1/1", "--quiet", "--out", part)
    assert command(*again) == 0
    file = part / name
    file.unlink()
    if harm == "a directory":
        file.mkdir()
    elif harm == "a pipe":
        os.mkfifo(file)
    elif harm == "emptied":
        file.touch()
    printed = inside.refused("merge", part, "--out", joined)
    assert printed.startswith(f"error: {file}: damaged (") and "repeat the command" in printed
    if is_odd := harm in ("a directory", "a pipe"):
        remove(file)
    assert ("; remove it, then repeat" in printed) == is_odd
    assert command(*again, "--resume") == 0
    assert command("merge", part, "--out", joined) == 0


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lines", [1, 0]),
        ("lines", [0, 0]),
        ("lines", [True]),
        ("lines", [10**18]),
        ("runs", 1),
        ("runs", -1),
        ("command", "sojourn"),
        ("command", ["rm", "-r", "/"]),
        ("command", ["sojourn", "a" * 10**6]),
        ("command", ["sojourn", 1]),
        ("shard", 4),
        ("batch", 1),
    ],
)
def test_a_part_that_says_what_none_does_is_refused(
    parts: list[Path], key: str, value: object
) -> None:
    file = parts[0] / "shard.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), key: value}))
    resealed(parts[0])
    (problem,) = problems_of(parts, parts[0].parent)
    assert problem.startswith(f"{file}: damaged (not what sojourn writes of a part)")


def test_parts_that_promise_more_runs_than_they_list_are_refused(parts: list[Path]) -> None:
    for part in parts:
        about = json.loads((part / "shard.json").read_text())
        (part / "shard.json").write_text(json.dumps({**about, "runs": 10**18}))
        resealed(part)
    assert problems_of(parts, parts[0].parent) == [
        "the parts do not list all runs; make them again"
    ]


def test_parts_are_not_joined_in_one_of_them(parts: list[Path]) -> None:
    before, place = bytes_of(parts[0].parent), parts[1] / "new" / "joined"
    with pytest.raises(
        PartsError, match=f"{place}: found in the part {parts[1]}; allowed: another"
    ):
        merge(parts, place, lambda there: {})
    assert bytes_of(parts[0].parent) == before


def test_what_is_no_part_is_refused(sweep: Path, parts: list[Path], inside: Inside) -> None:
    whole, joined = sweep.with_name("whole"), sweep.with_name("joined")
    run_sweep(read_sweep(sweep), whole, quiet=True)
    done = inside("merge", sweep, whole, sweep.with_name("none"), "--out", joined)
    assert done.stderr.splitlines() == [
        f"error: {sweep}: holds no sweep or study",
        f"error: {whole}: holds no part; allowed: what `sojourn sweep --shard` or "
        "`sojourn study run --shard` wrote",
        f"error: {sweep.with_name('none')}: no such directory",
    ]
    assert not joined.exists()


@pytest.mark.parametrize("name", ["other", "part-1", "line.toml"])
def test_existing_files_are_kept(parts: list[Path], name: str) -> None:
    place = parts[0].with_name(name)
    if name == "other":
        place.mkdir()
        (place / "notes.txt").write_text("mine")
    before = bytes_of(place.parent)
    with pytest.raises(OSError, match=r"holds other files; allowed: the path of|not a directory;"):
        merge(parts, place, lambda there: {})
    assert bytes_of(place.parent) == before


def test_a_sweep_that_lacks_runs_is_not_taken_for_joined_parts(
    sweep: Path, parts: list[Path]
) -> None:
    whole = sweep.with_name("whole")
    run_sweep(read_sweep(sweep), whole, quiet=True)
    assert len(merge(parts, whole, lambda there: {}).runs) == 4
    shutil.rmtree(next(whole.glob("runs/*")))
    with pytest.raises(FileExistsError, match="holds other files"):
        merge(parts, whole, lambda there: {})


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_a_stopped_merge_leaves_nothing(
    parts: list[Path], stop: type[BaseException] | BaseException
) -> None:
    def stopped(there: Path) -> dict[str, bytes]:
        assert len(list(there.glob("runs/*"))) == 4
        raise stop

    before = bytes_of(parts[0].parent)
    with pytest.raises((KeyboardInterrupt, OSError)):
        merge(parts, parts[0].with_name("joined"), stopped)
    assert bytes_of(parts[0].parent) == before


def test_a_directory_holds_one_part(sweep: Path, inside: Inside) -> None:
    place = sweep.with_name("out")
    tasks = ("sweep", sweep, "--quiet", "--out", place)
    assert command(*tasks, "--shard", "1/2") == 0
    there = bytes_of(place)
    for more, wanted in ((["--shard", "2/2"], "part 2/2"), ([], "all runs"), (["--resume"], "all")):
        refused = inside.refused(*tasks, *more)
        assert f"error: {place}: holds part 1/2; allowed for {wanted}" in refused
        assert bytes_of(place) == there
    assert command(*tasks, "--overwrite") == 0
    assert not (place / "shard.json").exists()
    refused = inside.refused(*tasks, "--shard", "1/2")
    assert f"{place}: holds all runs; allowed for part 1/2:" in refused


@pytest.mark.parametrize("text", ["0/5", "6/5", "1/0", "x/y", "1", "1/100001", "1/2/3", " 1/2"])
def test_bad_shards(text: str, sweep: Path, inside: Inside) -> None:
    printed = inside.refused("sweep", sweep, "--shard", text, "--out", sweep.with_name("out"))
    assert printed.startswith(f"error: --shard: found {text!r}; allowed: I/N, the part I of N")
    assert not sweep.with_name("out").exists()


def test_long_runs_are_spread() -> None:
    # Each fourth run lasts a hundred times as long: a stride of four would give them to one part.
    tasks = {(n,): Task(f"run {n}", 100.0 if n % 4 == 0 else 1.0) for n in range(40)}
    parts = [Shard(number, 4).part_of(tasks) for number in range(1, 5)]
    assert sorted(name for part in parts for name in part) == sorted(tasks)
    # 10 long runs and 30 short ones: 2 or 3, and 7 or 8 of them.
    longs = [sum(task.duration_s == 100 for task in part.values()) for part in parts]
    assert sorted(longs) == [2, 2, 3, 3]
    assert {len(part) for part in parts} == {10}
