"""CPU per forwarded data packet of Sojourn beside ns-2, ns-3 and csg-htsim, where these are there.

Each case runs on all of them in turn, several times over, so that what else the machine does meets
all alike; the least CPU time of each counts. ns-3, which takes minutes, runs in the first round
alone. They have a plain link where Sojourn has a CMTS, and take no measures. Debian has ns-2 as
`ns2`, and ns-3 as `libns3-dev`, which needs `g++`. csg-htsim is built by `make libhtsim.a` in the
folder `sim` of its sources, which the environment names as HTSIM. It runs with the links of servers
that ns-2 and ns-3 have, and bare, without them.

Usage: run.py PROGRAM, which is the benchmark `packet_cost`.
"""

import json
import os
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
        cpu_s, printed = _timed(command)
        return cpu_s, int(printed.splitlines()[-1].split()[0])

    return run


def _sojourn(program: str, case: str) -> Run:
    def run() -> tuple[float, int]:
        command = [program, "--one", f"{case} DropTail"]
        cpu_s, _, _, packets, _ = json.loads(_timed(command)[1])
        return cpu_s, packets

    return run


def _build(program: Path, source: str, *rest: str) -> str | None:
    """A peer's program, if it can be built."""
    if not shutil.which("g++"):
        return None
    command = ["g++", "-O3", "-std=c++17", "-o", str(program), str(HERE / source), *rest]
    built = subprocess.run(command, capture_output=True, check=False)
    return str(program) if built.returncode == 0 else None


def _build_ns3(folder: Path) -> str | None:
    return _build(folder / "ns3", "dumbbell.cc", *(f"-lns3-{name}" for name in NS3_LIBRARIES))


def _build_htsim(folder: Path) -> str | None:
    sim = os.environ.get("HTSIM")
    if not sim:
        return None
    return _build(folder / "htsim", "dumbbell_htsim.cc", f"-I{sim}", f"{sim}/libhtsim.a")


def _simulators(program: str, folder: Path, case: str) -> dict[str, Run]:
    keys = CASES[case].items()
    runs = {"sojourn": _sojourn(program, case)}
    words = [f"{key}={value}" for key, value in keys]
    if htsim := _build_htsim(folder):
        runs["htsim"] = _peer([htsim, *words])
        bare = [word for word in words if not word.startswith("access")]
        runs["htsim bare"] = _peer([htsim, *bare])
    if shutil.which("ns"):
        runs["ns-2"] = _peer(["ns", str(HERE / "dumbbell.tcl"), *words])
    if ns3 := _build_ns3(folder):
        runs["ns-3"] = _peer([ns3, *(f"--{key}={value}" for key, value in keys)])
    return runs


def main(program: str) -> None:
    """Prints the table."""
    print(f"CPU per forwarded data packet, least of {ROUNDS} runs in turn")
    print(f"{'case':<6} {'simulator':<10} {'us/pkt':>8} {'packets':>9} {'ratio':>7}")
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
                print(f"{case:<6} {name:<10} {us:>8.3f} {packets:>9} {ratio:>7.2f}", flush=True)
            for name in sorted({"htsim", "ns-2", "ns-3"} - set(runs)):
                print(f"{case:<6} {name:<10} not there")


if __name__ == "__main__":
    main(sys.argv[1])
