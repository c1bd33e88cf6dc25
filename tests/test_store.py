"""Stores of runs."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice, product
from pathlib import Path
from random import Random

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sojourn
from conftest import PATIENT_S, Cli, wait_until
from sojourn.base.csv_text import csv_bytes
from sojourn.base.files import remove
from sojourn.base.plain_text import plain
from sojourn.base.toml_text import toml_document
from sojourn.cli.main import main as command_line
from sojourn.runs.tables import TABLES
from sojourn.store.batch import BatchStopped, run_batch
from sojourn.store.checksums import SUMS, DamagedError, StoreError, sums_of
from sojourn.store.listing import SUMMARY
from sojourn.store.merge import PartsError
from sojourn.store.read import read_results
from sojourn.store.row_limits import most_rows
from sojourn.store.store import MARKER, PLAN, RUN_LIST, Store, held_for_runs
from sojourn.store.stored_run import StoredRun
from sojourn.store.table_file import parquet_of
from sojourn.store.task import SCALARS, Ran, Task, task
from sojourn.store.verify import require_whole, verify
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.running import run_plan

HOME = {
    "duration_s": 2,
    "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 100_000},
    "downstream": {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 100_000},
    "servers": {"files": {"delay_ms": 9}},
    "traffic": {"upload": {"kind": "transfer", "server": "files"}},
}


def tasks(number: int) -> list[Task]:
    return [task(HOME, seed=seed) for seed in range(number)]


def listed(tasks: Sequence[Task]) -> Mapping[str, bytes]:
    """The file that lists these runs by seed."""
    rows = [(str(seed), task.run) for seed, task in enumerate(tasks)]
    return {"runs.csv": csv_bytes(("seed", "run"), rows)}


def bytes_of(directory: Path) -> Mapping[str, str]:
    return {
        path.relative_to(directory).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_a_store_that_was_cut_off_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    run_batch(tasks(4), tmp_path / "unbroken", jobs=1)
    run_batch(tasks(2), tmp_path / "broken")
    kept = next((tmp_path / "broken" / "runs").iterdir())
    before = kept.stat().st_ino
    # What a killed run leaves: a draft, which is swept away.
    (tmp_path / "broken" / "runs" / ".abc.1").mkdir()
    run_batch(tasks(4), tmp_path / "broken", resume=True, jobs=2)
    assert kept.stat().st_ino == before
    assert bytes_of(tmp_path / "broken") == bytes_of(tmp_path / "unbroken")


def test_a_killed_study_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    def start(directory: Path, *more: str) -> subprocess.Popen[str]:
        part = ("--table", "3", "--scheme", "CoDel-417pkt", "--duration-scale", "0.2")
        command = [sys.executable, "-m", "sojourn", "study", "run", "white2012", *part, *more]
        return subprocess.Popen([*command, "--out", str(directory)], text=True)

    assert start(tmp_path / "unbroken").wait(PATIENT_S) == 0
    killed = start(tmp_path / "killed")
    wait_until(lambda: [*(tmp_path / "killed").glob("runs/[!.]*/meta.json")])
    killed.send_signal(signal.SIGKILL)
    killed.wait(PATIENT_S)
    for name in ("study.json", "runs.csv"):
        told = (tmp_path / "killed" / name).read_bytes()
        assert told == (tmp_path / "unbroken" / name).read_bytes()
    assert start(tmp_path / "killed", "--resume").wait(PATIENT_S) == 0
    assert bytes_of(tmp_path / "killed") == bytes_of(tmp_path / "unbroken")


def test_polars_and_duckdb_read_a_store_as_one_data_set(tmp_path: Path) -> None:
    store = run_batch(tasks(3), tmp_path)
    flows = pl.read_parquet(tmp_path / "runs" / "*" / "flows.parquet")
    assert flows["run"].n_unique() == 3
    assert flows.filter(pl.col("direction") == "up")["delivered_packets"].min() > 100
    for table in SCALARS:
        every = str(tmp_path / "runs" / "*" / f"{table}.parquet")
        rows = pl.read_parquet(every)
        counted = duckdb.sql(f"select run, count(*) from '{every}' group by run").fetchall()
        assert dict(counted) == dict(rows["run"].cast(pl.String).value_counts().iter_rows()), table
        assert len(rows) == sum(len(getattr(store[task], table)) for task in tasks(3))
    every = tmp_path / "runs" / "*" / "flows.parquet"
    ((delivered,),) = duckdb.sql(f"select sum(delivered_packets) from '{every}'").fetchall()
    assert delivered == flows["delivered_packets"].sum() > 300


def test_columns_have_meaning_and_unit(tmp_path: Path) -> None:
    store = run_batch(tasks(1), tmp_path)
    field = store[tasks(1)[0]].flows.schema.field("throughput_mbps")
    assert field.metadata[b"unit"] == b"Mbps"
    assert field.metadata[b"description"].startswith(b"Delivered bytes on the wire")


def test_a_store_of_another_version_is_refused_with_the_versions(tmp_path: Path) -> None:
    Store(tmp_path)
    marker = tmp_path / "store.json"
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "version": "0.0.1"}))
    versions = rf"written by sojourn 0\.0\.1, .* sojourn {re.escape(sojourn.__version__)} does not"
    with pytest.raises(StoreError, match=versions):
        Store(tmp_path)


def test_a_store_has_one_writer(tmp_path: Path) -> None:
    run_batch(tasks(1), tmp_path)
    busy = pytest.raises(OSError, match="another sojourn process is writing here")
    with held_for_runs(tmp_path), busy:
        run_batch(tasks(2), tmp_path, resume=True)
    assert len(list((tmp_path / "runs").iterdir())) == 1
    run_batch(tasks(2), tmp_path, resume=True)
    assert len(list((tmp_path / "runs").iterdir())) == 2


def test_other_directories_are_left_alone(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "letter").write_text("dear")
    done = cli("study", "run", "white2012", "--table", "3", "--out", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "holds other files" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


def test_a_full_disk_says_what_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if second.run in str(path):
            raise OSError(28, "No space left on device")
        return whole(path, content)

    second = tasks(2)[1]
    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(BatchStopped) as stop:
        run_batch(tasks(2), tmp_path, jobs=1)
    assert stop.value.status == 2
    assert str(stop.value) == (
        f"error: cannot write {tmp_path}: No space left on device; "
        f"1 of 2 runs are saved in {tmp_path}; repeat the command with --resume to run the rest"
    )
    assert len(list((tmp_path / "runs").iterdir())) == 1


def test_a_run_that_was_removed_meanwhile_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Store.put

    def losing(store: Store, task: Task, ran: Ran) -> None:
        whole(store, task, ran)
        store.remove_run(first.run)

    first = tasks(2)[0]
    monkeypatch.setattr(Store, "put", losing)
    with pytest.raises(StoreError, match="1 of 2 runs are missing; repeat the command with"):
        run_batch(tasks(2), tmp_path, jobs=1)


def test_a_disk_that_is_full_at_the_last_says_that_all_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if "cells.csv" in path.name:
            raise OSError(28, "No space left on device")
        return whole(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    plan = Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.01)
    with pytest.raises(BatchStopped) as stop:
        run_plan(plan, tmp_path)
    assert stop.value.status == 2
    assert str(stop.value) == (
        f"error: cannot write {tmp_path / 'cells.csv'}: No space left on device; "
        f"2 of 2 runs are saved in {tmp_path}; repeat the command with --resume to run the rest"
    )


def test_a_store_that_may_not_be_written_is_refused_before_it_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_batch(tasks(1), tmp_path)

    def read_only(path: Path, content: bytes) -> int:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "write_bytes", read_only)
    monkeypatch.setattr("sojourn.store.batch.execute_fairly", None)
    with pytest.raises(
        BatchStopped, match=r"SHA256SUMS: Read-only file system; 1 of 2 runs are saved"
    ):
        run_batch(tasks(2), tmp_path, about={"runs.csv": b""})


def test_rows_of_a_table_are_made_once(tmp_path: Path) -> None:
    """A study asks for those of one run by the hundred."""
    (one,) = tasks(1)
    run = run_batch([one], tmp_path)[one]
    assert run.rows("flows") == run.flows.to_pylist()
    assert run.rows("flows") is run.rows("flows")
    assert run.flow("upload", "up") is run.rows("flows")[0]


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def what_is_read(directory: Path) -> object:
    """Everything that a report or a study can read of a stored sweep."""
    results = read_results(directory)
    runs = [run for group in results.groups for run in group.runs]
    kept = [[name for name in TABLES if run.keeps(name)] for run in runs]
    tables = [
        {name: run.table(name).to_pylist() for name in names}
        for run, names in zip(runs, kept, strict=True)
    ]
    labels = [(group.name, group.point, group.variant) for group in results.groups]
    return labels, tables, [(run.meta, run.scenario) for run in runs]


def test_a_changed_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    """Some 250 places in all files of a sweep of two runs, one bit each."""
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    whole = what_is_read(tmp_path)
    assert verify(tmp_path).problems == []
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    random, harmless = Random(1), 0
    for number in range(250):
        path = files[number % len(files)]
        content = path.read_bytes()
        path.write_bytes(flipped(content, random.randrange(8 * len(content))))
        try:
            is_noticed = bool(verify(tmp_path).problems)
        except StoreError as error:
            is_noticed = str(tmp_path) in str(error)
        assert is_noticed, path
        try:
            assert what_is_read(tmp_path) == whole, path
            harmless += 1
        except StoreError as error:
            assert str(tmp_path) in str(error)
        path.write_bytes(content)
    assert what_is_read(tmp_path) == whole
    assert harmless < 25  # a space of store.json, the checksum of a file that is not read


def test_resume_repeats_a_damaged_run_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_batch(tasks(2), tmp_path)
    before = bytes_of(tmp_path)
    place = tmp_path / "runs" / tasks(2)[1].run / "meta.json"
    # A flipped bit that is still valid JSON: the last digit of a count.
    at = place.read_bytes().index(b"0")
    place.write_bytes(flipped(place.read_bytes(), 8 * at))
    assert bytes_of(tmp_path) != before
    store = run_batch(tasks(2), tmp_path, resume=True)
    assert [task.run for task in store.added] == [tasks(2)[1].run]
    assert bytes_of(tmp_path) == before
    assert f"{place}: damaged (it differs from its checksum in SHA256SUMS)" in (
        capsys.readouterr().err
    )


def test_verify_lists_damaged_runs(tmp_path: Path, cli: Cli) -> None:
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    done = cli("verify", tmp_path)
    assert (done.returncode, done.stdout) == (0, f"2 runs verified in {tmp_path}\n")
    place = tmp_path / "runs" / tasks(1)[0].run / "flows.parquet"
    place.write_bytes(flipped(place.read_bytes(), 800))
    done = cli("verify", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {place}: damaged (it differs from its checksum in SHA256SUMS); repeat the command "
        "that wrote it, a sweep or study with --resume, to rerun it\n"
    )


def test_verify_tells_that_runs_are_missing(tmp_path: Path, cli: Cli) -> None:
    """As after an incomplete copy."""
    run_batch(tasks(1), tmp_path, about=listed(tasks(2)))
    done = cli("verify", tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    told = f"error: {tmp_path}: 1 of 2 runs are missing; repeat the command with --resume to run"
    assert done.stderr == f"{told} them\n"


def command(*arguments: object) -> int | str:
    """Runs the command in this process, and returns its exit status."""
    with pytest.raises(SystemExit) as end:
        command_line([str(argument) for argument in arguments])
    return end.value.code or 0


def each_changed(directory: Path) -> Iterator[Path]:
    """Flips one bit in each file in turn; a report is made anew, so it is left out."""
    random = Random(2)
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.name != "report.html":
            content = path.read_bytes()
            path.write_bytes(flipped(content, random.randrange(8 * len(content))))
            yield path
            path.write_bytes(content)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what `run --out`, `sweep` and `study run` write."""
    place = tmp_path_factory.mktemp("stored")
    sojourn.run({**HOME, "compare": {"one": {}, "two": {"duration_s": 1}}}).save(place / "run")
    (place / "home.toml").write_text(toml_document(HOME))
    (place / "sweep.toml").write_text('scenario = "home.toml"\nseeds = 2\nduration_s = 1\n')
    assert command("sweep", place / "sweep.toml", "--out", place / "sweep") == 0
    assert command(*STUDY, "--out", place / "study") == 0
    return place


STUDY = (
    *("study", "run", "white2012", "--table", "7", "--experiment", "D01/C01"),
    *("--duration-scale", "0.01"),
)


@pytest.mark.parametrize("kind", ["run", "sweep", "study"])
def test_a_report_of_a_directory_with_a_changed_bit_is_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """In any file, also in one that the report does not show."""
    directory, page = stored / kind, tmp_path / "page.html"
    assert command("report", directory, "--out", page) == 0
    page.unlink()
    capsys.readouterr()
    tried = 0
    for path in each_changed(directory):
        assert command("report", directory, "--out", page) == 2, path
        told = capsys.readouterr().err
        assert told.startswith("error: ") and told.count("\n") == 1, path
        assert str(directory) in told and not page.exists(), path
        tried += 1
    # Two runs of all tables, two runs of some, and what describes them.
    assert tried > {"run": 20, "sweep": 18, "study": 18}[kind]


def test_plot_and_export_refuse_a_directory_with_a_changed_bit(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = stored / "run"
    out = tmp_path / "x.svg"
    for path in islice(each_changed(directory), 0, None, 6):
        for arguments in (["plot", directory, "--kind", "drops"], ["export", directory]):
            more = ["--format", "csv"] if arguments[0] == "export" else []
            assert command(*arguments, *more, "--out", out) == 2, path
            assert "damaged" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize("kind", ["sweep", "study"])
def test_resume_mends_a_changed_bit_wherever_it_is(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """Or it refuses the directory, which is then as it was."""
    for name in ("home.toml", "sweep.toml"):
        (tmp_path / name).write_text((stored / name).read_text())
    directory, whole = tmp_path / kind, bytes_of(stored / kind)
    arguments = STUDY if kind == "study" else ("sweep", tmp_path / "sweep.toml")
    shutil.copytree(stored / kind, directory)
    for path in each_changed(directory):
        assert command(*arguments, "--out", directory, "--resume") == 0, path
        assert bytes_of(directory) == whole, path
        if path.parent != directory:
            assert f"{path}: damaged" in capsys.readouterr().err


def test_resume_removes_a_damaged_run_that_no_command_would_repeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    place = tmp_path / "runs" / tasks(2)[1].run / "meta.json"
    place.write_bytes(flipped(place.read_bytes(), 80))
    run_batch(tasks(1), tmp_path, resume=True, about=listed(tasks(1)))
    assert not place.parent.exists()
    assert capsys.readouterr().err == (
        f"{place}: damaged (it differs from its checksum in SHA256SUMS); this run is removed\n"
    )
    assert verify(tmp_path).problems == []


def test_many_damaged_runs_are_told_in_a_line(tmp_path: Path) -> None:
    run_batch(tasks(3), tmp_path, about=listed(tasks(3)))
    for path in tmp_path.glob("runs/*/meta.json"):
        path.write_bytes(flipped(path.read_bytes(), 80))
    with pytest.raises(StoreError, match=r"meta\.json: damaged .*; 2 more, which `sojourn verify"):
        read_results(tmp_path)


def test_the_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    run_batch(tasks(1), tmp_path)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    for directory in (tmp_path, tmp_path / "runs" / tasks(1)[0].run):
        assert subprocess.run(command, cwd=directory, capture_output=True).returncode == 0


@pytest.mark.parametrize("left", [".store.json.1", ".store.json.1.draft", "store.json"])
def test_a_store_killed_while_it_was_made_is_made(tmp_path: Path, left: str) -> None:
    (tmp_path / left).touch()
    run_batch(tasks(1), tmp_path)
    run_batch(tasks(2), tmp_path, resume=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["SHA256SUMS", "runs", "store.json"]


def test_drafts_of_ended_processes_are_swept(tmp_path: Path) -> None:
    run_batch(tasks(1), tmp_path)
    (tmp_path / ".runs.csv.999999999.draft").touch()  # above the greatest process id, 2^22
    alive = tmp_path / f".report.html.{os.getpid()}.draft"
    alive.touch()
    run_batch(tasks(1), tmp_path, resume=True)
    assert [path.name for path in tmp_path.glob(".*")] == [alive.name]


def with_values(name: str, values: pa.Array) -> Callable[[pa.Table], pa.Table]:
    """Changes a column to these values, one for each row."""
    return lambda table: table.set_column(
        table.column_names.index(name), name, values.take(pa.array([0] * len(table)))
    )


def resealed(directory: Path) -> None:
    """Makes the checksums of a directory those of its files."""
    files = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}
    files.pop(SUMS)
    (directory / SUMS).write_bytes(sums_of(files))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda table: table.drop_columns(["latency_p99_ms"]), "it has no column 'latency_p99_ms'"),
        (
            with_values("latency_p99_ms", pa.array([math.inf])),
            "a value of 'latency_p99_ms' is not finite",
        ),
        (
            with_values("latency_p99_ms", pa.array([math.nan])),
            "a value of 'latency_p99_ms' is not finite",
        ),
        (
            with_values("latency_p99_ms", pa.array(["long"])),
            "the values of 'latency_p99_ms' are of type string",
        ),
        (
            with_values("sent_packets", pa.array([None], pa.uint64())),
            "a value of 'sent_packets' is missing",
        ),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["report"],
        ["plot", "--kind", "cdf", "--out", "x.svg"],
        ["export", "--format", "csv", "--out", "x"],
    ],
)
def test_a_store_of_other_tables_is_refused_in_a_line(
    tmp_path: Path,
    cli: Cli,
    change: Callable[[pa.Table], pa.Table],
    found: str,
    command: list[str],
) -> None:
    directory = tmp_path / "out"
    sojourn.run(HOME).save(directory)
    flows = next(directory.rglob("flows.parquet"))
    flows.write_bytes(parquet_of(change(pq.read_table(flows))))
    resealed(flows.parent)
    refused = cli(command[0], directory, *command[1:])
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: {flows}: damaged ({found})"), refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("kind", "name", "before", "after", "found"),
    [
        (
            "run",
            "meta.json",
            '"warnings": [',
            '"warnings": 3, "told": [',
            "not what sojourn writes of a run",
        ),
        ("run", "meta.json", '"seed": 1', '"seed": null', "not what sojourn writes of a run"),
        ("run", "scenario.toml", "delay_ms = 9.0", "delay_ms = -9.0", "found -9"),
        ("run", "scenario.toml", "delay_ms = 9.0", "", "missing; allowed: "),
        ("run", "scenario.toml", "seed = 1\n", "", "not a complete scenario as sojourn writes it"),
        ("run", "summary.json", '"name": ', '"nome": ', "not a summary that sojourn wrote"),
        ("sweep", "runs.csv", ",", ",,", "not a list of runs as sojourn writes it"),
        ("sweep", "runs.csv", "\n", "\n\n", "not a list of runs as sojourn writes it"),
        ("sweep", "runs.csv", "run", "walk", "lists no runs"),
    ],
)
def test_what_describes_runs_is_refused_in_a_line_where_it_is_of_other_content(
    stored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    name: str,
    before: str,
    after: str,
    found: str,
) -> None:
    """Its checksum is right."""
    shutil.copytree(stored / kind, tmp_path / kind)
    path = next((tmp_path / kind).rglob(name))
    text = path.read_text()
    path.write_text(text.replace(before, after, 1))
    assert path.read_text() != text
    resealed(path.parent)
    assert command("report", tmp_path / kind, "--out", tmp_path / "page.html") == 2
    told = capsys.readouterr().err
    assert told.startswith(f"error: {tmp_path / kind}") and told.count("\n") == 1
    assert found in told


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("run", ["meta.json", "scenario.toml", "flows.parquet", SUMMARY, SUMS]),
        ("sweep", [RUN_LIST, MARKER]),
        ("study", [PLAN]),
    ],
)
def test_a_store_with_what_is_no_file_is_refused_in_a_line(
    stored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    names: Sequence[str],
) -> None:
    """Reading a device might never end, and reading a pipe never begin."""
    directory = Path(shutil.copytree(stored / kind, tmp_path / kind))
    changes: Mapping[str, Callable[[Path], object]] = {
        "found a link; allowed: a regular file": lambda path: path.symlink_to("/dev/zero"),
        "found a pipe; allowed: a regular file": os.mkfifo,
        "found a directory; allowed: a regular file": Path.mkdir,
        "found 1099511627776 bytes; allowed:": of_a_terabyte,
    }
    checked = [next(directory.rglob(name)) for name in names]
    for path, (found, change) in product(checked, changes.items()):
        path.rename(aside := tmp_path / "aside")
        change(path)
        assert command("verify", directory) == 2, path
        told = capsys.readouterr().err
        assert told.count("\n") == 1 and str(path) in told and found in told, told
        remove(path)
        aside.rename(path)
    assert command("verify", directory) == 0


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_results_are_not_read_through_links(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """They may lead to anything, even if it is as it was written."""
    directory = Path(shutil.copytree(stored / kind, tmp_path / kind))
    run = next(directory.rglob("meta.json")).parent
    for path in (run / "flows.parquet", run):
        path.rename(aside := tmp_path / "aside")
        path.symlink_to(aside)
        for arguments in (["verify"], ["report", "--out", tmp_path / "page.html"]):
            assert command(arguments[0], directory, *arguments[1:]) == 2
            told = capsys.readouterr().err
            assert told.startswith(f"error: {path}: ") and told.count("\n") == 1, told
            assert "found a link; allowed: " in told
        with pytest.raises(StoreError, match="found a link"):
            sojourn.open(directory)
        path.unlink()
        aside.rename(path)
    assert command("verify", directory) == 0


@pytest.mark.parametrize("name", ["runs", "one run"])
def test_resume_leaves_alone_what_links_lead_to(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """It sweeps drafts from the directory of runs, and replaces what is damaged there."""
    for file in ("home.toml", "sweep.toml"):
        (tmp_path / file).write_text((stored / file).read_text())
    directory = Path(shutil.copytree(stored / "sweep", tmp_path / "sweep"))
    runs = directory / "runs"
    path = runs if name == "runs" else next(runs.iterdir())
    shutil.rmtree(path)
    (tmp_path / "letters" / "mine").mkdir(parents=True)
    for letter in ("letters/.draft", "letters/mine/letter"):
        (tmp_path / letter).write_text("dear")
    path.symlink_to(tmp_path / "letters")
    before = bytes_of(tmp_path / "letters")
    status = command("sweep", tmp_path / "sweep.toml", "--out", directory, "--resume", "--quiet")
    assert bytes_of(tmp_path / "letters") == before
    told = capsys.readouterr().err
    assert f"{path}: " in told and "found a link; allowed: a directory" in told
    assert status == (2 if name == "runs" else 0)
    # A link in the place of a run has become the run.
    assert (command("verify", directory), path.is_symlink()) == (status, name == "runs")


@pytest.mark.parametrize("name", ["a\0b", "..", "a\u202eb"])
def test_checksums_of_what_is_no_name_are_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    shutil.copytree(stored / "run", tmp_path / "run")
    path = next((tmp_path / "run").rglob("meta.json")).with_name(SUMS)
    path.write_bytes(sums_of({name: b""}))
    assert command("verify", tmp_path / "run") == 2
    told = capsys.readouterr().err
    assert f"{path}: damaged (not a list of checksums" in told and told.count("\n") == 1


@pytest.mark.parametrize("line", [b"\n", b"\r", b"1,a\n"])
def test_a_list_of_too_many_runs_is_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: bytes
) -> None:
    """The lines of a file of 60 MB filled 7 GB."""
    shutil.copytree(stored / "sweep", tmp_path / "sweep")
    path = tmp_path / "sweep" / RUN_LIST
    path.write_bytes(b"seed,run\n" + line * 1_000_001)
    resealed(path.parent)
    assert command("verify", path.parent) == 2
    told = capsys.readouterr().err
    assert f"{path}: damaged (found more than 1000000 cells)" in told and told.count("\n") == 1


def test_a_run_that_is_listed_again_is_read_once(stored: Path, tmp_path: Path) -> None:
    shutil.copytree(stored / "sweep", tmp_path / "sweep")
    path = tmp_path / "sweep" / RUN_LIST
    heading, first, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(heading + first * 3)
    resealed(path.parent)
    (group,) = read_results(path.parent).groups
    assert len(group.runs) == 3 and len({id(run) for run in group.runs}) == 1


def test_a_swept_key_may_have_the_name_of_a_column(stored: Path, tmp_path: Path) -> None:
    """As `traffic` has, whose values are then tables."""
    shutil.copytree(stored / "sweep", tmp_path / "sweep")
    path = tmp_path / "sweep" / RUN_LIST
    heading, *rows = path.read_text().splitlines()
    path.write_text("\n".join([f"traffic,{heading}", *(f"1,{row}" for row in rows), ""]))
    resealed(path.parent)
    table = sojourn.open(path.parent).tidy("flows")
    assert table.column_names[:4] == ["swept_traffic", "variant", "seed", "traffic"]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_text_longer_than_any_name_is_refused(
    stored: Path, tmp_path: Path, kind: pa.DataType
) -> None:
    """A small file can hold a few that fill the memory, and say that they are short."""
    shutil.copytree(stored / "run", tmp_path / "run")
    flows = next((tmp_path / "run").rglob("flows.parquet"))
    path = flows if kind == pa.string() else flows.with_name("series.parquet")
    table = pq.read_table(path)
    column = next(field.name for field in table.schema if field.type.id == kind.id)
    text = pa.array(["a" * 100_000]).cast(table.schema.field(column).type)
    path.write_bytes(parquet_of(with_values(column, text)(table)))
    resealed(path.parent)
    with pytest.raises(DamagedError, match="a text is too long"):
        StoredRun(path.parent).table(path.stem)


def nested(key: str) -> str:
    """A JSON text deeper than a reader can go."""
    return f'{{"{key}": {"[" * 200_000}{"]" * 200_000}}}'


@pytest.mark.parametrize("plan", [None, '{"name": "$(x)"}', '{"name": [1]}', nested("name")])
def test_a_plan_of_another_version_is_not_believed(tmp_path: Path, plan: str | None) -> None:
    """Nothing checks its checksum, and the message has a command that users copy."""
    Store(tmp_path)
    marker = tmp_path / MARKER
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "version": "0.0.1"}))
    path = tmp_path / PLAN
    path.write_text(plan) if plan else path.symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"again in .*: sojourn (sweep FILE|study run '\$\(x\)') "):
        Store(tmp_path)


def of_a_terabyte(path: Path) -> None:
    """A file without any block on the disk."""
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize(
    ("kind", "name", "content"),
    [
        ("run", "meta.json", nested("version")),
        ("run", "summary.json", nested("format")),
        ("study", "study.json", nested("name")),
    ],
)
def test_json_too_deep_is_refused_in_a_line(
    stored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    name: str,
    content: str,
) -> None:
    shutil.copytree(stored / kind, tmp_path / kind)
    path = next((tmp_path / kind).rglob(name))
    path.write_text(content)
    resealed(path.parent)
    assert command("report", tmp_path / kind, "--out", tmp_path / "page.html") == 2
    told = capsys.readouterr().err
    assert str(path) in told and told.count("\n") == 1


def test_summaries_name_only_directories_within(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(stored / "run", tmp_path / "run")
    path = tmp_path / "run" / "summary.json"
    summary = json.loads(path.read_text())
    for place in ("..", ".", "/dev", "a/b"):
        summary["variants"][0]["directory"] = place
        path.write_text(json.dumps(summary))
        resealed(path.parent)
        assert command("verify", tmp_path / "run") == 2
        assert "not a summary that sojourn wrote" in capsys.readouterr().err


def test_warnings_of_strangers_are_shown_with_escapes(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(stored / "run", tmp_path / "run")
    for path in (tmp_path / "run").rglob("meta.json"):
        meta = json.loads(path.read_text())
        path.write_text(json.dumps({**meta, "warnings": ["a\x1b[2Jb\u202ec\ud800"]}))
        resealed(path.parent)
    sojourn.open(tmp_path / "run").summary()
    assert command("report", tmp_path / "run", "--out", tmp_path / "page.html") == 0
    shown = r"a\x1b[2Jb\u202ec\ud800"
    assert shown in capsys.readouterr().out and shown in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("kind", "marker"), [("run", "summary.json"), ("sweep", "store.json"), ("study", "store.json")]
)
def test_versions_of_strangers_are_shown_with_escapes(
    stored: Path, tmp_path: Path, kind: str, marker: str
) -> None:
    shutil.copytree(stored / kind, tmp_path / kind)
    path = tmp_path / kind / marker
    version = "\x1b[31m9\n\u202e\ufe0f"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    resealed(path.parent)
    with pytest.raises(StoreError) as refused:
        sojourn.open(tmp_path / kind)
    assert r"written by sojourn \x1b[31m9\n\u202e\ufe0f, whose" in str(refused.value)


def test_names_in_stores_of_strangers_are_shown_with_escapes(stored: Path, tmp_path: Path) -> None:
    """No error of a store needs to think of it."""
    shutil.copytree(stored / "sweep", tmp_path / "sweep")
    next((tmp_path / "sweep" / "runs").iterdir()).joinpath("a\x1b[2J\u202e").touch()
    with pytest.raises(StoreError, match=r"a\\x1b\[2J\\u202e: damaged"):
        require_whole(tmp_path / "sweep")
    assert str(PartsError(["a\0", "b\u2800"])) == r"a\x00; b\u2800"


def test_titles_are_shown_with_escapes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    title, shown = "a\x1b[2Jb\u202ec\x07\x7f", r"a\x1b[2Jb\u202ec\x07\x7f"
    scenario = tmp_path / "home.toml"
    scenario.write_text(toml_document({**HOME, "title": title}))
    assert command("run", scenario, "--duration", "1", "--out", tmp_path / "run", "--json") == 0
    told = capsys.readouterr().out
    assert plain(told) == told and json.loads(told)["title"] == title
    page = (tmp_path / "run" / "report.html").read_text()
    assert plain(page) == page and shown in page
    assert command("report", tmp_path / "run") == 0


def test_results_know_a_scenario_in_a_directory_whose_name_is_not_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Path(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    directory.mkdir()
    (directory / "home.toml").write_text(toml_document(HOME))
    monkeypatch.chdir(directory)
    sojourn.run("home.toml", duration_s=1).save(tmp_path / "run")
    assert verify(tmp_path / "run").problems == []


@pytest.mark.parametrize("packets", [2**53 + 1, 2**62, 2**64 - 1])
def test_counts_that_no_run_has_are_refused(
    stored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], packets: int
) -> None:
    shutil.copytree(stored / "run", tmp_path / "run")
    path = next((tmp_path / "run").rglob("latencies.parquet"))
    change = with_values("packets", pa.array([packets], pa.uint64()))
    path.write_bytes(parquet_of(change(pq.read_table(path))))
    resealed(path.parent)
    assert command("report", tmp_path / "run", "--out", tmp_path / "page.html") == 2
    told = capsys.readouterr().err
    assert "a value of 'packets' is too large" in told and told.count("\n") == 1


@pytest.mark.parametrize(
    ("table", "rows", "most"),
    [
        ("flows", 100_000, 2000),
        ("latencies", 2**22, 2**21),
        ("series", 10**6, 200_000),
        ("connections", 10**6, 100),
        ("latencies", 10**6, 0),
    ],
)
def test_a_small_file_of_many_rows_is_not_read(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str, rows: int, most: int
) -> None:
    """No run of this scenario has so many, or they would fill the memory."""
    shutil.copytree(stored / "run", tmp_path / "run")
    path = next((tmp_path / "run").rglob(f"{table}.parquet"))
    path.write_bytes(parquet_of(pq.read_table(path).take(pa.repeat(0, rows))))
    resealed(path.parent)
    assert path.stat().st_size < 200_000
    if most:
        with pytest.raises(DamagedError, match=rf"found {rows} rows; allowed: \d+ or") as refusal:
            StoredRun(path.parent).table(table)
        assert int(str(refusal.value).split("allowed: ")[1].split()[0]) < most
    else:
        assert len(StoredRun(path.parent).table(table)) == rows
        monkeypatch.setattr("sojourn.store.table_file.allowed_bytes", lambda: 2 * 10**6)
        with pytest.raises(DamagedError, match=r"found \d+ bytes .*; allowed: 2000000 or fewer"):
            StoredRun(path.parent).table(table)


def test_a_run_with_many_series_connections_and_pages_is_within_the_limits() -> None:
    """Groups of homes have a few values each, and all series of two queues."""
    dualq = {"queue": {"scheduler": {"kind": "dualq"}}}
    page = {"html_bytes": 1000, "objects": {"kind": "fixed", "per_server": 1, "bytes": 1000}}
    web = {"kind": "web", "servers": ["files"], "pause_s": 0.01, "users": 2, **page}
    homes = {f"home{number}": {"count": 1} for number in range(30)}
    result = sojourn.run(
        {
            "duration_s": 0.4,
            "upstream": {"sustained_mbps": 50, **dualq},
            "downstream": {"sustained_mbps": 50, **dualq},
            "servers": {"files": {"delay_ms": 1}},
            "homes": homes,
            "traffic": {name: {**web, "home": name} for name in homes},
            "metrics": {"series_interval_ms": 10, "connections": 2, "watch_flows": 4},
        }
    )
    assert isinstance(result, sojourn.Result)
    settings = tomllib.loads(result.scenario)
    for name in TABLES:
        assert len(result.table(name)) <= most_rows(name, settings), name
    assert len(result.connections) == most_rows("connections", settings)
    assert len(result.series) > 30 * 2 * 28 * 39 and len(result.pages) > 200


def test_a_user_opens_pages_one_after_the_other_and_a_series_has_4096_values() -> None:
    web = {"kind": "web", "pause_s": 2, "users": 3}
    scenario = {
        "duration_s": 9,
        "homes": {"ours": {"count": 1}, "others": {"count": 4}},
        "traffic": {"web": web, "call": {"kind": "stream"}},
        "metrics": {"series_interval_ms": 100, "connections": 0, "watch_flows": 0},
    }
    assert most_rows("pages", scenario) == 3 * 5 * 5
    assert most_rows("pages", {**scenario, "homes": {}}) == 3 * 5
    assert most_rows("series", scenario) == 32 * 10 * 2 * 91
    assert most_rows("series", {**scenario, "duration_s": 9000}) == 32 * 10 * 2 * 4096
    assert most_rows("packets", scenario) == 2**24


@pytest.mark.parametrize("is_packed", [True, False])
def test_a_small_file_of_long_texts_is_not_read(
    stored: Path, tmp_path: Path, is_packed: bool
) -> None:
    """They would have to be unpacked, or built from one another, to see how long they are."""
    shutil.copytree(stored / "run", tmp_path / "run")
    path = next((tmp_path / "run").rglob("flows.parquet"))
    table = with_values("traffic", pa.array(["a" * 10**6]))(pq.read_table(path))
    if is_packed:
        pq.write_table(table, path, compression="zstd")
    else:
        others = [name for name in table.column_names if name != "traffic"]
        encoding = {"traffic": "DELTA_BYTE_ARRAY"}
        pq.write_table(
            table, path, compression="none", use_dictionary=others, column_encoding=encoding
        )
    resealed(path.parent)
    assert path.stat().st_size < 2 * 10**6
    with pytest.raises(DamagedError, match="the texts of 'traffic' are packed"):
        StoredRun(path.parent).table(path.stem)


@pytest.mark.parametrize(
    ("file", "old", "new", "found"),
    [
        ("run/meta.json", '"seed": 1', '"seed": 2', "of another run than its scenario"),
        ("run/meta.json", '"duration_s": ', '"duration_s": 1', "of another run than its scenario"),
        ("run/meta.json", '"version": "', '"version": "1', "not what sojourn writes of a run"),
        ("sweep/meta.json", '"seed": ', '"seed": 1', "has seed 1"),
        ("sweep/runs.csv", ",1,", ",2,", "has seed 1"),
    ],
)
def test_labels_that_are_not_those_of_the_run_are_refused(
    stored: Path,
    tmp_path: Path,
    file: str,
    old: str,
    new: str,
    found: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind, name = file.split("/")
    shutil.copytree(stored / kind, tmp_path / kind)
    path = next((tmp_path / kind).rglob(name))
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    resealed(path.parent)
    assert command("report", tmp_path / kind, "--out", tmp_path / "page.html") == 2
    told = capsys.readouterr().err
    assert found in told and str(tmp_path / kind) in told and told.count("\n") == 1
