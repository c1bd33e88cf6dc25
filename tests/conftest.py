"""What several test files use."""

import fcntl
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sojourn
from browser import PATIENT_MS, chromium_browser
from playwright.sync_api import Browser
from sojourn.analysis.groups import Results

pytest_plugins = ["lab_page", "stores"]

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "scenarios" / "home.toml"
VARIANTS = ["BufferBloat", "Buffer Control", "CoDel", "SFQ-CoDel", "DOCSIS-PIE", "idle line"]

PATIENT_S = PATIENT_MS // 1000

# Enough for everything to happen once: the burst of the upload, a page or two.
SHORT_S = 10


def pytest_configure() -> None:
    # A shell makes its background jobs ignore Ctrl-C, and what tests start would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pcap(packets: Sequence[tuple[int, int]]) -> bytes:
    """A capture without contents, of packets of so many us and bytes."""
    frames = b"".join(struct.pack("<IIII", 7, us, 0, size) for us, size in packets)
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + frames


class Commands:
    """Runs commands, in whatever way, and looks at what they come to."""

    def printed(self, *arguments: object, **options: object) -> str:
        """What a command prints that succeeds without a word on stderr."""
        done = self(*arguments, **options)
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout

    def refused(self, *arguments: object, **options: object) -> str:
        """The line that says what is wrong with a command, which prints nothing else."""
        done = self(*arguments, **options)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done
        assert done.stderr.startswith("error: ")
        return done.stderr


@dataclass
class Cli(Commands):
    """Runs the command, away from the repository, as a user would."""

    forked: Sequence[str]
    elsewhere: Path

    def __call__(self, *arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        # An environment may be for the start of the interpreter, and limits are for its process.
        own = {"env", "preexec_fn"} & options.keys()
        start = [sys.executable, "-m", "sojourn"] if own else self.forked
        typed = [*start, *map(str, arguments)]
        options = {"cwd": self.elsewhere, "timeout": PATIENT_S, **options}
        return subprocess.run(typed, capture_output=True, text=True, **options)


def warning_data(message: str, path: str = "") -> dict[str, object]:
    """A warning as results have it."""
    return {"code": "idle-key", "path": path, "message": message, "values": {}, "remedy": {}}


@contextmanager
def started(*command: object, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process that ends with the block, or when it has taken too long: no test waits for it."""
    with subprocess.Popen([*map(str, command)], text=True, **options) as process:
        limit = threading.Timer(PATIENT_S, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


def wait_until(is_so: Callable[[], object]) -> None:
    """Waits for what another process or thread does."""
    deadline = time.monotonic() + PATIENT_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def read_until(terminal: int, words: bytes) -> bytes:
    """What a terminal is shown up to these words, which may come in pieces.

    Raises `OSError` when the process that writes there has ended.
    """
    shown = b""
    while words not in shown:
        shown += os.read(terminal, 4096)
    return shown


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for what one worker makes and all workers of this session read."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def made_once(directory: Path) -> Iterator[bool]:
    """Holds a lock on a directory of `shared`; true for the worker that is to make it."""
    with directory.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield not directory.exists()


@pytest.fixture(scope="session")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The words of the command, for processes that need not import the package again."""
    socket = str(tmp_path_factory.mktemp("commands") / "socket")
    program = str(Path(__file__).with_name("commands.py"))
    typed = [sys.executable, program, "serve", socket]
    with subprocess.Popen(typed, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdout and server.stdout.readline() == b"ready\n"
        yield [sys.executable, "-I", "-S", program, "ask", socket]
        server.communicate(timeout=PATIENT_S)


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory, forked: list[str]) -> Cli:
    return Cli(forked, tmp_path_factory.mktemp("elsewhere"))


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home scenario without its variants."""
    path = tmp_path_factory.mktemp("scenario") / "alone.toml"
    path.write_text(HOME.read_text().partition("# The queue managers")[0])
    return path


@pytest.fixture(scope="session")
def comparison() -> sojourn.Comparison:
    """A short run of the home scenario."""
    return sojourn.run(HOME, duration_s=SHORT_S)


@pytest.fixture(scope="session")
def results(comparison: sojourn.Comparison) -> Results:
    return Results.of(comparison)


@pytest.fixture(scope="session")
def saved(comparison: sojourn.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What that run writes to a directory, for tests that change nothing there."""
    directory = tmp_path_factory.mktemp("saved") / "deep" / "out"
    comparison.save(directory)
    return directory


@pytest.fixture(scope="session")
def traced(alone: Path) -> sojourn.Result:
    """A short run with both traces."""
    traces = {"metrics.packet_trace": True, "metrics.modem_trace": True}
    return sojourn.run(alone, duration_s=SHORT_S, set=traces)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser; tests that need one are skipped where none is installed."""
    yield from chromium_browser()
