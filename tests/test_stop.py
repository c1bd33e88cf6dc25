"""Ctrl-C and SIGTERM end a command at once."""

import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import HOME, PATIENT_S, Cli, read_until, started, wait_until


@pytest.mark.parametrize(
    ("number", "after_s", "status"),
    [
        (signal.SIGINT, 0, 130),
        (signal.SIGINT, 0.05, 130),
        (signal.SIGINT, 0.5, 130),
        (signal.SIGTERM, 0, 143),
    ],
)
def test_a_stopped_run_leaves_nothing(
    tmp_path: Path, number: int, after_s: float, status: int
) -> None:
    out = tmp_path / "out"
    terminal, its_end = pty.openpty()
    command = (sys.executable, "-m", "sojourn", "run", HOME, "--duration", "1e6", "--out", out)
    with started(*command, stdout=subprocess.PIPE, stderr=its_end) as process:
        os.close(its_end)
        # The progress bar shows that the run is under way.
        shown = read_until(terminal, b"simulated")
        time.sleep(after_s)
        process.send_signal(number)
        shown += read_until(terminal, b"nothing was written")
        assert process.wait() == status
        assert process.stdout.read() == ""
    os.close(terminal)
    assert b"stopped; nothing was written" in shown
    assert b"Traceback" not in shown
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_sweep_says_what_is_kept(
    tmp_path: Path, alone: Path, cli: Cli, number: int, status: int
) -> None:
    """One run that is done in no time, and one that never is."""
    out, sweep = tmp_path / "out", tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{alone}"\n[keys]\nduration_s = [0.1, 1e6]')
    assert ended("sweep", sweep, out, "runs/[!.]*/meta.json", number) == (
        status,
        f"stopped; 1 of 2 runs are saved in {out}; "
        "repeat the command with --resume to run the rest\n",
    )
    # Both can be distinguished.
    first, second = (out / "runs.csv").read_text().splitlines()[1:]
    (kept,) = (out / "runs").iterdir()
    assert first.startswith("0.1,") and first.endswith(f",{kept.name}")
    assert second.startswith("1000000,")
    assert (
        f"{out}: 1 of 2 runs are missing; repeat the command with --resume"
        in cli("report", out).stderr
    )


def test_a_stopped_search_says_what_is_kept(tmp_path: Path, alone: Path, cli: Cli) -> None:
    """One run that is done in no time, and one that never is."""
    out = tmp_path / "out"
    search = ("find", alone, "--key", "duration_s", "--from", 0.1, "--to", 1e6, "--seeds", 1)
    command = (*search, "--until", "game p99 < 1")
    status, printed = ended(*command, out, "runs/[!.]*/meta.json", signal.SIGINT)
    assert status == 130
    assert printed.startswith("stopped; 1 of ")  # 2, or 1 if the other was still to come
    assert f"runs are saved in {out}; repeat the command with --resume to run the rest" in printed
    assert f"{out}: incomplete, runs.csv is missing" in cli("report", out).stderr


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stopped_study_is_known(tmp_path: Path, cli: Cli, number: int, status: int) -> None:
    out = tmp_path / "out"
    part = ("--table", "7", "--experiment", "D01/C01")
    endless = (*part, "--duration-scale", "1000")
    assert ended("study", "run", "white2012", *endless, out, "runs.csv", number) == (
        status,
        f"stopped; 0 of 2 runs are saved in {out}; "
        "repeat the command with --resume to run the rest\n",
    )
    score = cli.refused("study", "score", out)
    assert f"{out}: 2 of 2 runs are missing; repeat the command with --resume" in score
    # As nothing came of it, runs of another length may take its place.
    cli.printed("study", "run", "white2012", *part, "--duration-scale", "0.01", "--out", out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_waits_for_an_import(tmp_path: Path, number: int) -> None:
    """What is raised within an import may leave its lock held, and other threads waiting."""
    (tmp_path / "slow.py").write_text(f"import os; os.kill(os.getpid(), {int(number)})")
    program = (
        "import time\nfrom sojourn.cli import main as cli\n"
        "def run(_):\n    import slow\n    print('imported', flush=True)\n"
        "    time.sleep(9)\n"
        "cli._run = run\ncli.main([])"
    )
    found = printed_by(program, place=tmp_path)
    assert found == (128 + number, "imported\n", "stopped; nothing was written\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("module", "printed"),
    [
        ("sojourn.cli.main", ""),
        ("sojourn.base.plain_text", ""),
        ("sojourn.cli.app", "stopped; nothing was written\n"),
    ],
)
def test_a_signal_during_imports_ends_the_command_quietly(
    module: str, printed: str, number: int
) -> None:
    """The first second of a command is imports."""
    program = f"""
import os, sys
class Finder:
    def find_spec(name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), {int(number)})
sys.meta_path.insert(0, Finder)
from sojourn.cli.start import start
start()
"""
    assert printed_by(program, "validate", HOME) == (128 + number, "", printed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_at_the_end_leaves_no_traceback(number: int) -> None:
    """The interpreter waits for threads when the command has done its work."""
    program = f"""
import os, time
from threading import Thread, main_thread
from sojourn.cli import main as cli
def late():
    main_thread().join()
    os.kill(os.getpid(), {int(number)})
    time.sleep(9)
cli._run = lambda _: Thread(target=late).start()
cli.main([])
"""
    assert printed_by(program) == (-number, "", "")


def test_a_command_ignores_what_its_parent_ignores() -> None:
    """As background jobs of a shell ignore Ctrl-C, and those of `nohup` SIGHUP."""
    program = """
import os, signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
from sojourn.cli import main as cli, start
cli._run = lambda _: os.kill(os.getpid(), signal.SIGINT)
start.start()
"""
    assert printed_by(program) == (0, "", "")


def printed_by(program: str, *arguments: object, place: Path | None = None) -> tuple[int, str, str]:
    """Status, stdout and stderr of a program."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENT_S)
    return done.returncode, done.stdout, done.stderr


def ended(*arguments: object) -> tuple[int, str]:
    """Status and stderr of a command that gets a signal when a file is there."""
    *command, out, pattern, number = arguments
    command = (sys.executable, "-m", "sojourn", *command, "--out", out)
    with started(*command, stderr=subprocess.PIPE) as process:
        wait_until(lambda: process.poll() is not None or [*out.glob(pattern)])
        assert process.poll() is None
        process.send_signal(number)
        return process.wait(), process.stderr.read()
