"""The stub of the native module says what the module holds."""

import subprocess
import sys
from pathlib import Path


def test_the_stub_matches(tmp_path: Path) -> None:
    # The stub imports nothing of the package, whose modules take most of the time.
    options = tmp_path / "mypy.ini"
    options.write_text("[mypy]\nfollow_imports = skip\n")
    # The module lists its names; that the stub has each is checked without a second list.
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("sojourn._sojourn.__all__\n")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", str(options)]
    stubtest += ["--allowlist", str(allowed)]
    outcome = subprocess.run([*stubtest, "sojourn._sojourn"], capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr
