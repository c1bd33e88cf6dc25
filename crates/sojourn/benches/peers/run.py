"""CPU per forwarded data packet of Sojourn beside ns-2 and ns-3, where these are installed.

Each case runs on all of them in turn, several times over, so that what else the machine does meets
all alike; the least CPU time of each counts. ns-3, which takes minutes, runs in the first round
alone. ns-2 and ns-3 have a plain link where Sojourn has a CMTS, and take no measures. Debian has
them as `ns2`, and `libns3-dev` with `g++`.

Usage: run.py PROGRAM, which is the benchmark `packet_cost`.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

HERE = Path(__file__).parent
ROUNDS = 5
CASES = {
    "base": {"flows": 11, "mbps": 38, "limit": 2048, "access_mbps": 1000, "time": 200},
    "tiers": {
        "flows": 35,
        "rtt_ms": 80,
        "mbps": 950,
        "limit": 11_875,
        "access_mbps": 10_000,
        "window": 65_536,
        "time": 20,
    },
}
NS3_LIBRARIES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")

Run = Callable[[], tuple[float, int]]
"""Runs a case; gives CPU seconds and forwarded data packets."""


def _timed(command: list[str]) -> tuple[float, str]:
    """The CPU time of a command, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def _peer(command: list[str]) -> Run:
    def run() -> tuple[float, int]:
        cpu_s, told = _timed(command)
        return cpu_s, int(told.split()[0])

    return run


def _sojourn(program: str, case: str) -> Run:
    def run() -> tuple[float, int]:
        command = [program, "--one", f"{case} DropTail"]
        cpu_s, _, _, packets, _ = json.loads(_timed(command)[1])
        return cpu_s, packets

    return run


def _build_ns3(folder: Path) -> str | None:
    """The program for ns-3, if it can be built."""
    if not shutil.which("g++"):
        return None
    program = folder / "dumbbell"
    libraries = [f"-lns3-{name}" for name in NS3_LIBRARIES]
    source = str(HERE / "dumbbell.cc")
    command = ["g++", "-O2", "-std=c++17", "-o", str(program), source, *libraries]
    built = subprocess.run(command, capture_output=True, check=False)
    return str(program) if built.returncode == 0 else None


def _simulators(program: str, folder: Path, case: str) -> dict[str, Run]:
    keys = CASES[case].items()
    runs = {"sojourn": _sojourn(program, case)}
    if shutil.which("ns"):
        words = [f"{key}={value}" for key, value in keys]
        runs["ns-2"] = _peer(["ns", str(HERE / "dumbbell.tcl"), *words])
    if ns3 := _build_ns3(folder):
        runs["ns-3"] = _peer([ns3, *(f"--{key}={value}" for key, value in keys)])
    return runs


def main(program: str) -> None:
    """Prints the table."""
    print(f"CPU per forwarded data packet, least of {ROUNDS} runs in turn")
    print(f"{'case':<6} {'simulator':<9} {'us/pkt':>8} {'packets':>9} {'ratio':>7}")
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            runs = _simulators(program, Path(folder), case)
            done: dict[str, list[tuple[float, int]]] = {name: [] for name in runs}
            for number in range(ROUNDS):
                for name, run in runs.items():
                    if name != "ns-3" or number == 0:
                        done[name].append(run())
            cost = {name: min(cpu_s / n for cpu_s, n in all_) * 1e6 for name, all_ in done.items()}
            for name, us in cost.items():
                packets, ratio = done[name][0][1], us / cost["sojourn"]
                print(f"{case:<6} {name:<9} {us:>8.3f} {packets:>9} {ratio:>7.1f}", flush=True)
            for name in {"ns-2", "ns-3"} - set(runs):
                print(f"{case:<6} {name:<9} not installed")


if __name__ == "__main__":
    main(sys.argv[1])
