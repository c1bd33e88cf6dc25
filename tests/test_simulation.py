"""Runs that a program stops, looks at and changes, in Python."""

import decimal
import math
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import sojourn
from sojourn.base.errors import InputError

LINE: dict[str, Any] = {
    "duration_s": 2,
    "clock_drift_ppm": 0,
    "upstream": {
        "sustained_mbps": 8,
        "modem": {"kind": "link"},
        "queue": {"limit_bytes": 100_000, "law": {"kind": "codel"}},
    },
    "downstream": {"sustained_mbps": 50},
    "servers": {"near": {"delay_ms": 5}},
    "traffic": {
        "upload": {"kind": "transfer", "server": "near"},
        "call": {"kind": "stream", "purpose": "voice", "server": "near"},
    },
}


def of_tables(result: sojourn.Result) -> dict[str, Any]:
    names = ("flows", "queues", "series", "delay_parts", "latencies", "connections", "first_half")
    return {name: getattr(result, name).to_pylist() for name in names}


def test_a_run_that_is_only_stepped_is_one_that_is_not() -> None:
    whole = sojourn.run({**LINE, "baseline": False})
    simulation = sojourn.Simulation({**LINE, "baseline": False})
    for step in range(1, 40):
        simulation.run_until(step * 0.057)
        simulation.observe()
    stepped = simulation.finish()
    assert stepped.meta == whole.meta
    assert of_tables(stepped) == of_tables(whole)
    assert stepped.scenario == whole.scenario and stepped.changes == []


def test_what_is_observed_has_units_and_adds_up() -> None:
    simulation = sojourn.Simulation(LINE)
    packets, times = 0, []
    for step in range(1, 21):
        simulation.run_until(step / 10)
        seen = simulation.observe()
        times.append((seen.at_s, round(seen.span_s, 9)))
        (up,) = (of for of in seen.traffic if (of.traffic, of.direction) == ("upload", "up"))
        packets += up.delivered_packets
    assert times == [(step / 10, 0.1) for step in range(1, 21)]
    # The line is full: 8 Mbps, and the queue has packets.
    assert up.delivered_mbps == pytest.approx(8, rel=0.05)
    queue = seen.queue("upstream")
    assert queue.departed_packets > 50 and (queue.delay_ms or 0) > 1
    assert (queue.packets == 0) == (queue.bytes == 0)
    (call,) = (of for of in seen.traffic if (of.traffic, of.direction) == ("call", "down"))
    assert call.network_mos is not None and 4 < call.network_mos < 4.5
    (sender,) = seen.connections
    assert (sender.traffic, sender.number, sender.direction) == ("upload", 1, "up")
    assert sender.window_bytes > 10_000 and (sender.smoothed_rtt_ms or 0) > 10
    result = simulation.finish()
    flows = {(row["traffic"], row["direction"]): row for row in result.flows.to_pylist()}
    assert flows["upload", "up"]["delivered_packets"] == packets


class Counting(sojourn.Law):
    """Counts what leaves."""

    gauges: ClassVar = {"left": "packets"}

    def __init__(self) -> None:
        self.left = 0

    def on_departure(self, *_: float) -> int:
        self.left += 1
        return sojourn.PASS


class Fixed(sojourn.Control):
    """A window of ten segments."""

    gauges: ClassVar = {"losses": "losses"}
    losses = 0

    def on_ack(self, *_: float) -> None:
        self.window_bytes = 14_480

    def on_loss(self, *_: float) -> None:
        self.losses += 1

    def on_timeout(self, *_: float) -> None:
        pass


class Ticks(sojourn.Traffic):
    """A datagram each 20 ms."""

    gauges: ClassVar = {"sent": "packets"}
    score = sojourn.Score("sent", good=1, fair=20, poor=40)
    sent = 0

    def on_timer(self, now_us: float) -> None:
        self.sent += 1
        self.datagram(sojourn.HOME, 200)
        self.wake(now_us + 20_000)


class Steady(sojourn.Controller):
    """Counts updates."""

    update_us = 33_000
    gauges: ClassVar = {"updates": "updates"}
    updates = 0

    def on_update(self, *_: float) -> None:
        self.updates += 1
        self.up_bps = 7e6


TICKS = {"kind": "ticks", "server": "near", "start_s": 0.01}
OWN = {
    **LINE,
    "upstream": {**LINE["upstream"], "queue": {"law": {"kind": "counting"}}},
    "tcp": {"congestion_control": {"kind": "fixed"}},
    "traffic": {"upload": LINE["traffic"]["upload"], "ticks": TICKS},
    "router": {"upstream": {"rate_mbps": 7}, "controller": {"kind": "steady"}},
}


def test_parts_of_ones_own_are_observed_as_their_series_have_them() -> None:
    """Each 0.1 s, when the series take samples too, 5 datagrams are sent, none at that time."""
    simulation = sojourn.Simulation(OWN, parts=[Counting, Fixed, Ticks, Steady])
    seen: dict[tuple[str, str], list[float | None]] = {}
    for step in range(1, 20):
        simulation.run_until(step / 10)
        now = simulation.observe()
        gauges = {of.traffic: of.gauges for of in now.traffic}
        (sender,) = now.connections
        shown = {
            "upstream": now.queue("upstream").gauges,
            "upload up 1": sender.gauges,
            "ticks": gauges["ticks"],
            "router controller": gauges["router controller"],
        }
        for subject, values in shown.items():
            for metric, value in values.items():
                seen.setdefault((subject, metric), []).append(value)
        (ticks, _) = (of for of in now.traffic if of.traffic == "ticks")
        sent = 5 * step
        assert ticks.own_score == ticks.gauges["ticks_sent"] == sent
        level = 1 + (sent - 1) / 19 if sent <= 20 else 2 + (sent - 20) / 20
        assert ticks.own_score_level == pytest.approx(level)
    result = simulation.finish()
    kept: dict[tuple[str, str], list[float]] = {}
    for row in result.series.to_pylist():
        kept.setdefault((row["subject"], row["metric"]), []).append(row["value"])
    own = {"counting_left", "fixed_losses", "ticks_sent", "steady_updates", "shaper_up"}
    assert own <= {metric for _, metric in seen}
    for key, values in seen.items():
        assert values == kept[key][: len(values)], key
    assert result.flows.to_pylist()[2]["own_score_metric"] == "ticks_sent"


def test_a_part_whose_gauge_fails_ends_the_run() -> None:
    class Late(Ticks):
        kind = "ticks"
        sent: Any = 0

        def on_timer(self, now_us: float) -> None:
            self.sent = "many"

    line = {**LINE, "traffic": {"ticks": {"kind": "ticks", "server": "near"}}}
    for look in (lambda run: run.observe(), lambda run: run.finish()):
        simulation = sojourn.Simulation(line, set=["metrics.series_interval_ms=1e3"], parts=[Late])
        simulation.run_until(0.5)
        with pytest.raises(sojourn.PartError, match="found 'many' as gauge sent"):
            look(simulation)
        with pytest.raises(RuntimeError, match=r"the run (has failed|is finished)"):
            simulation.run_until(1)


def changed() -> sojourn.Simulation:
    simulation = sojourn.Simulation(LINE, seed=3)
    simulation.run_until(0.5)
    simulation.set({"upstream.sustained_mbps": 2, "upstream.peak_mbps": 2})
    simulation.run_until(1.234567890123)
    simulation.set("upstream.queue.law.target_ms", 1)
    simulation.run_until(1.7)
    return simulation


def test_changes_are_in_the_result_stored_shown_and_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = changed().finish()
    keys = ["upstream.sustained_mbps", "upstream.peak_mbps", "upstream.queue.law.target_ms"]
    assert [change.key for change in result.changes] == keys
    assert [change.at_s for change in result.changes] == [0.5, 0.5, 1.234567890123]
    assert (result.meta["duration_s"], result.meta["planned_s"]) == (1.7, 2)
    assert result.settings["upstream"]["sustained_mbps"] == 8
    (warning,) = (of for of in result.warnings if of.code == "changed-in-run")
    assert "changed 3 times in the run, from 0.5 to 1.234567890123 s" in str(warning)
    result.summary(in_full=True)
    assert "changed 3 times in the run" in " ".join(capsys.readouterr().out.split())
    result.save(tmp_path / "changed")
    assert "upstream.sustained_mbps = 2" in (tmp_path / "changed" / "report.html").read_text()
    stored = sojourn.open(tmp_path / "changed")
    assert isinstance(stored, sojourn.Result) and stored.changes == result.changes
    for one in (result, stored, pickle.loads(pickle.dumps(result))):
        again = sojourn.Simulation.again(one).finish()
        assert again.meta == result.meta and of_tables(again) == of_tables(result)


def test_keys_that_may_change_have_their_values() -> None:
    simulation = sojourn.Simulation(LINE)
    simulation.set("upstream.queue.limit_bytes", 50_000)
    live = simulation.live
    assert (live["upstream.queue.limit_bytes"], live["upstream.sustained_mbps"]) == (50_000, 8)
    assert live["servers.near.rate_mbps"] == 1000 and "upstream.queue.law.variant" not in live


RATE = "upstream.sustained_mbps"
RATES = "allowed: a number from 0.001 to 100000"


@pytest.mark.parametrize("number", [np.int64(4), np.float32(4), np.array(4)])
def test_numbers_of_numpy_are_numbers(number: Any) -> None:
    simulation = sojourn.Simulation(LINE)
    simulation.set({RATE: number, "upstream.queue.ecn": np.True_})
    assert simulation.live[RATE] == 4 and simulation.live["upstream.queue.ecn"] is True


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda run: run.run_until(0.2), "found 0.2 s, and it is 0.3 s already"),
        (lambda run: run.run_until(-1), "found -1; allowed: a time in s"),
        (lambda run: run.run_until("1"), "found '1'; allowed: a time in s"),
        (lambda run: run.run_until(float("nan")), "found nan; allowed: a time in s, from 0 on"),
        (
            lambda run: run.inject("mine", "up", b"", at_s=float("nan")),
            "inject: found nan; allowed",
        ),
        (lambda run: run.inject("mine", "up", b"", at_s=-1), "inject: found -1; allowed: a time"),
        (lambda run: run.inject("mine", "up", b"", at_s=True), "inject: found True; allowed: a"),
        (lambda run: run.set("seed", 3), "seed: cannot change in this run; allowed: "),
        (lambda run: run.set("upstream.queue.law.variant", "ns2"), "cannot change in this run"),
        (lambda run: run.set("upstream.sustained_mbps", 9), "upstream.peak_mbps: found 8"),
        (lambda run: run.set("upstream.sustained_mbps", 0), "found 0"),
        (lambda run: run.set("upstream.sustained_mbps", "fast"), 'found a string "fast"'),
        (lambda run: run.set(RATE), f"{RATE}: found None; {RATES}"),
        (lambda run: run.set(RATE, [1]), f"{RATE}: found [1]; {RATES}"),
        (lambda run: run.set(RATE, math.nan), f"{RATE}: found nan; {RATES}"),
        (lambda run: run.set(RATE, -math.inf), f"{RATE}: found -inf; {RATES}"),
        (lambda run: run.set(RATE, 10**400), f"{RATE}: found a number beyond all floats; {RATES}"),
        (lambda run: run.set(RATE, np.ones(2)), f"{RATE}: found [1. 1.]; {RATES}"),
        (lambda run: run.set("upstream.queue.ecn", None), "found None; allowed: true, false"),
        (lambda run: run.set({RATE: 4, "seed": None}), "seed: cannot change in this run"),
        (lambda run: run.set({RATE: 4}, 9), "set: found 9 beside a table of keys; allowed: set("),
        (lambda run: run.set({}, 9), "set: found 9 beside a table of keys; allowed: set("),
        (lambda run: run.set(None, 1), "set: found None as a key; allowed: a text"),
        (lambda run: run.set({5: 1}), "set: found 5 as a key; allowed: a text"),
        (lambda run: run.set([(RATE, 4)]), "', 4)] as a key; allowed: a text"),
        (lambda run: run.inject(None, "up", b""), "inject: found None as traffic; allowed: a"),
        (lambda run: run.inject("mine", 1, b""), "inject: found 1 as direction; allowed: a text"),
        (lambda run: run.inject("mine", "up", "x"), "inject: found 'x' as packet; allowed: bytes"),
        (lambda run: run.set("upstream.queue.ecn", 1), "found 1"),
        (lambda run: run.observe().queue("up"), "found 'up'; allowed: 'upstream' up"),
        (pickle.dumps, "cannot pickle a Simulation"),
    ],
)
def test_misuse_is_one_message_and_changes_nothing(misuse: Any, message: str) -> None:
    simulation = sojourn.Simulation(LINE)
    simulation.run_until(0.3)
    with pytest.raises((ValueError, InputError, KeyError, TypeError)) as raised:
        misuse(simulation)
    assert message in str(raised.value) and "\n" not in str(raised.value)
    simulation.run_until(2)
    assert simulation.finish().changes == []


def test_a_finished_run_is_over() -> None:
    simulation = sojourn.Simulation(LINE)
    with pytest.raises(ValueError, match="found 0 s simulated; allowed: from 0"):
        simulation.finish()
    simulation.run_until(float("inf"))
    assert simulation.now_s == 2
    for rate in (4, math.nan, None, [1]):
        with pytest.raises(InputError, match="the run is over at 2 s"):
            simulation.set("upstream.sustained_mbps", rate)  # type: ignore[arg-type]
    simulation.finish()
    for call in (simulation.finish, simulation.observe, lambda: simulation.run_until(3)):
        with pytest.raises(RuntimeError, match="the run is finished; allowed: its result"):
            call()


def test_variants_are_named() -> None:
    with pytest.raises(ValueError, match="found no variant; allowed: 'drop-tail', 'DOCSIS-PIE'"):
        sojourn.Simulation("scenarios/upload.toml")
    (first, second) = sojourn.load("scenarios/upload.toml", duration_s=1)
    simulation = sojourn.Simulation("scenarios/upload.toml", variant="DOCSIS-PIE", duration_s=1)
    simulation.run_until(1)
    of_variant = sojourn.Simulation(second)
    of_variant.run_until(1)
    one, other = simulation.finish(), of_variant.finish()
    assert one.name == other.name == "DOCSIS-PIE" and one.meta == other.meta
    with pytest.raises(TypeError, match="found a loaded variant with variant"):
        sojourn.Simulation(first, variant="drop-tail")


def test_another_thread_is_refused_meanwhile() -> None:
    simulation = sojourn.Simulation(LINE, duration_s=100_000)
    found: list[BaseException] = []
    is_running = threading.Event()

    def run() -> None:
        is_running.set()
        try:
            simulation.run_until(100_000)
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    is_running.wait()
    for _ in range(1000):
        try:
            simulation.observe()
        except RuntimeError as error:
            assert "while another thread runs this simulation" in str(error)
            return
        time.sleep(0.01)
    raise AssertionError(found)


def test_an_interrupt_stops_between_two_events_and_it_may_go_on() -> None:
    program = f"""
import signal, threading, sojourn
signal.signal(signal.SIGINT, signal.default_int_handler)
simulation = sojourn.Simulation({LINE!r}, duration_s=100_000, set={{"baseline": False}})
timer = threading.Timer(0.2, signal.raise_signal, [signal.SIGINT])
try:
    timer.start()
    simulation.run_until(100_000)
except KeyboardInterrupt:
    assert simulation.now_s < 100_000
    simulation.run_until(simulation.now_s + 0.1)
    simulation.set("upstream.sustained_mbps", 4)
    print(len(simulation.finish().changes))
"""
    # In a process of its own: a signal that comes at another moment would end the tests.
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


class Breaks(sojourn.Law):
    """Fails at its tenth packet."""

    def __init__(self) -> None:
        self.packets = 0

    def on_arrival(self, now_us, bytes, backlog_bytes, sojourn_us, ecn, flow):  # type: ignore[no-untyped-def]
        self.packets += 1
        if self.packets == 10:
            raise ZeroDivisionError("ten")
        return sojourn.PASS


def test_a_part_that_fails_ends_the_run() -> None:
    scenario = {**LINE, "upstream": {"sustained_mbps": 8, "queue": {"law": {"kind": "breaks"}}}}
    simulation = sojourn.Simulation(scenario, parts=[Breaks])
    with pytest.raises(sojourn.PartError) as raised:
        simulation.run_until(2)
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(RuntimeError, match="the run has failed; allowed: a new Simulation"):
        simulation.observe()


def test_a_variant_is_replaced_as_it_would_be_loaded() -> None:
    (variant,) = sojourn.load(LINE)
    changes = {"upstream.sustained_mbps": 5, "upstream.queue.law": {"kind": "pie"}}
    replaced = variant.replace(seed=7, duration_s=1.5, set=changes)
    (loaded,) = sojourn.load(LINE, seed=7, duration_s=1.5, set=changes)
    assert replaced.to_toml() == loaded.to_toml()
    assert [str(one) for one in replaced.warnings()] == [str(one) for one in loaded.warnings()]
    # A default that follows a key follows it again.
    assert replaced.replace(set=["upstream.sustained_mbps=3"]).to_toml().count("peak_mbps = 3") == 1
    assert variant.to_toml() == sojourn.load(LINE)[0].to_toml()
    with pytest.raises(InputError, match="unknown key"):
        variant.replace(set={"upstream.sustained_mbp": 3})
    with pytest.raises(InputError, match="found -3"):
        variant.replace(set={"upstream.sustained_mbps": -3})


def test_what_a_part_sets_in_its_thread_lasts_for_its_run(tmp_path: Path) -> None:
    """At the top of its file it sets what its methods do not find."""
    (tmp_path / "own.py").write_text(
        "import decimal, sojourn\ndecimal.getcontext().prec = 3\n"
        "class Own(sojourn.Law):\n"
        "    def __init__(self):\n"
        "        assert decimal.getcontext().prec == 28\n"
        "        decimal.getcontext().prec = 5\n"
        "    def on_arrival(self, now_us, *_):\n"
        "        assert decimal.getcontext().prec in (5, 6)\n"
        "        decimal.getcontext().prec = 6\n"
    )
    sets = ["upstream.queue.law.kind=own", "duration_s=2"]
    given: dict[str, Any] = {"set": sets, "parts": [f"{tmp_path}/own.py:Own"]}
    whole = sojourn.run({**LINE, "baseline": False}, **given)
    stepped = sojourn.Simulation(LINE, **given)
    for at_s in np.arange(1, 3):
        stepped.run_until(at_s)
    assert stepped.finish().meta["fingerprint"] == whole.meta["fingerprint"]
    assert decimal.getcontext().prec == 28


def test_several_runs_go_on_beside_each_other() -> None:
    seeds = range(1, 5)
    runs = [sojourn.Simulation(LINE, seed=seed) for seed in seeds]
    for step in range(1, 21):
        for run in runs:
            run.run_until(step / 10)
    alone = [sojourn.run({**LINE, "baseline": False}, seed=seed) for seed in seeds]
    fingerprints = [run.finish().meta["fingerprint"] for run in runs]
    assert fingerprints == [one.meta["fingerprint"] for one in alone]
