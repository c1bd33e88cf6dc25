"""Kills commands, and makes their system calls fail, at every place where they change files.

`python tests/crash.py` takes half an hour; `--every 9` tries each ninth place. After each kill the
files must be the old ones, the new ones, or be refused; the repeated command must then give the
same bytes as an undisturbed one, with nothing left over. strace (https://strace.io) kills. The
process is forked for each place, since starting Python takes longer than what is tested.
"""

import argparse
import ctypes
import importlib
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass
from hashlib import sha256
from io import StringIO
from itertools import count
from pathlib import Path
from typing import NoReturn

import sojourn
import sojourn_studies
from sojourn.cli.errors import DEFECT
from sojourn.cli.main import main as command_line
from sojourn.report import html
from sojourn.store import find, write
from sojourn.store.checksums import SUMS

# Those that a system lacks have a question mark.
CHANGES = (
    "openat,?creat,write,?pwrite64,?writev,fsync,fdatasync,syncfs,ftruncate,?mkdir,mkdirat,"
    "?rename,?renameat,renameat2,?unlink,unlinkat,?rmdir,?link,linkat"
)

SCENARIO = """
duration_s = 0.2
upstream = { sustained_mbps = 5, peak_mbps = 20, burst_bytes = 100_000 }
downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }
servers.files.delay_ms = 9
traffic.upload = { kind = "transfer", server = "files" }
"""
FIND = (
    "find home.toml --key upstream.sustained_mbps --from 2 --to 5 --step 2 --seeds 2 "
    "--until upload>0 --quiet"
)

FAULTS = {
    # Between two system calls files do not change, so this is every moment.
    "kill": f"{CHANGES}:signal=KILL",
    "full disk": "write,?pwrite64,?writev,fsync,syncfs,?mkdir,mkdirat,?rename,renameat2:"
    "error=ENOSPC",
    "refused": "openat,?mkdir,mkdirat,?rename,renameat2,?unlink,unlinkat,?rmdir:error=EACCES",
}


@dataclass(frozen=True)
class Case:
    """A command that is disturbed, and how it is repeated."""

    command: str
    option: str = ""
    """What is added when it is repeated."""
    before: Sequence[str] = ()
    """What filled the directory before."""
    is_whole: bool = False
    """Are the files the old or the new ones at any time?"""


STUDY = "study run white2012 --table 7 --experiment D01/C01 --duration-scale 0.001"
SWEEP = "sweep sweep.toml"
CASES = {
    "sweep": Case(f"{SWEEP} --out out", "--resume"),
    "sweep again": Case(f"{SWEEP} --out out", "--resume", before=[f"{SWEEP} --out out"]),
    "shard": Case(f"{SWEEP} --shard 2/2 --out out", "--resume"),
    "merge": Case(
        "merge 1 2 --out out",
        before=[f"{SWEEP} --shard {number}/2 --out {number}" for number in (1, 2)],
        is_whole=True,
    ),
    "run": Case("run home.toml --out out"),
    "run again": Case(
        "run home.toml --out out --overwrite",
        before=["run home.toml --out out --seed 7"],
        is_whole=True,
    ),
    "find": Case(f"{FIND} --out out", "--resume"),
    "study": Case(f"{STUDY} --out out", "--resume"),
    "report": Case(
        "report out --out new/page.html", before=["run home.toml --out out"], is_whole=True
    ),
}


class Failed(Exception):
    """A command did not do what it should after a fault."""


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    """Negative: the signal that killed it."""
    printed: str
    is_disturbed: bool
    """Did strace do what it should?"""
    is_silenced: bool
    """Did the fault meet the message itself? What commands print goes to the full disk too."""


Contents = Mapping[str, str]
"""The checksum of each file below a directory."""


def disturb(case: Case, fault: str, every: int, place: Path) -> int:
    """Repeats a case with the fault at each place; returns how many places were tried."""
    start, whole, tried = place / "start", place / "whole", place / "tried"
    start.mkdir(parents=True)
    (start / "home.toml").write_text(SCENARIO)
    (start / "sweep.toml").write_text('scenario = "home.toml"\nseeds = 2\n')
    for earlier in case.before:
        _require(run(earlier, start))
    shutil.copytree(start, whole)
    _require(run(case.command, whole))
    old, new = contents(start), contents(whole)
    for number in count(1, every):
        shutil.rmtree(tried, ignore_errors=True)
        shutil.copytree(start, tried)
        ended = run(case.command, tried, f"{FAULTS[fault]}:when={number}")
        if not ended.is_disturbed:
            return (number - 1) // every
        try:
            _check(case, ended, old, new, tried)
            _require(run(f"{case.command} {case.option}", tried))
            _same(contents(tried), new)
        except Failed as failure:
            printed = f"{case.command}\n{fault} at place {number}: {failure}\n{ended.printed}"
            raise Failed(printed) from None
    raise AssertionError("the places end")


def contents(directory: Path) -> Contents:
    """What is below a directory."""
    return {
        path.relative_to(directory).as_posix(): sha256(path.read_bytes()).hexdigest()
        for path in directory.rglob("*")
        if path.is_file()
    }


def _check(case: Case, ended: Ended, old: Contents, new: Contents, tried: Path) -> None:
    """Checks how a disturbed command ended, and which files there are."""
    if ended.status not in (-signal.SIGKILL, 0, 2) or "Traceback" in ended.printed:
        raise Failed(f"status {ended.status}")
    if ended.status == 2 and "error: " not in ended.printed and not ended.is_silenced:
        raise Failed("status 2 without a message")
    there = {name: sum for name, sum in contents(tried).items() if not _is_temporary(name)}
    if case.is_whole and there not in (old, new):
        raise Failed("neither the old files nor the new ones are there")
    verified = run("verify out", tried)
    if verified.status not in (0, 2) or "Traceback" in verified.printed:
        raise Failed(f"verify: status {verified.status}\n{verified.printed}")
    # The checksums of a study that lacks its cells are neither the old nor the new ones.
    results = {item for item in there.items() if not item[0].endswith(SUMS)}
    if verified.status == 0 and not results <= {*old.items(), *new.items()}:
        raise Failed("files differ, and verify does not notice")


def _is_temporary(name: str) -> bool:
    return ".draft" in name or name.endswith(".lock")


def _require(ended: Ended) -> None:
    if ended.status:
        raise Failed(f"status {ended.status} without a fault:\n{ended.printed}")


def _same(there: Contents, expected: Contents) -> None:
    if wrong := sorted(name for name, _ in there.items() ^ expected.items()):
        raise Failed(f"after the command was repeated, these differ: {', '.join(set(wrong))}")


def run(arguments: str, directory: Path, fault: str = "") -> Ended:
    """Runs a command in a directory, in a process of its own, under a fault of strace."""
    printed, trace = directory.with_suffix(".log"), directory.with_suffix(".trace")
    held, go = os.pipe()
    ready, begun = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(go)
        _become(directory, printed)
        os.close(begun)
        os.read(held, 1)
        _run_here(arguments.split())
    os.close(held)
    os.close(begun)
    # Until it closes its end: the fault may not meet what the process does before its command.
    os.read(ready, 1)
    os.close(ready)
    tracer = _tracer(process, fault, trace) if fault else None
    os.close(go)
    _, status = os.waitpid(process, 0)
    if tracer:
        tracer.communicate()
    injected = [line for line in _lines(trace) if "INJECTED" in line] if tracer else []
    is_silenced = any('write(2, "error: ' in line for line in injected)
    status = os.waitstatus_to_exitcode(status)
    is_disturbed = bool(injected) or status == -signal.SIGKILL
    return Ended(status, printed.read_text(), is_disturbed, is_silenced)


def _lines(trace: Path) -> list[str]:
    return trace.read_text("utf-8", "replace").splitlines()


def _become(directory: Path, printed: Path) -> None:
    """Makes this process one that strace may trace, and puts it into the directory."""
    any_process = -1
    ctypes.CDLL(None).prctl(0x59616D61, any_process, 0, 0, 0)  # PR_SET_PTRACER
    out = os.open(printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.chdir(directory)


def _run_here(arguments: Sequence[str]) -> NoReturn:
    """Runs a command and ends this process as Python's exit would."""
    status: int | str | None = DEFECT
    try:
        command_line(arguments)
    except SystemExit as end:
        status = end.code
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(int(status or 0))


def _tracer(process: int, fault: str, trace: Path) -> "subprocess.Popen[str]":
    """A running strace that is attached to a process."""
    calls = fault.partition(":")[0]
    command = ["strace", "-f", "-o", trace, "-e", f"trace={calls}", "-e", f"inject={fault}"]
    tracer = subprocess.Popen(
        [*map(str, command), "-p", str(process)], stderr=subprocess.PIPE, text=True
    )
    assert tracer.stderr
    printed = tracer.stderr.readline()
    if "attached" not in printed:
        raise SystemExit(f"strace cannot trace a process: {printed}")
    return tracer


def _import_all() -> None:
    """Loads what a command would load, so that its own calls are counted alone."""
    for package in (sojourn, sojourn_studies):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    # Typer loads some of its modules with the first command.
    with redirect_stderr(StringIO()), suppress(SystemExit):
        command_line(["sweep", "missing.toml", "--out", "missing", "--resume"])


def _draw_nothing() -> None:
    """Pages without figures: drawing takes seconds, and no file changes meanwhile."""
    write.report_of = lambda results: f"<p>{list(results.groups)}"  # type: ignore[assignment]
    write.latency_cdf_svg = lambda results: b"<svg/>"  # type: ignore[assignment]
    find.picture = lambda chart, format, columns: b"<svg/>"  # type: ignore[assignment]
    html.report_of = lambda results: f"<p>{results.groups}"  # type: ignore[assignment]


def main() -> None:
    """Tries all cases, or some."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="try each so many-th place")
    parser.add_argument("--case", choices=CASES, action="append", help="a case; default: all")
    options = parser.parse_args()
    _import_all()
    _draw_nothing()
    for name in options.case or CASES:
        for fault in FAULTS:
            with tempfile.TemporaryDirectory() as place:
                places = disturb(CASES[name], fault, options.every, Path(place))
            print(f"{name}, {fault}: {places} places, the same bytes after each", flush=True)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"FAILED {failure}")
