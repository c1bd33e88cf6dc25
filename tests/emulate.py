"""Proves emulation against the simulator: kernel TCP, pings, datagrams.

It needs root, iperf3 and a quiet machine. For each case the mean of five runs stands beside that
of five seeds. A run whose packets were too late is not judged, which is said.
"""

import argparse
import json
import random
import sys
from collections.abc import Callable, Iterator
from statistics import mean, stdev

import sojourn

LINE = """
title = "10 Mbps up, 50 Mbps down"
duration_s = 12
baseline = false
upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044, queue.limit_bytes = 125_000 }
downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }
servers.files.delay_ms = 5
"""
REAL = '[traffic.real]\nkind = "outside"\n'
UPLOAD = '[traffic.real]\nkind = "transfer"\n'
LAWS = {"drop-tail": "none", "CoDel": "codel", "DOCSIS-PIE": "docsis_pie"}
SERVER = "iperf3 -s"

Failures = list[str]


def of_upload(result: sojourn.Result) -> dict[str, float]:
    row = next(row for row in result.flows.to_pylist() if row["direction"] == "up")
    drops = row["dropped_overflow_packets"] + row["dropped_aqm_packets"]
    return {"p50": row["latency_p50_ms"], "p90": row["latency_p90_ms"], "drops": drops}


def uploads(runs: int, failures: Failures) -> None:
    """Kernel CUBIC beside the simulator's."""
    print(f"{'upload, CUBIC':20} {'p50 ms':>16} {'p90 ms':>16} {'drops':>16}   lateness p99.9")
    for name, law in LAWS.items():
        setting = {"upstream.queue.law.kind": law}
        live, late = [], []
        for seed in range(1, runs + 1):
            with sojourn.emulate(LINE + REAL, set=setting, seed=seed, server=SERVER) as line:
                line.run("iperf3 -4 -c server -t 12 -C cubic", check=True)
            late.append(line.lateness.p999_ms or 0)
            if not line.is_too_late:
                live.append(of_upload(line.result))
        several = sojourn.run(LINE + UPLOAD, set=setting, seeds=runs)
        simulated = [of_upload(one) for one in several.seeds.values()]
        if len(live) < 2:
            print(f"{name:20} too late in {runs - len(live)} of {runs} runs: not judged")
            continue
        cells = [compared(key, live, simulated, name, failures) for key in ("p50", "p90", "drops")]
        print(f"{name:20} {' '.join(f'{cell:>16}' for cell in cells)}   {max(late):.3f} ms")


def compared(
    key: str,
    live: list[dict[str, float]],
    simulated: list[dict[str, float]],
    name: str,
    failures: Failures,
) -> str:
    """Delays within 10 %, drops within two standard errors of the difference."""
    one, other = ([run[key] for run in runs] for runs in (live, simulated))
    off = abs(mean(one) - mean(other))
    error = (stdev(one) ** 2 / len(one) + stdev(other) ** 2 / len(other)) ** 0.5
    if off > (2 * error + 1 if key == "drops" else 0.1 * mean(other)):
        failures.append(f"{name}: {key} is {mean(one):.2f} live and {mean(other):.2f} simulated")
    return f"{mean(one):.2f} / {mean(other):.2f}"


def pings(count: int, failures: Failures) -> None:
    """The round trips of pings on an idle line beside those of the same packets in a simulation."""
    with sojourn.emulate(LINE + REAL) as line:
        said = line.run(f"ping -4 -c {count} -i 0.05 server", check=True).stdout
    live = [float(text.split()[0]) for text in said.split("time=")[1:]]
    simulated = list(simulated_pings(count))
    off = mean(live) - mean(simulated)
    print(f"idle ping: {mean(live):.2f} ms live, {mean(simulated):.2f} simulated")
    if abs(off) > 0.5 and not line.is_too_late:
        failures.append(f"idle ping is {off:.2f} ms off")


def simulated_pings(count: int) -> Iterator[float]:
    simulation = sojourn.Simulation(LINE + REAL, duration_s=count)
    # 84 bytes of ICMP; what is behind its header does not matter.
    ping = bytes.fromhex("450000540000000040010000c6120001c6120002") + bytes(64)
    draw = random.Random(1)
    for number in range(count):
        sent_s = number * 0.5 + 0.25 * draw.random()
        simulation.inject("real", "up", ping, at_s=sent_s)
        back_s = _arrival_s(simulation)
        simulation.inject("real", "down", ping, at_s=back_s)
        yield 1e3 * (_arrival_s(simulation) - sent_s)


def _arrival_s(simulation: sojourn.Simulation) -> float:
    while not (arrived := simulation.arrived()):
        simulation.run_until(simulation.next_wake_s)
    return arrived[0].at_s


def datagrams(failures: Failures) -> None:
    """At 1.2 times the rate the excess is lost."""
    with sojourn.emulate(LINE + REAL, server=SERVER) as line:
        client = "iperf3 -4 -u -c server -b 12M -l 1400 -t 10 --json"
        said = json.loads(line.run(client, check=True).stdout)
    lost = said["end"]["sum"]["lost_percent"]
    # An Ethernet frame has 46 bytes more than the payload: 8 of UDP, 20 of IP, 18 of Ethernet.
    # What arrives is what the line carries in 10 s and what the buffer holds then:
    # 10 Mbps * 10 s / 8 / 1446 + 125_000 / 1446 = 8731 packets.
    expected = 100 * (1 - (1.25e7 + 125_000) / 1446 / (1.5e7 / 1400))
    print(f"datagrams at 12 Mbps: {lost:.2f} % lost, expected {expected:.2f} %")
    if abs(lost - expected) > 0.5 and not line.is_too_late:
        failures.append(f"{lost:.2f} % of datagrams are lost instead of {expected:.2f} %")


def fast_download(failures: Failures) -> None:
    """500 Mbps down: what arrives, and how late."""
    fast = {"downstream.sustained_mbps": 500, "downstream.peak_mbps": 500}
    with sojourn.emulate(LINE + REAL, set=fast, server=SERVER) as line:
        said = json.loads(line.run("iperf3 -4 -R -c server -t 5 --json", check=True).stdout)
    mbps = said["end"]["sum_received"]["bits_per_second"] / 1e6
    late = line.lateness
    print(
        f"500 Mbps down: {mbps:.0f} Mbps arrive; lateness p50 {late.p50_ms}, p99.9 {late.p999_ms}"
    )
    if mbps < 400 and not line.is_too_late:
        failures.append(f"{mbps:.0f} of 500 Mbps arrive")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs: int = parser.parse_args().runs
    failures: Failures = []
    parts: list[Callable[[], None]] = [
        lambda: pings(200, failures),
        lambda: uploads(runs, failures),
        lambda: datagrams(failures),
        lambda: fast_download(failures),
    ]
    for part in parts:
        part()
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
