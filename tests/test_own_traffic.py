"""Traffic of a user's own that can be a call, and parameters that are more than numbers."""

from pathlib import Path
from typing import Any

import pytest
import sojourn
from sojourn.analysis.groups import Results
from sojourn.analysis.verdict import verdict
from sojourn.runs.parts import parts_of

CALL = f"{Path(__file__).parents[1]}/docs/own/call.py:OwnCall"

HOME: dict[str, Any] = {
    "duration_s": 8,
    "baseline": False,
    "clock_drift_ppm": 0,
    "upstream": {"sustained_mbps": 5},
    "downstream": {"sustained_mbps": 20},
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {
        "upload": {"kind": "transfer", "direction": "up"},
        "download": {"kind": "transfer", "direction": "down"},
    },
}


def run(entry: str, *parts: Any, sets: list[str] | None = None, **keys: Any) -> sojourn.Result:
    given = [f"traffic.call={{ {entry} }}"] if entry else []
    result = sojourn.run(HOME, set=[*given, *(sets or [])], parts=parts, **keys)
    assert isinstance(result, sojourn.Result)
    return result


def of_call(result: sojourn.Result, *columns: str) -> list[dict[str, Any]]:
    rows = [row for row in result.flows.to_pylist() if row["traffic"] == "call"]
    return [{column: row[column] for column in columns} for row in rows]


@pytest.mark.parametrize("way", ["up", "down"])
@pytest.mark.parametrize("frame_bytes", [2493, 25_000])
def test_a_call_of_ones_own_is_the_built_in_one(way: str, frame_bytes: int) -> None:
    """Without random times and sizes, which come from another generator.

    Frames of 2493 bytes are one byte more than two packets hold.
    """
    rate_mbps = frame_bytes * 30 * 8e-6
    keys = f"rate_mbps={rate_mbps}, start_s=1"
    steady = "frame_scale_percent=0, interval_scale_percent=0"
    built_in = run(f"kind='video_call', direction='{way}', {steady}, {keys}")
    own = run(f"kind='own_call', way='{way}', spread_percent=0, {keys}", CALL)
    assert own.meta["fingerprint"] == built_in.meta["fingerprint"]
    columns = ["quality", "frame_latency_p99_ms", "frames_incomplete_percent", "loss_percent"]
    assert of_call(own, *columns) == of_call(built_in, *columns)
    assert own.verdict.groups == built_in.verdict.groups


@pytest.mark.parametrize("law", ["none", "docsis_pie"])
def test_a_voice_call_of_ones_own_is_heard_as_the_built_in_one(law: str, tmp_path: Path) -> None:
    """Its packets leave at other moments of their 20 ms, over an idle line and beside an upload."""
    body = """score = "call"
def on_timer(self, now_us):
    self.datagram(HOME, 218)
    self.datagram(SERVER, 218)
    self.wake(now_us + 20_000)"""
    idle = ["upload", "download"] if law == "none" else ["download"]
    sets = [f"upstream.queue.law.kind='{law}'", *(f"traffic.{one}.start_s=7.99" for one in idle)]
    stream = "kind='stream', purpose='voice', direction='both', packet_bytes=218, interval_ms=20"
    built_in = run(f"{stream}, start_s=1", sets=sets)
    own = run("kind='own', start_s=1", write(tmp_path, body), sets=sets)
    near = {"concealed_percent": 0.3, "playout_delay_ms": 1, "mos": 0.05}
    for mine, its in zip(of_call(own, *near), of_call(built_in, *near), strict=True):
        assert its["mos"] > 4
        for column, within in near.items():
            assert mine[column] == pytest.approx(its[column], abs=within), column


GCC = f"{Path(__file__).parents[1]}/docs/own/gcc.py:OwnGcc"


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_control_of_ones_own_is_the_built_in_one(way: str) -> None:
    """Beside an upload and a download, with losses of frames and reports."""
    steady = "frame_scale_percent=0, interval_scale_percent=0"
    sets = ["servers.near.loss_percent=3", "duration_s=20"]
    keys = "start_s=1, max_mbps=3"
    controlled = f"kind='video_call', control='gcc', direction='{way}'"
    built_in = run(f"{controlled}, {steady}, {keys}", sets=sets)
    own = run(f"kind='own_gcc', way='{way}', {keys}", GCC, sets=sets)
    assert own.meta["fingerprint"] == built_in.meta["fingerprint"]
    columns = ["frame_latency_p99_ms", "frames_incomplete_percent", "frozen_percent"]
    assert of_call(own, *columns) == of_call(built_in, *columns)


def test_a_call_both_ways_has_the_round_trips_and_the_grade_of_one() -> None:
    built_in = run("kind='video_call', start_s=1", sets=["duration_s=20"])
    own = run("kind='own_call', way='both', start_s=1", CALL, sets=["duration_s=20"])
    for one, other in zip(
        of_call(own, "throughput_mbps", "rtt_p50_ms"),
        of_call(built_in, "throughput_mbps", "rtt_p50_ms"),
        strict=True,
    ):
        assert one["throughput_mbps"] == pytest.approx(other["throughput_mbps"], rel=0.1)
        assert one["rtt_p50_ms"] == pytest.approx(other["rtt_p50_ms"], rel=0.2)


def write(place: Path, body: str, base: str = "Traffic") -> str:
    path = place / "own.py"
    lines = "\n".join(f"    {line}" for line in body.splitlines())
    path.write_text(f"from sojourn import *\nclass Own({base}):\n{lines}\n")
    return f"{path}:Own"


PINGS = """
gauges = {"heard": "1", "lost": "1", "delay_ms": "ms"}
heard = lost = delay_ms = 0
def on_timer(self, now_us):
    self.datagram(HOME, 100)
    self.wake(now_us + 10_000)
def on_datagram(self, now_us, end, number, delay_us):
    self.heard += 1
    self.delay_ms = delay_us / 1000
    if end == SERVER:
        self.datagram(SERVER, 64)
def on_lost(self, now_us, end, number):
    self.lost += 1
"""


def last(result: sojourn.Result, metric: str) -> float:
    values = [row["value"] for row in result.series.to_pylist() if row["metric"] == metric]
    return float(values[-1])


def test_datagrams_that_arrive_or_are_missing_are_heard_of(tmp_path: Path) -> None:
    """100 a second for 8 s, each answered; a tenth is lost up and down: 800 * (0.9 + 0.81)."""
    part = write(tmp_path, PINGS)
    alone = ["traffic.upload.start_s=7.99", "traffic.download.start_s=7.99"]
    whole = run("kind='own'", part, sets=alone)
    assert 1580 < last(whole, "own_heard") <= 1600 and last(whole, "own_lost") == 0
    lossy = run("kind='own'", part, sets=[*alone, "servers.near.loss_percent=10"])
    assert last(lossy, "own_heard") == pytest.approx(800 * 1.71, rel=0.06)
    assert last(lossy, "own_lost") == pytest.approx(800 * 0.19, rel=0.3)


def test_each_datagram_has_its_header_fields(tmp_path: Path) -> None:
    """One of three has the code point of a classifier, and its own service flow is never full."""
    body = """
sent = 0
def on_timer(self, now_us):
    self.sent += 1
    self.datagram(HOME, 1000, dscp=46 if self.sent % 3 == 0 else None, ecn=1)
    self.wake(now_us + 10_000)
seen = 0
gauges = {"seen": "1"}
def on_datagram(self, now_us, end, number, ecn, dscp):
    assert ecn == 1 and dscp == (46 if number % 3 == 2 else 8)
    self.seen += 1
"""
    result = run("kind='own', dscp=8", write(tmp_path, body))
    assert last(result, "own_seen") > 700


def test_a_page_of_ones_own_is_scored(tmp_path: Path) -> None:
    """One a second, the last of which may not be there yet."""
    body = """
score = "pages"
def on_timer(self, now_us):
    self.asked_us = now_us
    self.open()
    self.wake(now_us + 1_000_000)
def on_open(self, now_us, connection):
    self.expect(connection, HOME, 50_000)
    self.send(connection, SERVER, 50_000)
def on_received(self, now_us, connection, end):
    self.page(self.asked_us, now_us - self.asked_us)
    self.close(connection)
"""
    result = run("kind='own'", write(tmp_path, body))
    up, down = of_call(result, "quality", "page_loads", "page_load_median_s")
    assert up["quality"] == "pages"
    assert 5 <= max(row["page_loads"] or 0 for row in (up, down)) <= 8


LATE = """
score = Score("late_percent", good={}, fair={}, poor={})
gauges = {{"late_percent": "%"}}
late_percent = {}
def on_timer(self, now_us):
    self.datagram(HOME, 200)
    self.wake(now_us + 20_000)
"""


@pytest.mark.parametrize(
    ("bounds", "value", "level", "grade"),
    [
        ((1, 3, 10), 0.5, 0.75, "good"),
        ((1, 3, 10), 2, 1.5, "fair"),
        ((1, 3, 10), 10, 3, "poor"),
        ((1, 3, 10), 1000, 10, "fails"),
        ((4, 3, 1), 4.5, 0.5, "good"),
        ((4, 3, 1), 2, 2.5, "poor"),
        ((4, 3, 1), 0, 3.5, "fails"),
    ],
)
def test_a_score_of_ones_own_has_a_scale(
    bounds: tuple[float, ...], value: float, level: float, grade: str, tmp_path: Path
) -> None:
    """A level is the place between bounds: 2 is half of the way from 1 to 3."""
    result = run("kind='own'", write(tmp_path, LATE.format(*bounds, value)))
    for row in of_call(result, "quality", "own_score", "own_score_level"):
        assert row == {"quality": "own", "own_score": value, "own_score_level": level}
    assert result.grades["own score"].grade is sojourn.Grade[grade.upper()]


def test_a_score_of_ones_own_tells_what_is_waited(tmp_path: Path) -> None:
    """In a queue for each flow only the upload waits, behind itself: that decides nothing."""
    queues = {"PIE": {"law": {"kind": "docsis_pie"}}, "FQ": {"scheduler": {"kind": "fq"}}}
    compare = {name: {"upstream": {"queue": queue}} for name, queue in queues.items()}
    part = write(tmp_path, 'direction = "up"' + LATE.format(1, 3, 10, 0))
    entry = "traffic.call={ kind='own' }"
    scenario = {**HOME, "duration_s": 12, "compare": compare}
    found = verdict(Results.of(sojourn.run(scenario, set=[entry], parts=[part])))
    assert found.best == "FQ"
    waits = {grade.application: grade.grade for grade in found.groups["FQ"]}
    assert waits["upstream wait"] is sojourn.Grade.GOOD


@pytest.mark.parametrize(
    ("score", "says"),
    [
        ("Score('late', 1, 2, 3)", 'score: found the gauge "late"; allowed: one of its gauges'),
        ("Score('x', 1, 3, 2)", "good 1, fair 3, poor 2; allowed: numbers that rise or that fall"),
        ("Score('x', 1, 1, 2)", "allowed: numbers that rise or that fall"),
        ("Score('x', 1, 2, float('inf'))", "allowed: finite numbers"),
        ("Score('x', 1, 2, 'many')", "allowed: finite numbers"),
        ("'best'", "score: found 'best'; allowed: call, game, frames, pages, or sojourn.Score"),
    ],
)
def test_a_scale_that_is_none_is_refused(score: str, says: str, tmp_path: Path) -> None:
    body = f"score = {score}\ngauges = {{'x': ''}}\nx = 0\ndef on_timer(self, now_us): pass"
    with pytest.raises(sojourn.UnknownError) as raised:
        parts_of([write(tmp_path, body)])
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("self.datagram(HOME, 100, dscp=64)", "found 64 as code point; allowed: 0 to 63"),
        ("self.datagram(HOME, 100, ecn=3)", "found 3 as ECN field; allowed: 0 Not-ECT"),
        ("self.datagram(HOME, 100, frame=(1, 2, 3))", "found (1, 2, 3); allowed: (the"),
        ("self.page(now_us, 1)", "found 1 as time of a page in us"),
    ],
)
def test_what_a_datagram_cannot_have_ends_the_run(body: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(sojourn.PartError) as raised:
        run("kind='own'", write(tmp_path, f"def on_timer(self, now_us): {body}"))
    assert says in str(raised.value)


SETTINGS = """
mode = parameter("slow", choices=["slow", "fast"], doc="How fast.")
is_on: bool = parameter(True)
gaps_ms = parameter([10, 20], range=(1, 100), unit="ms")
table = parameter("rates.txt", file=True)
gauges = {"said": "1"}
def __init__(self):
    self.said = float(self.table.read_text()) + sum(self.gaps_ms) + 1000 * self.is_on
    self.said += 10_000 * (self.mode == "fast")
def on_arrival(self, *_): return PASS
"""
LAW = "upstream.queue.law"


def test_parameters_are_texts_flags_lists_and_files(tmp_path: Path) -> None:
    part = write(tmp_path, SETTINGS, "Law")
    (tmp_path / "rates.txt").write_text("0.5")
    (tmp_path / "others.txt").write_text("0.25")
    plain = run("", part, sets=[f"{LAW}.kind='own'"])
    assert last(plain, "own_said") == 1030.5
    keys = "mode='fast', is_on=false, gaps_ms=[1, 2, 3], table='others.txt'"
    changed = run("", part, sets=[f"{LAW}={{ kind='own', {keys} }}"])
    assert last(changed, "own_said") == 10_006.25


def test_a_file_belongs_to_what_a_run_is(tmp_path: Path) -> None:
    part = write(tmp_path, SETTINGS, "Law")
    scenarios = []
    for content in ("1", "2"):
        (tmp_path / "rates.txt").write_text(content)
        (one,) = sojourn.load(HOME, set=[f"{LAW}.kind='own'"], parts=[part])
        scenarios.append(one.to_toml())
    assert scenarios[0] != scenarios[1]
    with pytest.raises(sojourn.ScenarioError, match=r"has changed since .*; allowed: "):
        sojourn.load({**_table(scenarios[0])}, parts=[part])


def _table(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ("mode='quick'", 'found "quick"; allowed: slow, fast'),
        ("is_on=1", "found 1; allowed: true, false"),
        ("gaps_ms=[0]", "found 0; allowed: "),
        ("gaps_ms=5", "found 5; allowed: a list"),
        ("table='none.txt'", "which cannot be read"),
        ("table='.'", "which cannot be read (not a regular file)"),
    ],
)
def test_values_that_parameters_do_not_take_are_refused(
    keys: str, says: str, tmp_path: Path
) -> None:
    part = write(tmp_path, SETTINGS, "Law")
    (tmp_path / "rates.txt").write_text("0.5")
    with pytest.raises(sojourn.ScenarioError) as raised:
        sojourn.load(HOME, set=[f"{LAW}={{ kind='own', {keys} }}"], parts=[part])
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ("x = parameter('a')", "x: found ['a'] as default and range"),
        ("x = parameter('c', choices=['a', 'b'])", 'x: found the default "c"'),
        ("x = parameter('a', choices=['a', 'a'])", "a choice that is empty or there twice"),
        ("x = parameter([1, 'a'])", "x: found [1, 'a'] as default and range"),
        ("x = parameter({})", "x: found [{}] as default and range"),
        ("gauges = ['a']", "gauges: found ['a']; allowed: a name and its unit for each"),
        ("files = [5]", "files: found [5]; allowed: a list of names"),
        ("__doc__ = 5", "__doc__: found 5; allowed: a text"),
    ],
)
def test_what_a_class_cannot_declare_is_refused(body: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(sojourn.UnknownError) as raised:
        parts_of([write(tmp_path, f"def on_arrival(self, *_): return PASS\n{body}", "Law")])
    assert says in str(raised.value)


FRAMES = """score = "frames"
number = 0
def on_timer(self, now_us):
    self.datagram(HOME, 500, frame=(self.number, 1))
    self.number += {step}
    self.wake(now_us + 20_000)
def on_datagram(self, now_us, end, number): pass"""


def test_a_frame_that_was_whole_is_not_sent_for_ever(tmp_path: Path) -> None:
    own = write(tmp_path, FRAMES.format(step=0))
    said = r"on_timer, at 0\.0\d+ s: found another datagram of frame 0, which has 1 and of which 2"
    with pytest.raises(sojourn.PartError, match=said):
        run("kind='own'", own)
    (tmp_path / "own.py").write_text((tmp_path / "own.py").read_text().replace("+= 0", "+= 1"))
    result = sojourn.run({**HOME, "traffic": {"call": {"kind": "own"}}}, parts=[own])
    (row,) = of_call(result, "quality", "frames_incomplete_percent")
    assert row == {"quality": "video_call", "frames_incomplete_percent": 0}


def test_traffic_that_sends_up_alone_loads_nothing_down(tmp_path: Path) -> None:
    """Though its class need not say which way it sends."""
    lines = "def on_timer(self, now_us):\n    self.datagram({}, 900)\n    self.wake(now_us + 5_000)"
    paths = {}
    for end in ("HOME", "SERVER"):
        own = write(tmp_path, lines.format(end))
        result = sojourn.run({**HOME, "traffic": {"t": {"kind": "own"}}}, duration_s=2, parts=[own])
        paths[end] = [one.path for one in result.warnings if one.code == "unwatched"]
    assert paths == {"HOME": ["upstream"], "SERVER": ["downstream"]}
