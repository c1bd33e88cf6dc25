"""Commands that are killed, or whose system calls fail: at some places; `make crash` tries all."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CRASH = Path(__file__).with_name("crash.py")


@pytest.mark.skipif(not shutil.which("strace"), reason="needs strace, a program of that name")
@pytest.mark.parametrize("case", ["sweep", "merge", "run again", "study"])
def test_a_disturbed_command_goes_on_to_the_same_bytes(case: str) -> None:
    command = [sys.executable, CRASH, "--case", case, "--every", "61"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("the same bytes after each") == 3
