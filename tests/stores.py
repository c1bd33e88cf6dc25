"""Stores that tests write, change and seal again."""

import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sojourn
from conftest import Commands
from sojourn.base.csv_text import csv_bytes
from sojourn.base.toml_text import toml_document
from sojourn.cli.main import main as command_line
from sojourn.runs.parts import use
from sojourn.store.checksums import SUMS, sums_of
from sojourn.store.table_file import parquet_of
from sojourn.store.task import Task, task

SCENARIO = {
    "duration_s": 2,
    "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 100_000},
    "downstream": {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 100_000},
    "servers": {"files": {"delay_ms": 9}},
    "traffic": {"upload": {"kind": "transfer", "server": "files"}},
}


STUDY = (
    *("study", "run", "white2012", "--table", "7", "--experiment", "D01/C01"),
    *("--duration-scale", "0.01"),
)


def tasks(number: int) -> list[Task]:
    return [task(SCENARIO, seed=seed) for seed in range(number)]


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


def flipped(content: bytes, bit: int) -> bytes:
    changed = bytearray(content)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def with_values(name: str, values: pa.Array) -> Callable[[pa.Table], pa.Table]:
    """Changes a column to these values, one for each row."""
    return lambda table: table.set_column(
        table.column_names.index(name), name, values.take(pa.array([0] * len(table)))
    )


def resealed(directory: Path) -> None:
    """Makes the checksums of a directory those of its files."""
    names = [line[66:] for line in (directory / SUMS).read_text().splitlines()[:-1]]
    (directory / SUMS).write_bytes(sums_of({n: (directory / n).read_bytes() for n in names}))


def changed_table(path: Path, change: Callable[[pa.Table], pa.Table]) -> None:
    """Changes the table of a file, and makes its checksum right."""
    path.write_bytes(parquet_of(change(pq.read_table(path))))
    resealed(path.parent)


def command(*arguments: object) -> int | str:
    """Runs the command in this process, and returns its exit status."""
    with pytest.raises(SystemExit) as end:
        command_line([str(argument) for argument in arguments])
    use(())  # it lets the whole process choose its parts
    return end.value.code or 0


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with what `run --out`, `sweep` and `study run` write."""
    place = tmp_path_factory.mktemp("stored")
    sojourn.run({**SCENARIO, "compare": {"one": {}, "two": {"duration_s": 1}}}).save(place / "run")
    (place / "home.toml").write_text(toml_document(SCENARIO))
    (place / "sweep.toml").write_text('scenario = "home.toml"\nseeds = 2\nduration_s = 1\n')
    assert command("sweep", place / "sweep.toml", "--out", place / "sweep") == 0
    assert command(*STUDY, "--out", place / "study") == 0
    return place


Copied = Callable[[str], Path]


@pytest.fixture
def copied(stored: Path, tmp_path: Path) -> Copied:
    """Copies one of these directories, for a test that changes it."""
    return lambda kind: Path(shutil.copytree(stored / kind, tmp_path / kind))


@dataclass
class Inside(Commands):
    """Runs the command in this process, where what a test patches holds."""

    capfd: pytest.CaptureFixture[str]

    def __call__(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        self.capfd.readouterr()
        return subprocess.CompletedProcess(arguments, command(*arguments), *self.capfd.readouterr())


@pytest.fixture
def inside(capfd: pytest.CaptureFixture[str]) -> Inside:
    return Inside(capfd)
