"""Stores of runs: how they are written, resumed and read."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb
import polars as pl
import pytest
import sojourn
from conftest import PATIENT_S, Cli, wait_until
from sojourn.base.toml_text import toml_document
from sojourn.store.batch import BatchStopped, run_batch
from sojourn.store.checksums import StoreError
from sojourn.store.store import Store, held_for_runs
from sojourn.store.task import SCALARS, Ran, Task
from sojourn.store.verify import verify
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.running import run_plan
from stores import SCENARIO, bytes_of, tasks


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
        stored = (tmp_path / "killed" / name).read_bytes()
        assert stored == (tmp_path / "unbroken" / name).read_bytes()
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
    message = cli.refused("study", "run", "white2012", "--table", "3", "--out", tmp_path)
    assert "holds other files" in message
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


@contextmanager
def full_disk(at: str, directory: Path, place: Path, saved: str) -> Iterator[None]:
    """No file below that name can be written: says where, and what is saved in the directory."""
    whole = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if at in str(path):
            raise OSError(28, "No space left on device")
        return whole(path, content)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(BatchStopped) as stop:
        patch.setattr(Path, "write_bytes", full)
        yield
    assert stop.value.status == 2
    assert str(stop.value) == (
        f"error: cannot write {place}: No space left on device; "
        f"{saved} runs are saved in {directory}; repeat the command with --resume to run the rest"
    )


def test_a_full_disk_says_what_is_kept(tmp_path: Path) -> None:
    with full_disk(tasks(2)[1].run, tmp_path, tmp_path, "1 of 2"):
        run_batch(tasks(2), tmp_path, jobs=1)
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


def test_a_disk_that_is_full_at_the_last_says_that_all_is_kept(tmp_path: Path) -> None:
    plan = Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.01)
    with full_disk("cells.csv", tmp_path, tmp_path / "cells.csv", "2 of 2"):
        run_plan(plan, tmp_path)


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


def test_results_know_a_scenario_in_a_directory_whose_name_is_not_utf_8(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = Path(os.fsdecode(bytes(tmp_path) + b"/\xff"))
    directory.mkdir()
    (directory / "home.toml").write_text(toml_document(SCENARIO))
    monkeypatch.chdir(directory)
    sojourn.run("home.toml", duration_s=1).save(tmp_path / "run")
    assert verify(tmp_path / "run").problems == []
