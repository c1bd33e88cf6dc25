"""What commands import, which is most of the time that a short one takes."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

HEAVY = {
    "http.server",
    "jinja2",
    "matplotlib",
    "numpy",
    "pandas",
    "pyarrow",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pydantic",
    "rich",
    "sojourn._sojourn",
    "sojourn.analysis",
    "sojourn.plot",
    "sojourn.report",
    "sojourn.store",
    "sojourn_studies",
    "typer",
}

HELP = {"pydantic", "typer"}
# The help of `init` lists queue managers, which the native module has.
ALL_HELP = {*HELP, "sojourn._sojourn", "sojourn_studies"}
SCENARIO = {*HELP, "sojourn._sojourn", "sojourn.analysis"}
RUN = {*SCENARIO, "numpy", "pyarrow", "rich"}
SWEEP = {*RUN, "pyarrow.compute", "pyarrow.parquet", "sojourn.store"}

ALLOWED = {
    "--version": {"sojourn._sojourn"},
    "--help": ALL_HELP,
    "run --help": HELP,
    "lab --help": HELP,
    "config show --help": ALL_HELP,
    "validate alone.toml": {*SCENARIO, "rich"},
    "run alone.toml --duration 1": RUN,
    "run alone.toml --duration 1 --json": RUN,
    "sweep sweep.toml": SWEEP,
}


@pytest.mark.parametrize("command", ALLOWED)
def test_commands_import_what_they_need(command: str, alone: Path, tmp_path: Path) -> None:
    (tmp_path / "alone.toml").write_text(alone.read_text())
    (tmp_path / "sweep.toml").write_text('scenario = "alone.toml"\nduration_s = 1\n')
    assert loaded(command.split(), tmp_path) & HEAVY <= ALLOWED[command]


def loaded(arguments: Sequence[str], place: Path) -> set[str]:
    """The modules that a command imports."""
    program = (
        "import sys\nfrom sojourn.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nfinally:\n    print('\\nloaded', *sys.modules)"
    )
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.rpartition("\nloaded ")[2].split())
