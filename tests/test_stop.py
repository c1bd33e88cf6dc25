"""Ctrl-C ends a run at once."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HOME


@pytest.mark.parametrize("after_s", [0, 0.05, 0.5])
def test_ctrl_c(tmp_path: Path, after_s: float) -> None:
    out = tmp_path / "out"
    terminal, its_end = pty.openpty()
    command = [sys.executable, "-m", "sojourn", "run", HOME, "--duration", "1e6", "--out", out]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its_end) as process:
        os.close(its_end)
        # The progress bar tells that the run is under way.
        shown = read_until(terminal, b"simulated")
        time.sleep(after_s)
        start = time.monotonic()
        process.send_signal(signal.SIGINT)
        shown += read_until(terminal, b"nothing was written")
        assert process.wait(timeout=10) == 130
        assert time.monotonic() - start < 2
        assert process.stdout.read() == b""
    os.close(terminal)
    assert b"stopped; nothing was written" in shown
    assert b"Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


def read_until(terminal: int, words: bytes) -> bytes:
    shown = b""
    while words not in shown:
        shown += os.read(terminal, 4096)
    return shown
