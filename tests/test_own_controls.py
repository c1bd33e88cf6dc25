"""Congestion controls of a user's own that see what the built-in ones see."""

from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.runs.parts import parts_of

OWN = Path(__file__).parents[1] / "docs" / "own"
BBR = f"{OWN}/bbr.py:Bbr"
PRAGUE, MODULE = f"{OWN}/prague.py:OwnPrague", f"{OWN}/prague-rust.wasm"

HOME: dict[str, Any] = {
    "duration_s": 8,
    "baseline": False,
    "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 1_000_000},
    "downstream": {"sustained_mbps": 20},
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {
        "upload": {"kind": "transfer", "direction": "up", "connections": 2},
        "download": {"kind": "transfer", "direction": "down", "start_s": 2},
        "pages": {"kind": "web"},
    },
}


def run(kind: str, parts: list[Any], *sets: str, **keys: Any) -> sojourn.Result:
    control = f"tcp.congestion_control.kind='{kind}'"
    result = sojourn.run(HOME, set=[control, *sets], parts=parts, **keys)
    assert isinstance(result, sojourn.Result)
    return result


def fingerprint(kind: str, parts: list[Any], *sets: str) -> str:
    return str(run(kind, parts, *sets).meta["fingerprint"])


@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["servers.near.loss_percent=3"],
        ["servers.near.loss_percent=25", "traffic.upload.start_s=4"],
        ["upstream.queue.law.kind='codel'"],
    ],
)
def test_bbr_in_python_is_the_built_in_one(sets: list[str]) -> None:
    """With pages, whose SYNs are lost, too; 12 s have its search for the least round trip."""
    sets = [*sets, "duration_s=12"]
    assert fingerprint("bbr", [BBR], *sets) == fingerprint("bbr1", [], *sets)


@pytest.mark.parametrize(
    "sets",
    [
        [],
        ["servers.near.loss_percent=3"],
        ["upstream.queue.scheduler.kind='dualq'"],
        ["tcp.ecn='accecn'", "upstream.queue.law.kind='codel'"],
    ],
)
def test_prague_in_python_and_rust_is_the_built_in_one(sets: list[str]) -> None:
    built_in = fingerprint("prague", [], *sets)
    assert fingerprint("own_prague", [PRAGUE], *sets) == built_in
    assert fingerprint("prague_rust", [MODULE], *sets) == built_in


def upload_mbps(result: sojourn.Result) -> float:
    rows = result.flows.to_pylist()
    return float(
        next(
            row["throughput_mbps"]
            for row in rows
            if (row["traffic"], row["direction"]) == ("upload", "up")
        )
    )


def test_a_control_takes_samples_over_quic() -> None:
    """BBR fills the line, and 5 % of losses do not slow it down; they do slow down CUBIC."""
    over = ["tcp.transport='quic'", "servers.near={ loss_percent = 5, delay_ms = 40 }"]
    assert upload_mbps(run("bbr", [BBR], *over)) > 3.5 > upload_mbps(run("cubic", [], *over))


LINE: dict[str, Any] = {
    "duration_s": 30,
    "baseline": False,
    "upstream": {"sustained_mbps": 20},
    "downstream": {"sustained_mbps": 100},
    "servers": {"near": {"delay_ms": 10}},
    "traffic": {"upload": {"kind": "transfer", "direction": "up", "start_s": 10}},
}
BACKUP = (
    "traffic.backup={ kind = 'transfer', direction = 'up', tcp.congestion_control.kind = '%s' }"
)


def shares_mbps(control: str, *sets: str) -> dict[str, float]:
    parts = [f"{OWN}/ledbatpp.py:LedbatPlusPlus", f"{OWN}/vivace.py:Vivace"]
    result = sojourn.run(LINE, set=[BACKUP % control, *sets], parts=parts)
    assert isinstance(result, sojourn.Result)
    rows = [row for row in result.flows.to_pylist() if row["direction"] == "up"]
    return {row["traffic"]: row["throughput_mbps"] for row in rows}


def test_ledbat_plus_plus_yields_also_where_a_queue_manager_hides_the_delay() -> None:
    """LEDBAT does not: the queue of DOCSIS-PIE stays below its target."""
    pie = "upstream.queue.law.kind='docsis_pie'"
    beside_plus_plus, beside_ledbat = (
        shares_mbps(control, pie)["upload"] for control in ("ledbat_plus_plus", "ledbat")
    )
    assert beside_plus_plus > 1.3 * beside_ledbat


def test_ledbat_plus_plus_keeps_its_target() -> None:
    """Of 60 ms, beside some 15 ms of the line; below half of it for a tenth of the time at most."""
    part = f"{OWN}/ledbatpp.py:LedbatPlusPlus"
    control = "tcp.congestion_control.kind='ledbat_plus_plus'"
    result = sojourn.run(LINE, set=[control, "metrics.from_s=15"], parts=[part])
    assert isinstance(result, sojourn.Result)
    [up] = [row for row in result.flows.to_pylist() if row["direction"] == "up"]
    assert up["throughput_mbps"] > 17
    assert 50 < up["latency_p90_ms"] < 90


def test_vivace_fills_a_fibre_without_a_queue() -> None:
    """On a cable, request and grant look to it like a queue that grows."""
    mbps = {
        access: shares_mbps("vivace", f"access.kind='{access}'", "traffic.upload.start_s=29.9")[
            "backup"
        ]
        for access in ("fibre", "docsis")
    }
    assert mbps["fibre"] > 15 > 1.5 * mbps["docsis"]


def write(place: Path, methods: str, head: str = "") -> str:
    path = place / "own.py"
    lines = f"{methods}\ndef on_loss(self, *_): pass\ndef on_timeout(self, *_): pass"
    body = "\n".join(f"    {line}" for line in lines.splitlines())
    path.write_text(f"from sojourn import *\n{head}\nclass Own(Control):\n{body}\n")
    return f"{path}:Own"


STEADY = "def on_ack(self, *_): self.window_bytes = 30_000"


def test_arguments_go_by_their_names(tmp_path: Path) -> None:
    documented = "now_us, window_bytes, flight_bytes, acked_bytes, rtt_us, min_rtt_us"
    order = "srtt_us, min_rtt_us, acked_bytes, now_us, window_bytes, flight_bytes, rtt_us"
    grow = "self.window_bytes = min(window_bytes + acked_bytes, 60_000 + srtt_us - srtt_us)"
    one = fingerprint(
        "own",
        [
            write(
                tmp_path,
                f"def on_ack(self, {documented}):\n    srtt_us = 0\n    {grow}",
            )
        ],
    )
    assert fingerprint("own", [write(tmp_path, f"def on_ack(self, {order}): {grow}")]) == one
    by_place = "def on_ack(self, t, w, f, acked_bytes, r, m): " + grow.replace(
        "window_bytes + a", "w + a"
    ).replace(" + srtt_us - srtt_us", "")
    assert fingerprint("own", [write(tmp_path, by_place)]) == one


def test_a_timer_comes_when_it_was_asked_for(tmp_path: Path) -> None:
    """Each 10 ms from the handshake on, so in 8 s less than 800 times."""
    methods = (
        f"{STEADY}\ngauges = {{'woken': '1'}}\nwoken = 0\n"
        "def on_established(self, now_us): self.wake(now_us + 10_000)\n"
        "def on_wake(self, now_us):\n    self.woken += 1\n    self.wake(now_us + 10_000)"
    )
    for transport in ("tcp", "quic"):
        result = run("own", [write(tmp_path, methods)], f"tcp.transport='{transport}'")
        woken = [row["value"] for row in result.series.to_pylist() if row["metric"] == "own_woken"]
        assert 780 < max(woken) < 800


def test_what_is_not_known_is_none(tmp_path: Path) -> None:
    """Without timestamps there is no one-way delay."""
    methods = (
        "gauges = {'known': '1'}\nknown = 0\n"
        "def on_ack(self, *_): pass\n"
        "def on_round_trip(self, now_us, one_way_us):\n    self.known = int(one_way_us is not None)"
    )
    part = write(tmp_path, methods)
    for timestamps in (True, False):
        result = run("own", [part], f"tcp.timestamps={str(timestamps).lower()}")
        known = [row["value"] for row in result.series.to_pylist() if row["metric"] == "own_known"]
        assert max(known) == timestamps


def test_window_pace_and_burst_are_answers(tmp_path: Path) -> None:
    """1 Mbps, whatever the window is, and the burst of 20 ms has two segments, not ten."""
    methods = (
        "def on_sample(self, now_us):\n"
        "    self.window_bytes, self.pacing_bps, self.burst_us = 300_000, 1e6, 20_000"
    )
    result = run("own", [write(tmp_path, methods)], "traffic.upload.connections=1")
    assert 0.8 < upload_mbps(result) < 1.1


REFUSED = {
    f"{STEADY}\ndef on_ecn(self, *_): pass\ndef on_mark(self, *_): pass": "which is its other name",
    "def on_established(self, now_us): pass": "found none of on_ack, on_sample, on_feedback",
    "def on_ack(self, window_bytes, now_us, f, a, r, m): 0": "found window_bytes at place 1",
    "def on_ack(self, now_us): pass": "allowed: self, now_us, window_bytes",
    f"{STEADY}\nburst_us = 10\ndef on_restart(self): pass": "on_restart: found the arguments self",
    f"{STEADY}\necn = 'always'": 'ecn: found "always"; allowed: off, classic, accecn, l4s',
    f"{STEADY}\non_restart = 5": "on_restart: found 5; allowed: a method",
}


@pytest.mark.parametrize("methods", REFUSED)
def test_what_is_no_control_is_refused(methods: str, tmp_path: Path) -> None:
    with pytest.raises(sojourn.UnknownError) as raised:
        parts_of([write(tmp_path, methods)])
    assert REFUSED[methods] in str(raised.value)


FAILING = {
    "def on_ack(self, *_): self.wake(9e9)": "found wake in a class without on_wake",
    f"{STEADY}\ndef on_wake(self, now_us): 0\n"
    "def on_established(self, now_us): self.wake(now_us - 5)": "as time of the timer in us",
    "def on_sample(self, now_us): self.burst_us = -1": "found -1 as time of a burst in us",
    "def on_sample(self, now_us): self.threshold_bytes = 'x'": "found 'x' as self.threshold_bytes",
}


@pytest.mark.parametrize("methods", FAILING)
def test_what_a_control_cannot_want_ends_the_run(methods: str, tmp_path: Path) -> None:
    with pytest.raises(sojourn.PartError) as raised:
        run("own", [write(tmp_path, methods)])
    assert FAILING[methods] in str(raised.value)


def test_a_share_of_marks_needs_tcp_of_linux(tmp_path: Path) -> None:
    part = write(tmp_path, "def on_feedback(self, now_us): pass")
    for other in ("tcp.transport='quic'", "dialect='rfc'"):
        with pytest.raises(sojourn.ScenarioError, match=r"found (quic with|own)"):
            run("own", [part], other)
