"""What several test files use."""

import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
import sojourn
from browser import chromium_browser
from playwright.sync_api import Browser

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / "scenarios" / "home.toml"

# Enough for everything to happen once: the burst of the upload, a page or two.
SHORT_S = 10


def pcap(packets: Sequence[tuple[int, int]]) -> bytes:
    """A capture without contents, of packets of so many us and bytes."""
    frames = b"".join(struct.pack("<IIII", 7, us, 0, size) for us, size in packets)
    return struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + frames


Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Runs the command, away from the repository, as a user would."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")

    def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sojourn", *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, timeout=60, **{"cwd": elsewhere, **options}
        )

    return run


@pytest.fixture(scope="session")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home scenario without its variants."""
    path = tmp_path_factory.mktemp("scenario") / "alone.toml"
    path.write_text(HOME.read_text().partition("# The queue managers")[0])
    return path


@pytest.fixture(scope="session")
def comparison() -> sojourn.Comparison:
    """A short run of the home scenario."""
    result = sojourn.run(HOME, duration_s=SHORT_S)
    assert isinstance(result, sojourn.Comparison)
    return result


@pytest.fixture(scope="session")
def traced(alone: Path) -> sojourn.Result:
    """A short run with a packet trace."""
    result = sojourn.run(alone, duration_s=SHORT_S, set=["metrics.packet_trace=true"])
    assert isinstance(result, sojourn.Result)
    return result


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser; tests that need one are skipped where none is installed."""
    yield from chromium_browser()
