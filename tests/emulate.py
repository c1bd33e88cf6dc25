"""Proves emulation against the simulator: kernel TCP, pings, datagrams, a sender of L4S.

It needs root, iperf3 and a quiet machine. For each case the mean of five runs stands beside that
of five seeds. A run whose packets were too late is not judged but repeated, which is said.
"""

import argparse
import json
import random
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from statistics import mean, stdev
from tempfile import TemporaryDirectory
from typing import Any

import slowing_sender
import sojourn
from slowing_sender import DATAGRAM_BYTES, ECT1, PORT, SlowingSender

DURATION_S = 12
LINE = f"""
title = "10 Mbps up, 50 Mbps down"
duration_s = {DURATION_S}
baseline = false
upstream.queue.limit_bytes = 125_000
upstream.sustained_mbps = 10
upstream.peak_mbps = 10
upstream.burst_bytes = 3044
downstream = {{ sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }}
servers.files.delay_ms = 5
"""
REAL = '[traffic.real]\nkind = "outside"\n'
UPLOAD = '[traffic.real]\nkind = "transfer"\n'
BESIDE = REAL + '[traffic.beside]\nkind = "transfer"\n'
MODEM, ROUTER = "upstream", "router upstream"
CAKE = {"rate_mbps": 9, "queue": {"scheduler": {"kind": "cake"}}}
LAWS: dict[str, tuple[str, dict[str, Any]]] = {
    "drop-tail": (MODEM, {"upstream.queue.law.kind": "none"}),
    "CoDel": (MODEM, {"upstream.queue.law.kind": "codel"}),
    "DOCSIS-PIE": (MODEM, {"upstream.queue.law.kind": "docsis_pie"}),
    "CAKE, router": (ROUTER, {"router.upstream": CAKE}),
}
CONTROLS = {"cubic": "cubic", "reno": "reno", "bbr": "bbr1"}
LOW_LATENCY: dict[str, dict[str, Any]] = {
    "Low Latency DOCSIS": {"upstream.queue.scheduler.kind": "low_latency"},
    "DualQ": {"upstream.queue.scheduler.kind": "dualq", "upstream.modem.kind": "link"},
}
SERVER = "iperf3 -s"
SLOWING = [sys.executable, slowing_sender.__file__]

STEP = 0.1
"""Delays are read from histograms, and have steps of at most a tenth of a millisecond."""

Failures = list[str]
Measures = Mapping[str, float]


def of_queue(result: sojourn.Result, name: str) -> Measures:
    """What a queue did: delays in ms; drops and marks of a thousand packets."""
    row = next(row for row in result.queues.to_pylist() if row["queue"] == name)
    drops = row["dropped_overflow_packets"] + row["dropped_aqm_packets"]
    came = row["departed_packets"] + drops
    return {
        "p50": row["sojourn_p50_ms"],
        "p90": row["sojourn_p90_ms"],
        "drops": 1000 * drops / came,
        "marks": 1000 * row["marked_packets"] / came,
    }


Run = Callable[[int], sojourn.Emulation]


def several(runs: int, run: Run) -> tuple[list[sojourn.Result], str]:
    """The results of runs that were in time, in twice as many tries, and how late all were."""
    ended: list[sojourn.Emulation] = []
    in_time: list[sojourn.Result] = []
    while len(in_time) < runs and len(ended) < 2 * runs:
        ended.append(run(len(ended) + 1))
        if not ended[-1].is_too_late:
            in_time.append(ended[-1].result)
    late_ms = max(one.lateness.p999_ms or 0 for one in ended)
    too_late = len(ended) - len(in_time)
    return in_time, f"{late_ms:.3f} ms" + f", {too_late} too late" * bool(too_late)


def uploads(runs: int, failures: Failures) -> None:
    """Kernel TCP beside the simulator's, one connection and ten, IPv4 and IPv6."""
    print(f"{'upload':26} {'p50 ms':>16} {'p90 ms':>16} {'drops, 1/1000':>16}   lateness p99.9")
    for law in LAWS:
        for control in CONTROLS:
            upload(f"{law}, {control}", law, control, 1, "-4", runs, failures)
    for law in LAWS:
        upload(f"{law}, ten, IPv6", law, "cubic", 10, "-6", runs, failures)


def upload(
    name: str, law: str, control: str, flows: int, ip: str, runs: int, failures: Failures
) -> None:
    queue, settings = LAWS[law]
    client = f"iperf3 {ip} -c server -t {DURATION_S} -C {control} -P {flows}"

    def run(seed: int) -> sojourn.Emulation:
        with sojourn.emulate(LINE + REAL, set=settings, seed=seed, server=SERVER) as line:
            line.run(client, check=True)
        return line

    alike = {
        "traffic.real.tcp.congestion_control.kind": CONTROLS[control],
        "traffic.real.connections": flows,
    }
    live, late = several(runs, run)
    simulated = sojourn.run(LINE + UPLOAD, set={**settings, **alike}, seeds=runs)
    assert isinstance(simulated, sojourn.Result)
    compare(
        name,
        ("p50", "p90", "drops"),
        [of_queue(one, queue) for one in live],
        [of_queue(one, queue) for one in simulated.seeds.values()],
        late,
        failures,
    )


def compare(
    name: str,
    keys: tuple[str, ...],
    live: list[Measures],
    simulated: list[Measures],
    late: str,
    failures: Failures,
) -> None:
    """Prints a line; means agree within two standard errors or a tenth, drops within an eighth."""
    if len(live) < 2:
        print(f"{name:26} not judged: {late}")
        return
    cells = []
    for key in keys:
        one, other = ([run[key] for run in runs] for runs in (live, simulated))
        error = (stdev(one) ** 2 / len(one) + stdev(other) ** 2 / len(other)) ** 0.5
        # Where many are lost the kernel loses less (docs/validation.md).
        allowed = max(2 * error, mean(other) * (0.125 if key == "drops" else 0.1))
        if abs(mean(one) - mean(other)) > allowed + STEP:
            failures.append(f"{name}: {key} is {mean(one):.2f} live, {mean(other):.2f} simulated")
        cells.append(f"{mean(one):.2f} / {mean(other):.2f}")
    print(f"{name:26} {' '.join(f'{cell:>16}' for cell in cells)}   {late}")


def slowing(runs: int, failures: Failures) -> None:
    """A sender that slows at marks, in the low-latency queue beside an upload of the simulator."""
    print(f"{'sender that slows':26} {'p50 ms':>16} {'p90 ms':>16} {'marks, 1/1000':>16}")
    for name, settings in LOW_LATENCY.items():

        def run(seed: int, settings: Mapping[str, Any] = settings) -> sojourn.Emulation:
            server = [*SLOWING, "serve"]
            with sojourn.emulate(LINE + BESIDE, set=settings, seed=seed, server=server) as line:
                line.run([*SLOWING, "send", "server", str(DURATION_S)], check=True)
            return line

        live, late = several(runs, run)
        simulated = [simulated_slowing(settings, seed) for seed in range(1, runs + 1)]
        low = f"{MODEM} low_latency"
        compare(
            name,
            ("p50", "p90", "marks"),
            [of_queue(one, low) for one in live],
            [of_queue(one, low) for one in simulated],
            late,
            failures,
        )


def datagram(ecn: int, size: int, port: int = PORT) -> bytes:
    """The headers of a datagram of IPv4."""
    home, server = bytes([198, 18, 0, 1]), bytes([198, 18, 0, 2])
    ip = struct.pack(">BBHIBBH", 0x45, ecn, size, 0, 64, 17, 0) + home + server
    return ip + struct.pack(">HHHH", port, PORT, size - 20, 0)


def simulated_slowing(settings: Mapping[str, Any], seed: int) -> sojourn.Result:
    """The same sender in simulated time."""
    simulation = sojourn.Simulation(LINE + BESIDE, set=dict(settings), seed=seed)
    sender = SlowingSender()
    reports: dict[int, bool] = {}
    while sender.next_s < DURATION_S:
        if sender.next_s <= simulation.next_wake_s:
            packet = datagram(ECT1, DATAGRAM_BYTES)
            simulation.inject("real", "up", packet, at_s=sender.next_s)
            sender.sent()
            continue
        simulation.run_until(simulation.next_wake_s)
        for one in simulation.arrived():
            if one.direction == "up":
                handle = simulation.inject("real", "down", datagram(0, 33), at_s=one.at_s)
                reports[handle] = one.ecn == "ce"
            else:
                sender.heard(one.at_s, reports.pop(one.handle))
    return simulation.finish()


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
    """At 1.2 times the rate the excess is lost, and a replay of the record loses the same."""
    with TemporaryDirectory() as folder:
        record = Path(folder, "datagrams.pcapng")
        with sojourn.emulate(LINE + REAL, server=SERVER, record=record) as line:
            client = "iperf3 -4 -u -c server -b 12M -l 1400 -t 10 --json"
            said = json.loads(line.run(client, check=True).stdout)
        again = sojourn.run(LINE + REAL, replay=record)
    assert isinstance(again, sojourn.Result)
    if again.meta["fingerprint"] != line.result.meta["fingerprint"]:
        failures.append("the replay of the datagrams is another run")
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


def memory(failures: Failures) -> None:
    """An hour, in simulated time, in which a new conversation begins every 20 ms."""
    simulation = sojourn.Simulation(LINE + REAL, duration_s=3600)
    held_kb = []
    for number in range(180_000):
        packet = datagram(0, DATAGRAM_BYTES, 1024 + number % 60_000)
        simulation.inject("real", "up", packet, at_s=number / 50)
        simulation.arrived()
        if number % 30_000 == 29_999:
            simulation.observe()
            status = Path("/proc/self/status").read_text()
            held_kb.append(int(status.split("VmRSS:")[1].split()[0]))
    grown_kb = held_kb[-1] - held_kb[0]
    print(f"an hour with 180 000 conversations: {held_kb[0]} kB, later {grown_kb:+} kB")
    if grown_kb > 4096:
        failures.append(f"memory grows by {grown_kb} kB in 50 minutes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs: int = parser.parse_args().runs
    failures: Failures = []
    parts: list[Callable[[], None]] = [
        lambda: pings(200, failures),
        lambda: datagrams(failures),
        lambda: fast_download(failures),
        lambda: memory(failures),
        lambda: slowing(runs, failures),
        lambda: uploads(runs, failures),
    ]
    for part in parts:
        part()
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
