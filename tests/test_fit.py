"""Fits: what is read of logs, what is repaired or refused, and lines that are known."""

import gzip
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import sojourn
from sojourn.fit import proof
from sojourn.fit.answer import not_of_log, sentences, values
from sojourn.fit.features import thinned
from sojourn.fit.fitted import MANAGED, Fit, fit_log
from sojourn.fit.grid import Grid, _polished, _strength, _undecided, found_grid
from sojourn.fit.learn import learned
from sojourn.fit.limits import LEAST_BEGIN, begin, way_back_ms
from sojourn.fit.loaded import Queue, queue_of, rises_of_another_log
from sojourn.fit.log import Log, Probes
from sojourn.fit.model import Stream, scenario, simulated
from sojourn.fit.nearest import IDLE, streams_of
from sojourn.fit.prior import IDLE_S, MINISLOT_MS, PRIOR, Estimate, drawn
from sojourn.fit.read import UNTIMED, read
from sojourn.fit.repair import repaired
from sojourn.fit.table import STREAMS, row, stored
from sojourn.fit.table import log_of as log_of_line
from sojourn.fit.trials import OUTSIDE, Trial, _clock, _probes
from sojourn.fit.trials import inside as inside_trial
from stores import Inside


def made(
    count: int = 2000,
    period: float = 2.5,
    interval: float = 50.0,
    deviation: float = 0.3,
    seed: int = 1,
) -> Probes:
    """Probes that wait for the next whole period, and a little more; a fifth asks again."""
    random = np.random.default_rng(seed)
    sent = np.cumsum(interval * (1 + deviation * random.uniform(-1, 1, count)))
    again = random.geometric(0.8, count) - 1
    up = (np.ceil(sent / period) + 2 * again) * period - sent + 3
    up += random.exponential(period / 10, count)
    down = 5 + random.uniform(0, 0.2, count)
    return Probes("made", sent, up, down, up + down)


def csv_of(probes: Probes, unit: float = 1.0, name: str = "ms") -> str:
    """The probes as a log."""
    lines = [f"sent_{name},received_{name},returned_{name}"]
    for sent, up, rtt in zip(probes.sent_ms, probes.up_ms, probes.rtt_ms, strict=True):
        lines.append(",".join(f"{v * unit:.7f}" for v in (sent, sent + up, sent + rtt)))
    return "\n".join(lines) + "\n"


def log_of(probes: Probes) -> Log:
    return Log("made", [probes])


@pytest.mark.parametrize("period", [0.8, 2.5, 5.04])
def test_period_of_the_grid_is_found_blind(period: float) -> None:
    grid = found_grid(log_of(made(period=period)))
    assert grid.period_ms == pytest.approx(period, rel=1e-4)
    assert grid.share > 0.9 and not grid.aliases_ms


def steady(
    count: int, seed: int, interval: float = 200.0, period: float = 5.04, spread: float = 0.3
) -> Probes:
    """Steady probes whose clocks wander by 1 ppm; delays are spread by this part of the period."""
    random = np.random.default_rng(seed)
    sent = interval * np.arange(count) + random.exponential(0.02, count)
    up = np.ceil(sent / period) * period - sent + random.exponential(spread * period, count)
    wander = np.cumsum(random.normal(0, 1, count))
    up += 5e-7 * sent[-1] * wander / abs(wander).max()
    return Probes("steady", sent, up)


def test_periods_that_minutes_do_not_distinguish_are_undecided() -> None:
    """Steady probes at 200 ms see 5.04 ms as 5.17, 9.67 and others too."""
    wrong = 0
    for seed in range(8):
        grid = found_grid(log_of(steady(1500, seed)))
        near = [abs(one / 5.04 - 1) < 1e-4 for one in (grid.period_ms, *grid.aliases_ms)]
        assert any(near)
        wrong += not near[0]
        for other in grid.aliases_ms:
            turns = (1 / other - 1 / 5.04) * 200
            assert turns == pytest.approx(round(turns), abs=0.01)
        chosen = found_grid(log_of(steady(1500, seed)), chosen_ms=5.0)
        assert chosen.period_ms == pytest.approx(5.04, rel=1e-4)
    assert wrong > 0
    three = [steady(3000, seed, interval) for seed, interval in enumerate((41.0, 67.0, 97.0))]
    sure = found_grid(Log("made", three))
    assert sure.period_ms == pytest.approx(5.04, rel=1e-5) and not sure.aliases_ms


def test_a_period_that_minutes_exclude_is_no_alias() -> None:
    """A hundredth more or less than 41 ms tells 5.04 ms from 1 / (1/5.04 + k/41)."""
    log = log_of(made(3000, period=5.04, interval=41.0, deviation=0.03))
    near = [1 / (1 / 5.04 + k / 41) for k in range(-3, 4)]
    assert _undecided([log.sent_ms], [log.arrival_ms], near) == [pytest.approx(5.04)]


def test_parts_of_a_log_have_no_more_concentration_by_chance_than_the_whole() -> None:
    """Chance gives n points of a part a sum of n^0.5, and N points in all an R of N^-0.5."""
    for parts in (1, 2, 5):
        counts = np.full(parts, 400)
        powers = np.array([sum(counts), sum(counts**2)], float)
        assert _strength(powers, counts) == pytest.approx([sum(counts) ** -0.5, 1], rel=2e-3)


def test_no_interval_is_narrower_than_clocks_allow() -> None:
    grid = found_grid(log_of(made(9000, period=5.04)))
    assert grid.error_ms >= 5.04e-6 and abs(grid.period_ms - 5.04) < grid.error_ms


def test_steady_probes_of_whole_ms_do_not_split_a_period() -> None:
    """At 41 ms, three of five probes see the same half of 5 ms, so R is 0.2 with a grid of 2.5."""
    for period in (2.5, 5.0):
        grid = found_grid(log_of(steady(9000, 1, interval=41.0, period=period, spread=0.1)))
        known = [grid.period_ms, *grid.aliases_ms]
        assert min(abs(one / period - 1) for one in known) < 1e-5
        assert period == 5 or max(known) < 3


def test_a_grid_that_steady_probes_hide_is_not_denied() -> None:
    said = " ".join(sentences(fit_log(log_of(steady(3000, 1, 50.0, 2.5)), search=False)))
    assert "probes left steadily every 50 ms, and a period that divides this does not show" in said


@pytest.mark.parametrize("deviation", [0, 0.3])
def test_no_grid_where_probes_take_what_chance_gives(deviation: float) -> None:
    probes = made(deviation=deviation)
    delays = np.random.default_rng(2).exponential(2, len(probes))
    assert found_grid(log_of(Probes("made", probes.sent_ms, delays))) is None


def test_the_error_of_a_period_is_half_of_a_90_percent_interval() -> None:
    """Twelve arrivals, 100 periods of 2 ms apart and off by up to a hundredth of one.

    With 10 degrees of freedom, Student's t has its 95 % point at 1.812.
    """
    off = 0.01 * np.random.default_rng(1).uniform(-1, 1, 12)
    times = 2 * (100 * np.arange(12) + off)
    _, covariance = np.polyfit(times, off, 1, cov=True)
    _, error = _polished(times, 1 / 2)
    assert error == pytest.approx(1.812 * np.sqrt(covariance[0, 0]), rel=1e-3)


def test_the_share_of_a_grid_is_what_is_above_its_emptiest_places() -> None:
    """Of 180 arrivals the emptiest places have 5 each, so 100 of them come at any time."""
    places = np.array([10.0] * 16 + [5.0] * 4)
    assert Grid(2.0, 0.1, 0.5, (), places).share == pytest.approx(80 / 180)
    assert Grid(2.0, 0.1, 0.5, (), places[::-1]).share == pytest.approx(80 / 180)
    assert Grid(2.0, 0.1, 0.5, (), np.array([7.0] + [0.0] * 19)).share == 1


def test_irtt_flent_and_csv_give_the_same_probes(tmp_path: Path) -> None:
    probes = made(1200)
    trips, points = [], []
    for at in range(len(probes)):
        sent, up, down = (v[at] for v in (probes.sent_ms, probes.up_ms, probes.down_ms))
        delay = {"send": up * 1e6, "receive": down * 1e6, "rtt": (up + down) * 1e6}
        times = {"client": {"send": {"wall": sent * 1e6}}}
        trips.append({"lost": "false", "delay": delay, "timestamps": times})
        points.append(
            {"t": (sent + up + down) / 1e3, "val": up + down, "owd_up": up, "owd_down": down}
        )
    trips.insert(3, {"lost": "true_up", "delay": {}, "timestamps": {}})
    (tmp_path / "irtt.json.gz").write_bytes(
        gzip.compress(json.dumps({"round_trips": trips}).encode())
    )
    (tmp_path / "a.flent.gz").write_bytes(
        gzip.compress(json.dumps({"raw_values": {"Ping (ms) UDP": points}}).encode())
    )
    (tmp_path / "a.csv").write_text(csv_of(probes, 1e-3, "s"))
    for name in ("irtt.json.gz", "a.flent.gz", "a.csv"):
        (stream,) = repaired(read(tmp_path / name)).streams
        assert len(stream) == len(probes), name
        assert np.allclose(stream.sent_ms, probes.sent_ms, atol=1e-3), name
        assert np.allclose(stream.up_ms, probes.up_ms, atol=1e-3), name
        assert np.allclose(stream.down_ms, probes.down_ms, atol=1e-3), name


@pytest.mark.parametrize(
    ("text", "sent_ms", "rtt_ms", "timed"),
    [
        ("[1700000000.500] 64 bytes from 192.0.2.1: icmp_seq=7 ttl=57 time=12.5 ms", 1, 12.5, True),
        ("64 bytes from 192.0.2.1: icmp_seq=7 ttl=57 time=12.5 ms", 7000, 12.5, False),
        ("10:00:01.500000 64 bytes from 192.0.2.1: icmp_seq=7 ttl=57 time=12.5 ms", 1, 12.5, True),
        ("Reply from 192.0.2.1: bytes=32 time=12ms TTL=57", 0, 12, False),
        ("[1700000000.500] 192.0.2.1 : [0], 64 bytes, 12.5 ms (12.5 avg, 0% loss)", 1, 12.5, True),
        ("192.0.2.1 : [7], 84 bytes, 12.5 ms (12.5 avg, 0% loss)", 7000, 12.5, False),
    ],
)
@pytest.mark.parametrize("head", ["PING 192.0.2.1\n", ""])
def test_lines_of_ping_and_fping(
    tmp_path: Path, head: str, text: str, sent_ms: float, rtt_ms: float, timed: bool
) -> None:
    (tmp_path / "log").write_text(f"{head}{text}\nRequest timed out.\n")
    log = read(tmp_path / "log")
    (stream,) = log.streams
    assert stream.rtt_ms is not None and stream.rtt_ms.tolist() == [rtt_ms]
    assert (UNTIMED not in log.notes) == timed
    if timed:  # the time is that of the reply
        assert stream.sent_ms[0] % 1000 == pytest.approx(500 - 12.5, abs=1e-3)
    else:
        assert stream.sent_ms[0] == pytest.approx(sent_ms, abs=1e-6)


GOOD = csv_of(made(1200))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "found nothing in it"),
        ("hello\n", "found no line of a reply"),
        ("sent_ms,other\n1,2\n", "found send times alone"),
        ("received_ms,rtt_ms\n1,2\n", "found no column of send times"),
        ("sent_ms,received_ms\n1,x\n", "line 2: received_ms: found 'x'"),
        ("sent_ms,received_ms\n", "found no answered probe"),
        ("sent_ms\n1\n", "found send times alone"),
        ("sent_ms;received_ms\n1;x\n", "line 2: received_ms: found 'x'"),
        ("{", "found damaged JSON"),
        ("{}", "found JSON without round_trips"),
        ('{"round_trips": [{"lost": "false"}]}', "found no answered probe"),
        ('{"raw_values": 3}', "not as flent writes it"),
        ("\n".join(GOOD.splitlines()[:200]), "found 199 answered probes; allowed: 1000 or more"),
        (csv_of(made(1200), 1e-3), "these may be seconds"),
        (csv_of(made(1200), 1e6), "of another unit than the header's"),
        (
            "sent_ms,rtt_ms\n" + "\n".join(f"{n * 50},-3" for n in range(1200)),
            "round trips below 0",
        ),
        ("sent_ms,received_ms\n" + "\n".join(f"{n * 50},nan" for n in range(1200)), "allowed"),
        ("sent_ms,rtt_ms\n" + "0,5\n" * 1200, "found 0 answered probes"),
        ("sent_ms,received_ms\n1,inf\n", "line 2: received_ms: found 'inf'"),
        (csv_of(made(1200), 1e3), "of another unit than the header's"),
        ("sent_ms,rtt_ms\n" + "\n".join(f"{n * 50},{n % 9}e-3" for n in range(1200)), "seconds"),
        ("sent_ms,rtt_ms\n" + "\n".join(f"{n // 9},{n % 7 + 5}" for n in range(1200)), "finer"),
        (
            "sent_ms,rtt_ms\n" + "\n".join(f"{n * 50},{n % 9 // 7}" for n in range(1200)),
            "found round trips of 0 ms; these may be rounded to nothing",
        ),
        (
            "sent_ms,received_ms\n"
            + "\n".join(f"{n * 41.1:.4f},{n * 41.1 + 5.3:.4f}" for n in range(1200)),
            "found delays that are all alike",
        ),
        (
            "sent_ms,received_ms\n" + "\n".join(f"{n * 50},{n / 20 + n % 7}" for n in range(1200)),
            "columns of different units",
        ),
        (GOOD.split("\n")[0] + "\n" + "9" * 200_000 + "x,1,2\n", "not CSV"),
        ('{"raw_values": {"TCP upload": [{"t": 1, "val": 3}]}}', "no answered probe"),
        ('{"raw_values": {"Ping": [{"t": "1", "val": "3"}]}}', "invalid type: string"),
        ('{"round_trips": [{"lost": "true"}]}', "found no answered probe"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path: Path, text: str, found: str) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(sojourn.ScenarioError, match=r"log\.csv") as refused:
        repaired(read(tmp_path / "log.csv"))
    assert found in str(refused.value)


PACKED = gzip.compress(GOOD.encode())


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x08broken",
        b"\xff\xfe\x00",
        PACKED[: len(PACKED) // 2],
        PACKED[:300] + b"abcdefgh" + PACKED[308:],
    ],
)
def test_damaged_bytes_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "log").write_bytes(content)
    with pytest.raises(sojourn.ScenarioError, match="log"):
        read(tmp_path / "log")


def test_a_pipe_is_refused(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="regular file"):
        read(tmp_path / "log")


def shuffled(p: Probes) -> Probes:
    order = np.arange(len(p))
    order[[10, 20]] = order[[20, 10]]
    return p.where(order)


def doubled(p: Probes) -> Probes:
    return p.where(np.sort(np.append(np.arange(len(p)), [5, 9])))


def repeated(p: Probes) -> Probes:
    return p.where(np.repeat(np.arange(len(p)), 2))


def stepped(p: Probes) -> Probes:
    step = np.where(np.arange(len(p)) >= 1234, 40.0, 0.0)
    return Probes(p.name, p.sent_ms, p.up_ms + step, p.down_ms - step, p.rtt_ms)


def drifting(p: Probes) -> Probes:
    drift = 50e-6 * (p.sent_ms - p.sent_ms[0])
    return Probes(p.name, p.sent_ms, p.up_ms + drift, p.down_ms - drift, p.rtt_ms)


def returned(p: Probes) -> Probes:
    return Probes(p.name, p.sent_ms + p.rtt_ms, p.up_ms, p.down_ms, p.rtt_ms)


@pytest.mark.parametrize(
    ("fault", "deviation", "says"),
    [
        (shuffled, 0.3, "out of order"),
        (doubled, 0.3, "2 probes appear twice"),
        (repeated, 0.3, "2000 probes appear twice"),
        (stepped, 0.3, "a clock was set 1 times"),
        (drifting, 0.3, "The clocks drift apart by"),
        (returned, 0, "times are those of replies"),
    ],
)
def test_what_can_be_mended_is_with_a_sentence(
    fault: Callable[[Probes], Probes], deviation: float, says: str
) -> None:
    whole = made(deviation=deviation)
    log = repaired(log_of(fault(whole)))
    (note,) = log.notes
    assert says in note
    (stream,) = log.streams
    for off in (
        stream.sent_ms - whole.sent_ms + stream.up_ms - whole.up_ms,
        stream.down_ms - whole.down_ms,
    ):
        assert np.percentile(abs(off - np.median(off)), 99) < 0.3
    assert repaired(log_of(whole)).notes == []


@pytest.mark.parametrize(("count", "is_mended"), [(200, True), (199, False)])
def test_a_step_shows_in_a_stream_of_two_hundred_probes(count: int, is_mended: bool) -> None:
    """A step is one between means of fifty, and one that lasts."""
    whole = [made(count, seed=seed) for seed in range(6)]
    late = np.where(np.arange(count) >= 100, 40.0, 0.0)
    logs = [replace(p, up_ms=p.up_ms + late, down_ms=p.down_ms - late) for p in whole]
    log = repaired(Log("made", logs))
    steps = [note for note in log.notes if "a clock was set 1 times" in note]
    assert len(steps) == (6 if is_mended else 0)


@pytest.mark.parametrize(("up", "down"), [(40, 0), (0, 40), (40, 40), (4, -1.6), (-1.6, 4)])
def test_a_path_that_changes_is_no_step_of_a_clock(up: float, down: float) -> None:
    """One way has to grow by what the other shrinks, and both by 2 ms or more."""
    whole, late = made(), np.arange(2000) >= 1234
    changed = replace(whole, up_ms=whole.up_ms + up * late, down_ms=whole.down_ms + down * late)
    log = repaired(log_of(changed))
    assert not any("a clock was set" in note for note in log.notes)
    assert np.ptp(log.streams[0].up_ms - changed.up_ms) < 1


def set_back(p: Probes) -> Probes:
    return Probes(p.name, p.sent_ms - np.where(np.arange(len(p)) > 1300, 3333.0, 0), p.up_ms)


def paused(p: Probes) -> Probes:
    return Probes(p.name, p.sent_ms + np.where(np.arange(len(p)) > 700, 9e7, 0), p.up_ms)


@pytest.mark.parametrize(
    ("fault", "says", "left"), [(set_back, "was set back", 699), (paused, "has a pause", 701)]
)
def test_the_longest_part_counts(fault: Callable[[Probes], Probes], says: str, left: int) -> None:
    log = repaired(log_of(fault(made())))
    assert says in log.notes[0] and f"{left} probes are left out" in log.notes[0]
    assert len(log.streams[0]) == 2000 - left


def test_a_log_in_any_order_is_sorted() -> None:
    order = np.random.default_rng(1).permutation(2000)
    log = repaired(log_of(made().where(order)))
    assert "out of order" in log.notes[0] and len(log.streams[0]) == 2000


def test_queues_that_swing_between_half_and_all_of_a_buffer_have_no_manager() -> None:
    random = np.random.default_rng(1)
    assert queue_of(random.uniform(90, 180, 500)) is Queue.LONG
    assert queue_of(random.exponential(5, 500)) is Queue.SHORT
    assert queue_of(random.exponential(40, 500)) is Queue.UNEVEN
    assert queue_of(random.uniform(-1, 23, 500)) is Queue.SHORT  # as behind DOCSIS-PIE
    assert queue_of(random.uniform(0.5, 1, 500)) is Queue.SHORT


def test_intervals_of_what_is_learned_cover_nine_tenths() -> None:
    random = np.random.default_rng(1)

    def rows(count: int) -> tuple[np.ndarray, np.ndarray]:
        shares = random.random(count)
        noise = random.normal(0, 0.02 + 0.1 * shares, count)
        return np.column_stack([shares + noise, random.normal(0, 1, count)]), shares

    lesson = learned(*rows(400))
    known = [(lesson.interval(text), share) for text, share in zip(*rows(400), strict=True)]
    ends = [(one[1:], share) for one, share in known if one is not None]
    assert len(ends) >= 370
    covered = sum(low <= share <= high for (low, high), share in ends)
    assert 0.85 <= covered / len(ends) <= 0.95
    widths = {share > 0.5: high - low for (low, high), share in ends if abs(share - 0.5) > 0.3}
    assert widths[True] > widths[False]  # noisier above


def test_table_is_what_this_version_simulates() -> None:
    values = row(1)
    table = stored()
    assert values == pytest.approx([*table.shares[0], *table.features[0]], rel=1e-3, abs=1e-4)


def test_lines_of_the_prior_are_within_it() -> None:
    for seed in range(50):
        line = drawn(seed)
        assert all(-0.01 <= known.share(line[name]) <= 1.01 for name, known in PRIOR.items())
        assert line["grid_ms"] / MINISLOT_MS == pytest.approx(round(line["grid_ms"] / MINISLOT_MS))


def test_three_of_the_lines_that_prove_the_fit() -> None:
    """All two hundred are in make studies."""
    fits = [proof.fitted(inside_trial(seed)) for seed in (10_002, 10_004, 10_020)]
    for name in PRIOR:
        assert sum(fit.covers(name) for fit in fits) >= 2, name
        assert np.median([fit.width(name) for fit in fits]) < 0.5, name
    assert [len(proof.lines(fits)), proof.holds(fits)] == [len(PRIOR) + 1, False]


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_line_outside_gets_no_value_that_is_wrong(kind: str) -> None:
    trial = OUTSIDE[kind](5, np.random.default_rng(5))
    found = proof.fitted(trial)
    assert not found.is_wrong
    has_idle = set(IDLE) & set(found.estimates)
    assert has_idle == (set(IDLE) if kind == "CAKE in the router" else set())
    assert bool(found.estimates) == (kind not in ("fibre", "Ethernet"))


@pytest.mark.parametrize("true_ms", [4.5, 5.0, 6.1])
def test_of_periods_left_undecided_the_right_one_counts(
    true_ms: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its values and the buffer, which is that of all."""
    buffer = {"buffer_ms": Estimate(90, 80, 100)}
    likeliest, *others = [
        {"grid_ms": Estimate(period, period - 0.1, period + 0.1), "load": Estimate(load, 0, 1)}
        for period, load in ((5.0, 0.1), (4.5, 0.2), (6.0, 0.3))
    ]
    known = SimpleNamespace(estimates=likeliest | buffer, others=dict(enumerate(others)))
    monkeypatch.setattr(proof, "fit_log", lambda *_, **__: known)
    found = proof.fitted(Trial(log_of(made()), [{"grid_ms": true_ms}], 0.0))
    right = min([likeliest, *others], key=lambda one: abs(one["grid_ms"].value - true_ms))
    assert found.estimates == right | buffer


def test_the_proof_draws_what_its_page_says() -> None:
    """2 to 30 minutes; steady probes of whole ms in one stream or three, or uneven ones."""
    drawn = [_probes(np.random.default_rng(seed)) for seed in range(3000)]
    lengths = [length_s for length_s, _ in drawn]
    assert 120 <= min(lengths) < 121 and 1780 < max(lengths) < 1800
    uneven = [one for _, (one, *_) in drawn if one.deviation_percent]
    intervals = [one.interval_ms for one in uneven]
    assert 30 <= min(intervals) < 30.5 and 79.5 < max(intervals) <= 80
    assert {one.deviation_percent for one in uneven} == {50}
    steady = [streams for _, streams in drawn if not streams[0].deviation_percent]
    assert {len(streams) for streams in steady} == {1, 3}
    assert all(float(one.interval_ms).is_integer() for streams in steady for one in streams)


def test_clocks_of_the_proof_are_off_as_its_page_says() -> None:
    """They drift by up to 50 ppm, and their rates wander by half a ppm."""
    log = log_of(made(100))
    clocks = [_clock(log, np.random.default_rng(seed)) for seed in range(300)]
    assert 49e-6 < max(abs(one.drift) for one in clocks) <= 50e-6
    wanders = [max(abs(np.diff(one.off_ms) / np.diff(one.times_ms))) for one in clocks]
    assert np.median(wanders) == pytest.approx(max(wanders)) == pytest.approx(5e-7)


def test_a_value_is_wrong_by_more_than_its_interval_explains() -> None:
    estimate = {"load": Estimate(0.2, 0.15, 0.25)}
    for true, is_covered, is_wrong in (
        ((0.16, 0.16), True, False),
        ((0.28, 0.28), False, False),
        ((0.09, 0.09), False, True),
        ((0.09, 0.3), True, False),  # it changed between these
    ):
        one = proof.Fitted({"load": true}, estimate)
        assert (one.covers("load"), one.is_wrong) == (is_covered, is_wrong)
    assert proof.Fitted({}, estimate).is_wrong


def wandering(length_s: float, ppm: float) -> Log:
    """A simulated line by a clock whose rate goes up and down by so many ppm."""
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"grid_ms": 1.0}
    (probes,) = simulated(scenario(line, STREAMS, idle_s=length_s, trace=True)).streams
    turn = 2 * np.pi / (length_s * 1e3)
    off = ppm * 1e-6 / turn * np.sin(turn * probes.sent_ms)
    return log_of(replace(probes, up_ms=probes.up_ms + off))


def test_clocks_that_wander_take_nothing_from_a_grid() -> None:
    """They are off by 0.2 ms at one time and not at another, and the period is 1 ms."""
    steady, wander = (fit_log(wandering(600, ppm), search=False) for ppm in (0, 1))
    for fit in (steady, wander):
        assert fit.grid is not None and fit.grid.period_ms == pytest.approx(1.0, rel=1e-6)
        assert not fit.outside
    assert wander.grid.concentration == pytest.approx(steady.grid.concentration, rel=0.02)
    for name in IDLE:
        one, other = (fit.estimates[name] for fit in (steady, wander))
        assert other.value == pytest.approx(one.value, abs=0.3 * (one.high - one.low))


def test_probes_are_chosen_as_those_that_the_fit_learned_from() -> None:
    random = np.random.default_rng(1)
    often = np.sort(random.uniform(0, 1e5, 5000))  # 20 ms apart in the mean
    parked = 50.0 * np.arange(2000)  # 20 periods of 2.5 ms
    log = Log("", [Probes("often", often, 0 * often), Probes("parked", parked, 0 * parked)])
    (kept,) = thinned(log, 2.5).streams
    assert kept.name == "often"
    alone = np.diff(np.sort(log.sent_ms), prepend=-np.inf) >= 20
    assert np.isin(np.sort(log.sent_ms)[alone], [*kept.sent_ms, *parked]).all()
    few = log_of(Probes("few", 60.0 * np.arange(2000), np.zeros(2000)))
    assert len(thinned(few, 2.501).sent_ms) == 2000


def test_probes_that_ride_with_another_give_no_values() -> None:
    found = fit_log(log_of(made(4000, interval=10.0)), search=False)
    assert set(found.estimates) == {"grid_ms"}
    assert "most probes leave within 20 ms of another" in found.outside[0]


def test_neighbours_that_change_widen_an_interval_or_leave_no_value() -> None:
    line = {name: known.value(0.5) for name, known in PRIOR.items()}

    def changed(load: float) -> Fit:
        """Two minutes with a share of 0.2 and two with another one."""
        logs = [
            simulated(scenario(line | {"load": one}, STREAMS, idle_s=125, trace=True)).streams[0]
            for one in (0.2, load)
        ]
        after = round(125 / line["grid_ms"] * 1e3) * line["grid_ms"]
        sent = np.concatenate([one.sent_ms + at * after for at, one in enumerate(logs)])
        up = np.concatenate([one.up_ms for one in logs])
        return fit_log(log_of(Probes("both", sent, up)), search=False)

    little = changed(0.32).estimates["load"]
    assert little.low < 0.24 and little.high > 0.28
    found = changed(0.5)
    assert set(found.estimates) == {"grid_ms"}
    assert re.search(r"changes over minutes, from [\d.]+ to [\d.]+ in parts", found.outside[-1])


def test_command_writes_a_scenario_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> None:
    monkeypatch.setattr("sojourn.fit.nearest._SIMULATED", 2)
    monkeypatch.setattr("sojourn.fit.nearest._LONGEST_S", 10.0)
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"grid_ms": 2.5}
    (idle,) = simulated(scenario(line, STREAMS, idle_s=130, trace=True)).streams
    queue = np.random.default_rng(1).uniform(90, 180, len(idle))
    busy = replace(idle, up_ms=idle.up_ms + queue)
    for name, probes in (("log", idle), ("upload", busy)):
        rows = zip(probes.sent_ms, probes.sent_ms + probes.up_ms, strict=True)
        lines = [f"{sent:.6f},{received:.6f}" for sent, received in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(["sent_ms,received_ms", *lines]))
    out = tmp_path / "mine.toml"
    logs = (tmp_path / "log.csv", "--upload", tmp_path / "upload.csv")
    done = inside("fit", *logs, "--out", out)
    assert done.returncode == 0 and re.fullmatch(r"(simulated \d+ of 20 s\n)*", done.stderr)
    said = done.stdout
    assert "a period of 2.5 ms" in said and "how many homes" in said
    found = re.search(r"holds ([\d.]+) ms.* (\d+) ms in the scenario. DOCSIS-PIE .* 10 ms", said)
    assert found and 60 < int(found[2]) < float(found[1])
    assert re.search(rf"upstream buffer +{found[1]} ", said)
    text = out.read_text()
    assert "map_interval_ms = 2.5" in text and "packet_trace" not in text
    assert re.search(r"idle, measured( +-?\d+\.\d\d){4}", said)
    assert re.search(r"upload, fitted( +\d+\.\d\d){4}", said)
    result = sojourn.run(text, duration_s=2)
    assert list(result) == ["as it is", "DOCSIS-PIE", "idle line"]
    warnings = " ".join(str(one) for run in result.values() for one in run.warnings)
    assert "homes.asking" not in warnings and "homes.sending" not in warnings
    inside.refused("fit", tmp_path / "log.csv", "--out", out)
    assert out.read_text() == text


FITTED_KEYS = (
    "sustained_mbps",  # upstream, by --up
    "queue.limit_bytes",
    "map_interval_ms",
    "map_advance_us",
    "interval_ms",
    "interval_deviation_percent",
    "start_s",
)
KEPT_KEYS = ("kind", "purpose", "server", "direction", "home", "homes")
"""How a scenario is put together: no values."""


def test_every_value_that_no_probe_told_is_marked_and_listed() -> None:
    line = {name: known.value(0.5) for name, known in PRIOR.items()}
    guessed = ("up_mbps", "buffer_ms")
    text = scenario(
        line, [Stream(50, 0)], idle_s=1, loaded_s=1, compared="as it is", guessed=guessed
    )
    listed = set(not_of_log(text))
    table = ""
    for one in text.partition("[compare.")[0].splitlines():
        if one.startswith("["):
            table = one[1 : one.index("]")]
        key = one.partition(" = ")[0]
        if " = " in one and key not in KEPT_KEYS:
            is_fitted = key in FITTED_KEYS and table not in ("downstream", "traffic.upload")
            is_fitted = is_fitted and not (
                table == "upstream" and key in ("sustained_mbps", "queue.limit_bytes")
            )
            is_fitted = is_fitted and (
                key != "interval_deviation_percent" or table == "traffic.probe1"
            )
            assert (f"{table}.{key}".lstrip(".") in listed) == (not is_fitted), one
    assert {"downstream.sustained_mbps", "servers.near.delay_ms", "traffic.upload"} <= listed
    assert sojourn.load(text)
    known = scenario(line, [Stream(50, 0)], idle_s=1, compared="as it is")
    assert "upstream.sustained_mbps" not in set(not_of_log(known))


def managed_line() -> Log:
    """An idle line and an upload behind DOCSIS-PIE, with 250 ms of buffer."""
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"buffer_ms": 250.0}
    return log_of_line(line, 1, law="docsis_pie")


def test_delays_that_stay_short_give_no_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.fit.nearest._SIMULATED", 2)
    monkeypatch.setattr("sojourn.fit.nearest._LONGEST_S", 10.0)
    found = fit_log(managed_line())
    assert found.queue is Queue.SHORT and "buffer_ms" not in found.estimates
    text = found.scenario()
    assert 'queue.law = { kind = "docsis_pie" }   # not from the log' in text
    assert [variant.name for variant in sojourn.load(text)] == [MANAGED]
    assert {"upstream.queue.limit_bytes", "upstream.queue.law"} <= set(not_of_log(text))
    assert "a guess" in " ".join(sentences(found))


def strange_ones() -> dict[str, Callable[[Probes], Probes]]:
    """Lines that the model lacks."""
    random = np.random.default_rng(1)

    def with_more(more: Callable[[Probes], np.ndarray]) -> Callable[[Probes], Probes]:
        return lambda probes: replace(probes, up_ms=probes.up_ms + more(probes))

    return {
        "": lambda probes: probes,
        "% of arrivals follow the grid": with_more(
            lambda p: random.uniform(0, 2.19, len(p)) * (random.random(len(p)) < 0.6)
        ),
        "change over minutes": with_more(
            lambda p: np.where(p.sent_ms > 60e3, 5.0, 0.0) * (random.random(len(p)) < 0.3)
        ),
        "unlike those of any simulated line": with_more(
            lambda p: random.exponential(20, len(p)) * (random.random(len(p)) < 0.15)
        ),
    }


@pytest.mark.parametrize("reason", strange_ones())
def test_a_line_that_the_fit_does_not_know_gets_no_values(reason: str) -> None:
    line = {name: known.value(0.5) for name, known in PRIOR.items()}
    log = log_of_line(line, 2).between(0, IDLE_S)
    changed = [strange_ones()[reason](probes) for probes in log.streams]
    found = fit_log(replace(log, streams=changed), search=False)
    assert found.grid is not None
    assert bool(found.outside) == bool(reason) and reason in "; ".join(found.outside)
    assert set(found.estimates) == ({"grid_ms"} if reason else {"grid_ms", *IDLE})
    assert ("Outside what the fit knows" in " ".join(sentences(found))) == bool(reason)


def with_jitter(log: Log, mean_ms: float, back_ms: float | None = None, begin: float = 0.0) -> Log:
    """With exponential jitter behind the modem from a part of the log on, and a way back."""
    random = np.random.default_rng(3)

    def jittered(probes: Probes) -> Probes:
        late = random.exponential(mean_ms, len(probes))
        late[probes.sent_ms < begin * probes.sent_ms[-1]] = 0.0
        up = probes.up_ms + late
        down = None if back_ms is None else 5 + random.exponential(back_ms, len(probes))
        return replace(probes, up_ms=up, down_ms=down, rtt_ms=None if down is None else up + down)

    return replace(log, streams=[jittered(probes) for probes in log.streams])


@pytest.fixture(scope="module")
def light() -> Log:
    """A line whose neighbours send 7 % of the channel."""
    line = {name: known.value(0.5) for name, known in PRIOR.items()}
    return log_of_line(line | {"grid_ms": 2.0, "load": 0.07}, 2).between(0, IDLE_S)


@pytest.mark.parametrize("mean_ms", [0.1, 0.25, 0.5])
def test_jitter_is_not_told_as_load(light: Log, mean_ms: float) -> None:
    """Without a way back nothing else tells it from grants but where these begin."""
    found = fit_log(with_jitter(light, mean_ms), search=False)
    assert set(found.estimates) == {"grid_ms"}
    assert "load and jitter on the path look alike" in "; ".join(found.outside)


def test_a_quiet_way_back_excludes_jitter(light: Log) -> None:
    assert begin(light, 2.0) > LEAST_BEGIN > begin(with_jitter(light, 0.25), 2.0)
    for back_ms, is_quiet in ((0.02, True), (0.5, False)):
        found = fit_log(with_jitter(light, 0.25, back_ms), search=False)
        assert bool(found.outside) != is_quiet, found.outside
    (said,) = fit_log(with_jitter(light, 0.0, 1.0), search=False).outside
    assert "delays to the home vary by 1 ms, as with Wi-Fi" in said


def test_jitter_in_half_of_a_log_is_no_drift(light: Log) -> None:
    """Between the means of its halves, 1 ms in a minute would be 17 ppm."""
    for mean_ms, drift in ((0.5, 0.0), (1.0, 0.0), (1.0, 30e-6)):
        log = with_jitter(light, mean_ms, begin=0.5)
        log = replace(
            log, streams=[replace(p, up_ms=p.up_ms + drift * p.sent_ms) for p in log.streams]
        )
        mended = repaired(log)
        assert mended.drift == pytest.approx(drift, abs=8e-6)
        assert fit_log(mended, search=False).outside


def test_grants_begin_as_sharply_when_clocks_have_moved() -> None:
    """A third begins with grants, ten minutes are twenty parts, and after five half a ms is off."""
    random = np.random.default_rng(1)
    sent = 50.1 * np.arange(12_000)
    places = np.where(random.random(len(sent)) < 1 / 3, 0.2, random.uniform(0.2, 2, len(sent)))
    off = np.where(np.arange(len(sent)) // 3000 % 2, 0.5, 0.0)
    sharp, moved = (
        begin(log_of(Probes("", sent, np.ceil(sent / 2) * 2 + places + late - sent)), 2.0)
        for late in (0.0, off)
    )
    assert moved == pytest.approx(sharp, rel=1e-3) and sharp > 4


def test_grants_begin_as_in_the_half_in_which_they_do_so_less(light: Log) -> None:
    whole, later = (begin(with_jitter(light, 0.5, begin=part), 2.0) for part in (0.0, 0.5))
    assert later == pytest.approx(whole, rel=0.1) and whole < LEAST_BEGIN < begin(light, 2.0)


def test_the_way_back_of_each_stream_is_about_its_own_median() -> None:
    streams = [replace(made(seed=n), down_ms=made(seed=n).down_ms + 20 * n) for n in range(3)]
    back_ms = way_back_ms(Log("", streams))
    assert [np.median(part) for part in np.split(back_ms, 3)] == pytest.approx([0, 0, 0])
    assert way_back_ms(Log("", [*streams, replace(streams[0], down_ms=None)])) is None


def test_subframes_of_a_mobile_network_are_no_grants() -> None:
    """Devices ask each 5 ms and are sent for in whole ms, a tenth again after 8 ms."""
    random = np.random.default_rng(1)
    sent = np.cumsum(40 * random.uniform(0.5, 1.5, 4000))
    for busy in (0.0, 1.0):
        more = np.floor(random.exponential(busy, len(sent))) + 8.0 * (
            random.random(len(sent)) < 0.1
        )
        up = np.ceil(sent / 5) * 5 + 8 + more - sent
        found = fit_log(log_of(Probes("mobile", sent, up)), search=False)
        assert set(found.estimates) <= {"grid_ms"}
        assert "within a period are whole ms apart" in "; ".join(found.outside)
    alone = log_of(Probes("cable", sent, np.ceil(sent / 5) * 5 + 8 - sent))
    assert "whole ms" not in "; ".join(fit_log(alone, search=False).outside)


def test_a_short_rest_measures_the_grid_alone(light: Log) -> None:
    found = fit_log(light.between(0, 60), search=False)
    assert set(found.estimates) == {"grid_ms"}
    assert "60 s without a load are too short" in found.outside[0]
    assert fit_log(light, search=False).estimates.keys() == {"grid_ms", *IDLE}


@pytest.mark.parametrize("delay_ms", [5, 15])
def test_the_buffer_does_not_follow_from_how_far_its_queue_falls(delay_ms: int) -> None:
    """A longer path lets TCP's queue fall lower; the buffer that fills is the same."""
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"buffer_ms": 120.0}
    text = scenario(line, STREAMS, idle_s=20, loaded_s=30, seed=3, trace=True)
    log = simulated(text.replace("delay_ms = 5", f"delay_ms = {delay_ms}"))
    found = fit_log(replace(log, loaded_s=(20.0, 50.0)), search=False).estimates["buffer_ms"]
    assert found.low < 120 < found.high < 132


def test_values_beyond_the_table_are_outside() -> None:
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"load": 0.001}
    found = fit_log(log_of_line(line, 3).between(0, IDLE_S), search=False)
    assert found.outside and not set(IDLE) & set(found.estimates)


def test_the_period_is_by_the_clock_of_who_received() -> None:
    log = repaired(log_of(drifting(made(period=2.5, count=4000))))
    estimate = fit_log(log, search=False).estimates["grid_ms"]
    assert estimate.value == pytest.approx(2.5 * (1 + 50e-6), rel=2e-6)


def test_parts_of_a_log_have_each_probe_once_in_streams_of_two_or_more() -> None:
    streams = [Probes(f"{n}", 500.0 * np.arange(n), np.arange(n)) for n in (5, 9)]
    log = Log("", streams)
    for middle_s in (0.5, 1.0, 1.2, 2.0, 4.0):
        parts = [log.between(0, middle_s), log.between(middle_s, 9)]
        for stream in streams:
            early = int(np.sum(stream.sent_ms < 1e3 * middle_s))
            counts = [len(s) for part in parts for s in part.streams if s.name == stream.name]
            assert counts == [n for n in (early, len(stream) - early) if n >= 2]


def test_the_answer_says_how_long_one_packet_in_a_hundred_takes() -> None:
    """Of 1 to 1001 ms the median is 501, and one in a hundred is 991 or more."""
    delays = np.random.default_rng(1).permutation(np.arange(1.0, 1002))
    log = replace(log_of(Probes("made", 50.0 * np.arange(1001), delays)), notes=[UNTIMED])
    fit = fit_log(log, search=False)
    said = " ".join(sentences(fit))
    assert "one packet in a hundred takes 490 ms longer than the median" in said
    nothing = {name: of for name, of in values(fit).items() if of in (None, [], {})}
    assert nothing.keys() == values(fit).keys() - {"resolution_ms", "notes"}


def test_what_is_idle_before_a_load_has_to_be_enough() -> None:
    log = replace(log_of(made(2000)), loaded_s=(10.0, 100.0), up_mbps=5.0)
    found = fit_log(log, search=False)
    assert found.grid is None
    assert "probes without a load were answered, and 1000 are needed" in " ".join(sentences(found))


def busy_of(idle: Probes, queue: np.ndarray, down: np.ndarray | float = 0.0) -> Log:
    up, back = idle.up_ms + queue, idle.down_ms + down
    return log_of(Probes("made", idle.sent_ms, up, back, up + back))


def test_a_log_without_an_upload_is_none_of_an_upload() -> None:
    idle, other = made(), made(seed=2)
    flat = np.zeros(len(other))
    for busy, found in (
        (log_of(idle), "the probes of the idle log"),
        (busy_of(other, flat), "delays that rise by 0.0 ms"),
        (busy_of(other, flat + 1, 90.0), "rise by 90.0 ms downstream"),
        (replace(busy_of(other, flat + 50), has_download=True), "a download and no upload"),
    ):
        with pytest.raises(sojourn.ScenarioError, match=found):
            fit_log(log_of(idle), busy, search=False)
    managed = replace(busy_of(other, flat), up_mbps=10.0)  # its bytes flow
    fit = fit_log(log_of(idle), managed, search=False)
    assert fit.queue is Queue.SHORT and values(fit)["queue"] == "short"


@pytest.mark.parametrize(("length_s", "settling_s"), [(6, 3), (16, 8), (40, 8)])
def test_an_upload_counts_once_its_queue_is_full(length_s: float, settling_s: float) -> None:
    """Eight seconds are enough, and of a shorter upload than twice that the later half counts."""
    idle, other = made(), made(seed=2)
    full = np.where(other.sent_ms > (30 + settling_s) * 1e3, 100.0, 50.0)
    busy = replace(busy_of(other, full), loaded_s=(30.0, 30.0 + length_s))
    rises = rises_of_another_log(busy, log_of(idle))
    assert rises.min() > 75 and len(rises) == pytest.approx((length_s - settling_s) * 20, rel=0.1)


def test_what_is_before_and_after_an_upload_is_not_in_its_mean() -> None:
    idle, other = made(), made(seed=2)
    runs = (other.sent_ms > 30e3) & (other.sent_ms < 60e3)
    found = fit_log(log_of(idle), busy_of(other, np.where(runs, 100.0, 0.0)), search=False)
    assert np.percentile(found.rises, [10, 90]) == pytest.approx([100, 100], abs=10)


def test_no_grid_is_claimed_that_is_finer_than_the_times(tmp_path: Path) -> None:
    def found(period: float, step: float) -> tuple[Fit, str]:
        probes = made(4000, period=period)
        times = (probes.sent_ms, probes.sent_ms + probes.up_ms)
        rows = zip(*(np.round(one / step) * step for one in times), strict=True)
        lines = [f"{sent:.3f},{received:.3f}" for sent, received in rows]
        (tmp_path / "log.csv").write_text("\n".join(["sent_ms,received_ms", *lines]))
        fit = fit_log(repaired(read(tmp_path / "log.csv")), search=False)
        return fit, " ".join(sentences(fit))

    fine, text = found(1.37, 0.01)
    assert fine.grid is not None and fine.grid.period_ms == pytest.approx(1.37, rel=1e-3)
    assert "exact to" not in text
    rounded, text = found(1.37, 1.0)
    assert rounded.grid is None or rounded.grid.period_ms > 2
    assert "exact to 1 ms only, so periods below 2 ms" in text and not rounded.estimates
    for step in (5.0, 10.0):
        coarse, text = found(5.04, step)
        said = f"Grid: not known. The log's times are exact to {step:g} ms only"
        assert coarse.grid is None and said in text
    whole, text = found(5.04, 1.0)
    assert whole.grid is not None and whole.grid.period_ms == pytest.approx(5.04, rel=1e-3)


def test_a_log_that_gives_no_scenario_ends_in_status_1(tmp_path: Path, inside: Inside) -> None:
    whole, out = made(1500), tmp_path / "mine.toml"
    later = np.where(whole.sent_ms > whole.sent_ms[750], 5.0, 0.0)  # two of its periods
    rows = zip(whole.sent_ms, whole.sent_ms + whole.up_ms + later, whole.rtt_ms, strict=True)
    lines = [[f"{value:.6f}" for value in row] for row in rows]
    for columns, names, why in (
        ((0, 1), "sent_ms,received_ms", "the line is outside what the fit knows"),
        ((0, 2), "sent_ms,rtt_ms", "a scenario needs a grid and one-way delays"),
    ):
        chosen = [",".join(line[at] for at in columns) for line in lines]
        (tmp_path / "log.csv").write_text("\n".join([names, *chosen]))
        done = inside("fit", tmp_path / "log.csv", "--out", out)
        assert done.returncode == 1 and not out.exists()
        assert f"not written: {why}" in done.stdout


def test_command_says_what_is_wrong(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "log.csv").write_text("")
    out = tmp_path / "mine.toml"
    inside.refused("fit", tmp_path / "log.csv", "--out", out)
    assert not out.exists()


def test_round_trips_alone_give_the_grid(tmp_path: Path) -> None:
    whole = made()
    found = fit_log(
        repaired(log_of(Probes("ping", whole.sent_ms, None, None, whole.rtt_ms))), search=False
    )
    assert found.grid is not None and not found.estimates
    assert found.grid.period_ms == pytest.approx(2.5, rel=1e-3)


def test_streams_of_a_log_are_those_of_its_scenario() -> None:
    (stream,) = streams_of(log_of(made(interval=50, deviation=0)))
    assert (stream.interval_ms, stream.deviation_percent) == pytest.approx((50, 0), abs=1e-6)
