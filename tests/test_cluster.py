"""Studies and sweeps on a Dask cluster: real processes on this machine."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from conftest import HOME, PATIENT_S, Cli, started, wait_until
from stores import bytes_of

PART = ("white2012", "--table", "3", "--duration-scale", "0.2")


class Cluster:
    """A scheduler and two workers of one thread each."""

    def __init__(self, processes: ExitStack, directory: Path) -> None:
        def start(*words: str) -> subprocess.Popen[bytes]:
            command = [sys.executable, "-m", "dask", *words, "--no-dashboard"]
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            process = subprocess.Popen(command, cwd=directory, **quiet)
            processes.callback(process.wait)
            processes.callback(process.kill)
            return process

        file = directory / "scheduler.json"
        place = ("--host", "127.0.0.1", "--port", "0")
        self.scheduler = start("scheduler", *place, "--scheduler-file", str(file))
        wait_until(lambda: is_whole(file))
        self.address = json.loads(file.read_text())["address"]
        one_thread = ("worker", self.address, "--no-nanny", "--nthreads", "1")
        self.workers = [start(*one_thread, "--host", "127.0.0.1") for _ in range(2)]


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    directory = tmp_path / "cluster"
    directory.mkdir()
    with ExitStack() as processes:
        yield Cluster(processes, directory)


def is_whole(file: Path) -> bool:
    """Has the scheduler written all of its file? It creates it first."""
    with suppress(FileNotFoundError, ValueError):
        return bool(json.loads(file.read_text()))
    return False


def study(directory: Path, *more: str) -> list[str]:
    words = ("study", "run", *PART, *more, "--out", str(directory))
    return [sys.executable, "-m", "sojourn", *words]


def runs_in(directory: Path) -> list[Path]:
    return list(directory.glob("runs/[!.]*/meta.json"))


def test_a_study_outlives_a_worker(cluster: Cluster, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    done = subprocess.run(study(here), capture_output=True, timeout=PATIENT_S)
    assert done.returncode == 0
    with started(*study(there, "--dask", cluster.address)) as process:
        # Killed with a task in hand, and others to come.
        wait_until(lambda: len(runs_in(there)) >= 2)
        cluster.workers[0].kill()
        assert cluster.workers[0].wait() < 0
        known = {run: run.stat().st_ino for run in runs_in(there)}
        assert len(known) < len(runs_in(here))
        assert process.wait() == 0
    assert bytes_of(there) == bytes_of(here)
    # What was there by then has not been written again.
    assert all(run.stat().st_ino == inode for run, inode in known.items())


def test_a_sweep_on_a_cluster(cluster: Cluster, tmp_path: Path, cli: Cli) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{HOME}"\nseeds = 2\nduration_s = 1\n')
    here, there = tmp_path / "here", tmp_path / "there"
    assert cli("sweep", sweep, "--out", here).returncode == 0
    cli.printed("sweep", sweep, "--out", there, "--dask", cluster.address)
    assert bytes_of(there) == bytes_of(here)


# Port 9, discard, is served by nobody; the other is no address.
@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_where_no_cluster_answers(tmp_path: Path, cli: Cli, address: str) -> None:
    part = ("--experiment", "D01", "--duration-scale", "0.01", "--out", tmp_path / "out")
    message = cli.refused("study", "run", "white2012", *part, "--dask", address)
    assert message.startswith(f"error: --dask {address}: no cluster answers at this address")
    assert not (tmp_path / "out").exists()


def test_a_cluster_that_is_lost_is_told_in_a_line(cluster: Cluster, tmp_path: Path) -> None:
    command = study(tmp_path / "out", "--dask", cluster.address)
    with started(*command, stderr=subprocess.PIPE) as process:
        wait_until(lambda: runs_in(tmp_path / "out"))
        cluster.scheduler.kill()
        _, printed = process.communicate()
    assert process.returncode == 2
    assert printed.startswith(f"error: --dask {cluster.address}: the cluster was lost; ")
    assert printed.count("\n") == 1


def test_a_cluster_has_its_own_workers(tmp_path: Path, cli: Cli) -> None:
    both = ("--jobs", "2", "--dask", "tcp://127.0.0.1:9", "--out", tmp_path)
    message = cli.refused("study", "run", "white2012", *both)
    assert message == "error: --jobs, --dask: found both; allowed: one of them\n"
