"""The stub of the native module says what the module holds."""

import subprocess
import sys


def test_the_stub_matches() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "sojourn._sojourn"]
    outcome = subprocess.run(command, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
