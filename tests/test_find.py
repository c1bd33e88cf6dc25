"""Searches: which values are probed, what the answer is, and what the command does."""

import json
import random
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import polars as pl
import pytest
import sojourn
from markupsafe import escape
from sojourn.analysis.answers import Words, sentences
from sojourn.analysis.conditions import Holds, Judged, bound
from sojourn.analysis.measures import MEASURES
from sojourn.analysis.search import Span, Stretch, Values, probes, span_of
from sojourn.plot.figures.by_kind import chart
from sojourn.report.html import report_of
from sojourn.runs.request import Request
from sojourn.store.find import run_search
from sojourn.store.found import Condition, Found
from sojourn.store.read import read_results
from sojourn.store.search import Search
from sojourn.store.verify import verify
from stores import Inside

Measured = Callable[[float], Sequence[float | None]]
"""What the seeds measure at a value."""


def search(
    values: Values,
    *conditions: tuple[str, Measured],
    accepts: Callable[[float], bool] = lambda value: True,
) -> tuple[list[dict[float, Judged]], list[Span]]:
    """Searches functions in place of simulations."""
    bounds = [bound(text) for text, _ in conditions]
    points: list[dict[float, Judged]] = [{} for _ in conditions]
    rounds = probes(points, [one.is_upper for one in bounds], values, accepts)
    for count, wanted in enumerate(rounds):
        assert count < 40 and not any(value in points[0] for value in wanted)
        for one, of, (_, measured) in zip(bounds, points, conditions, strict=True):
            of.update({value: one.judged(measured(value)) for value in wanted})
    return points, [span_of([of]) for of in points]


def exactly(function: Callable[[float], float]) -> Measured:
    """A measurement that gives the value of the function with all seeds."""
    return lambda value: [function(value)] * 3


def around(half: float) -> Measured:
    """The value itself, whose interval reaches so far to both sides."""
    # Student's t of 2 degrees of freedom is 4.303; these three differ by 1 from their mean.
    return lambda value: [value + half * 3**0.5 / 4.303 * place for place in (-1, 0, 1)]


def said(points: Sequence[dict[float, Judged]], values: Values) -> list[str]:
    words = Words("k", values, lambda value: f"{value:g}")
    return list(sentences({f"c{place}": of for place, of in enumerate(points)}, words))


def stretches(*stretches: tuple[Holds, float, float]) -> Span:
    return Span([Stretch(*one) for one in stretches])


@pytest.mark.parametrize("threshold", [1.5, 2, 3.1, 8.9, 35, 61, 99.5])
def test_whole_numbers_are_found_exactly(threshold: float) -> None:
    values = Values(1, 100, is_whole=True, step=1)
    points, (span,) = search(values, ("game p99 < 0", exactly(lambda x: x - threshold)))
    last = max(n for n in range(1, 101) if n < threshold)
    assert span == stretches((Holds.YES, 1, last), (Holds.NO, last + 1, 100))
    assert all(isinstance(value, int) for value in points[0]) and len(points[0]) <= 11
    assert said(points, values) == [
        f"c0 holds with k up to {last}.",
        f"It fails from {last + 1} on.",
        f"{len(points[0])} values were probed with 3 seeds each.",
    ]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("threshold", [0.0123, 0.5, 7, 55, 99])
def test_numbers_are_found_within_two_percent(threshold: float, sign: int) -> None:
    values = Values(0.01, 100)
    points, (span,) = search(values, ("game p99 < 0", exactly(lambda x: sign * (x - threshold))))
    holds, fails = span.edge or (None, None)
    assert holds is not None and fails is not None and span.holds
    assert (holds - threshold) * sign < 0 <= (fails - threshold) * sign
    assert abs(fails - holds) <= 0.02 * max(holds, fails)
    assert (span.holds[0] == 0.01) == (sign > 0)
    # What lies between the last two is told as such.
    low, high = sorted((holds, fails))
    assert span.unprobed(values) == [(low, high)] and not span.undecided
    assert said(points, values)[2:4] == [
        f"Not probed is what lies between {low:g} and {high:g}.",
        "A smaller step comes nearer.",
    ]


@pytest.mark.parametrize(("low", "high"), [(0, 1), (-5, 5), (-1, 0)])
def test_a_search_around_zero_ends(low: float, high: float) -> None:
    _, (span,) = search(Values(low, high), ("game p99 < 0.0", exactly(lambda x: x)))
    assert span.low == low and span.high == high


def test_steps_lie_on_a_grid() -> None:
    points, (span,) = search(Values(10, 100, step=2.5), ("upload > 0", exactly(lambda x: x - 41)))
    assert span.edge == (42.5, 40)
    assert all((value - 10) % 2.5 == 0 for value in points[0])


def test_what_the_seeds_do_not_decide_is_said() -> None:
    values = Values(0, 100, is_whole=True)
    points, (span,) = search(values, ("game p99 < 50", around(5.5)))
    assert span.edge == (44, 56)
    assert said(points, values)[2:] == [
        "Undecided is what lies between 44 and 56.",
        "More seeds or a longer duration decide more.",
        f"{len(points[0])} values were probed with 3 seeds each.",
    ]
    judged = points[0]
    assert {judged[value].holds for value in judged if 44 < value < 56} == {Holds.UNDECIDED}


def test_conditions_that_hold_between_two_values() -> None:
    """However narrow it is: each condition has an edge of its own."""
    values = Values(1, 1000, is_whole=True)
    conditions = ("game p99 < 40", exactly(lambda x: x)), ("upload > 38", exactly(lambda x: x))
    points, _ = search(values, *conditions)
    whole = span_of(points)
    assert whole == stretches((Holds.NO, 1, 38), (Holds.YES, 39, 39), (Holds.NO, 40, 1000))
    assert whole.holds == (39, 39) and whole.edge == (39, 40)
    first, second, *_ = said(points, values)
    assert first == "Together the conditions hold with k at 39."
    assert second == "They fail up to 38 and from 40 on."


def test_conditions_that_exclude_each_other() -> None:
    values = Values(1, 1000, is_whole=True)
    conditions = ("game p99 < 40", exactly(lambda x: x)), ("upload > 60", exactly(lambda x: x))
    points, _ = search(values, *conditions)
    assert span_of(points) == stretches((Holds.NO, 1, 1000)) and span_of(points).holds is None
    assert said(points, values)[0] == (
        "Together the conditions hold at no probed value from 1 to 1000 of k."
    )


@pytest.mark.parametrize(
    ("measured", "flat", "sentence"),
    [
        (exactly(lambda x: 0), Holds.YES, "c0 holds at all probed values from 1 to 25 of k."),
        (exactly(lambda x: 9), Holds.NO, "c0 holds at no probed value from 1 to 25 of k."),
        (lambda x: [0, 5, 10], Holds.UNDECIDED, "c0: undecided at all probed values from 1 to 25"),
    ],
)
def test_what_is_so_everywhere(measured: Measured, flat: Holds, sentence: str) -> None:
    values = Values(1, 25, is_whole=True)
    points, (span,) = search(values, ("game p99 < 5", measured))
    assert sorted(points[0]) == [1, 5, 25] and span == stretches((flat, 1, 25))
    assert said(points, values)[0].startswith(sentence)


def test_what_alone_is_undecided_is_narrowed() -> None:
    values = Values(1, 25, is_whole=True)
    measured: Measured = lambda x: [0, 5, 10] if 4 <= x <= 6 else [9, 9, 9]  # noqa: E731
    points, _ = search(values, ("game p99 < 5", measured))
    assert said(points, values) == [
        "c0 surely holds at no probed value from 1 to 25 of k.",
        "It fails up to 3 and from 7 on.",
        "Undecided is what lies between 3 and 7.",
        "More seeds or a longer duration decide more.",
        f"{len(points[0])} values were probed with 3 seeds each.",
    ]


YES, NO, UNDECIDED = [0.0, 0.0], [9.0, 9.0], [0.0, 9.0]


@pytest.mark.parametrize(
    ("found", "edge", "last"),
    [
        ([YES, YES, NO, NO], (2, 3), "It fails from 3 on."),
        ([YES, UNDECIDED, YES, YES, NO], (4, 5), "Undecided is what lies between 1 and 3."),
        ([UNDECIDED, YES, NO, UNDECIDED], (2, 3), "lies between 1 and 2 and between 3 and 4."),
        ([YES, YES, NO, YES, NO], (2, 3), "c0 holds and fails in turns, and may change again"),
        ([YES, UNDECIDED, NO], (1, 3), "Undecided is what lies between 1 and 3."),
        ([UNDECIDED, UNDECIDED, NO], (None, 3), "Undecided is what lies between 1 and 3."),
        ([YES, UNDECIDED], (1, None), "Undecided is what lies between 1 and 2."),
        ([YES, YES], None, "c0 holds at all probed values from 1 to 2 of k."),
        ([NO, UNDECIDED, NO], None, "Undecided is what lies between 1 and 3."),
        ([NO, NO], None, "c0 holds at no probed value from 1 to 2 of k."),
    ],
)
def test_the_edge_of_points(
    found: Sequence[Sequence[float]], edge: tuple[float | None, float | None] | None, last: str
) -> None:
    condition = bound("game p99 < 5")
    points = {float(place): condition.judged(of) for place, of in enumerate(found, 1)}
    assert span_of([points]).edge == edge
    values = Values(1, len(found), is_whole=True)
    assert any(last in sentence for sentence in said([points], values))
    # The same from the other side.
    mirrored = {-place: judged for place, judged in points.items()}
    other = edge and tuple(None if value is None else -value for value in edge)
    assert span_of([mirrored]).edge == other


_SIZE = 60
"""Whole numbers up to it are close only if they are neighbours."""


def _outcomes(rng: random.Random, *, is_monotone: bool) -> list[Holds]:
    """What is so at the numbers from 1 on: in order or in any order, in runs of random lengths."""
    kinds = [Holds.YES, Holds.UNDECIDED, Holds.NO][:: rng.choice([1, -1])]
    if is_monotone:
        ends = sorted(rng.choices(range(_SIZE + 1), k=2))
        lengths = [ends[0], ends[1] - ends[0], _SIZE - ends[1]]
        return [kind for kind, count in zip(kinds, lengths, strict=True) for _ in range(count)]
    runs = [[rng.choice(kinds)] * rng.choice([1, 1, 3, 9, 20]) for _ in range(_SIZE)]
    return [kind for run in runs for kind in run][:_SIZE]


def _measured(outcomes: Sequence[Holds]) -> Measured:
    measures = {Holds.YES: YES, Holds.NO: NO, Holds.UNDECIDED: UNDECIDED}
    return lambda value: measures[outcomes[int(value) - 1]]


def _runs(outcomes: Sequence[Holds], kind: Holds) -> list[tuple[float, float]]:
    """The first and last numbers, from 1 on, of all runs of a kind: by brute force."""
    places = [(kind, [n for n, _ in of]) for kind, of in groupby(enumerate(outcomes, 1), _second)]
    return [(of[0], of[-1]) for other, of in places if other is kind]


def _second(pair: tuple[int, Holds]) -> Holds:
    return pair[1]


@pytest.mark.parametrize("is_monotone", [True, False])
def test_the_answer_is_that_of_brute_force(is_monotone: bool) -> None:
    """In order the answer is exact; in any order it is of what was probed, and says no more."""
    values = Values(1, _SIZE, is_whole=True)
    rng = random.Random(34)
    for _ in range(300):
        all_outcomes = [
            _outcomes(rng, is_monotone=is_monotone) for _ in range(rng.choice([1, 2, 3]))
        ]

        measured = [_measured(of) for of in all_outcomes]
        points, _ = search(values, *(("game p99 < 5", of) for of in measured))
        whole = span_of(points)
        joint = [min(of) for of in zip(*all_outcomes, strict=True)]
        if is_monotone:
            for kind in (Holds.YES, Holds.NO):
                assert [(one.low, one.high) for one in whole.of(kind)] == _runs(joint, kind)
            undecided = [
                (max(low - 1, 1), min(high + 1, _SIZE))
                for low, high in _runs(joint, Holds.UNDECIDED)
            ]
            assert whole.undecided == undecided and not whole.unprobed(values)
        probed = {value: joint[int(value) - 1] for value in points[0]}
        for value, holds in probed.items():
            (its,) = (one for one in whole.stretches if one.low <= value <= one.high)
            assert its.holds is holds
            if holds is not Holds.UNDECIDED:
                assert not any(low < value < high for low, high in whole.undecided)
        if whole.holds:
            assert {joint[int(end) - 1] for end in whole.holds} == {Holds.YES}
        assert (whole.holds is None) == (Holds.YES not in probed.values())


def test_values_that_look_alike_are_told_apart() -> None:
    """Three digits of 9.375 and 9.376 are the same, so all of their digits are shown."""
    condition = Condition(bound("game p99 < 5"), MEASURES[0])
    found = Found("upstream.sustained_mbps", 1, [condition], Values(1, 10))
    for value in (5, 9.375, 9.376, 9.5):
        found.add("", value, {1: {MEASURES[0].key: 9.0 if value > 9.375 else 1.0}})
    shown = list(map(found.say, (5, 9.375, 9.376, 9.5)))
    assert shown == ["5 Mbps", "9.375 Mbps", "9.376 Mbps", "9.5 Mbps"]
    assert "lies between 9.375 Mbps and 9.376 Mbps." in str(found)
    (answer,) = found.to_json()["answers"]
    assert (answer["unprobed"], answer["undecided"], answer["probed"]) == ([(9.375, 9.376)], [], 4)


def test_a_mean_in_all_digits_has_its_interval(capsys: pytest.CaptureFixture[str]) -> None:
    """Three digits of 50.031 are those of the bound; half of its interval is 12.7062 times 0.05."""
    condition = Condition(bound("game p99 < 50"), MEASURES[0])
    found = Found("upstream.sustained_mbps", 2, [condition], Values(1, 10))
    found.add("", 5, {seed: {MEASURES[0].key: of} for seed, of in ((1, 49.981), (2, 50.081))})
    found.summary()
    assert "50.031 ± 0.635" in capsys.readouterr().out


def test_what_was_not_measured_fails() -> None:
    judged = bound("game p99 < 5").judged([1.0, 1.0, None])
    assert (judged.holds, judged.value.n, judged.seeds) == (Holds.NO, 2, 3)
    values = Values(1, 9, is_whole=True)
    points, _ = search(values, ("game p99 < 5", lambda x: [None] if x > 8 else [1]))
    assert said(points, values)[2:] == [
        "c0 fails where nothing was measured with some seeds: at 9.",
        "6 values were probed with a single seed, which has no interval: another seed may answer "
        "otherwise.",
    ]


@pytest.mark.parametrize("threshold", [2, 9, 11, 150])
@pytest.mark.parametrize("start", [3, 10, 80])
def test_without_ends_the_search_doubles(start: int, threshold: int) -> None:
    values = Values(1, 10_000, start, is_whole=True, step=1)
    for text, sign in (("game p99 < 0", 1), ("upload > 0", -1), ("upload > 0", 1)):
        points, (span,) = search(values, (text, exactly(lambda x: sign * (x - threshold + 0.5))))  # noqa: B023
        assert span.edge and set(span.edge) == {threshold - 1, threshold}
        # Nothing is probed far from the edge.
        ends = min(start, threshold), max(start, threshold)
        assert min(points[0]) >= ends[0] // 2 - 1 and max(points[0]) <= 2 * ends[1]


def test_doubling_ends_where_the_scenario_refuses() -> None:
    values = Values(0.001, 1e6, 5.0)
    _, (span,) = search(
        values, ("game p99 < 1e9", exactly(lambda x: x)), accepts=lambda value: value <= 20
    )
    # Six times to the other side, which is as far as it goes.
    assert span == stretches((Holds.YES, 5 / 2**6, 20))


SHORT = """
duration_s = 0.5
upstream.sustained_mbps = 5
upstream.peak_mbps = 10
upstream.queue.limit_bytes = 60_000
downstream.sustained_mbps = 50
servers.near.delay_ms = 5
homes.other.count = 1
traffic.upload = { kind = "transfer", server = "near" }
traffic.game = { kind = "stream", purpose = "game", server = "near" }
"""
LIMIT = "upstream.queue.limit_bytes"


@pytest.fixture
def short(tmp_path: Path) -> Path:
    path = tmp_path / "short.toml"
    path.write_text(SHORT)
    return path


def test_the_command_finds_a_buffer(short: Path, tmp_path: Path, inside: Inside) -> None:
    out = tmp_path / "out"
    options = ("find", short, "--key", LIMIT, "--until", "Game p99 <60ms", "--seeds", 2)
    found = json.loads(inside.printed(*options, "--step", 12_000, "--out", out, "--json"))
    assert found["format"] == 1
    (answer,) = found["answers"]
    holds, fails = answer["interval"]
    assert answer["answer"] == holds < fails <= 60_000
    measure = found["points"][0]["measure"]
    # The same runs as those of the command `run`, seeds and all.
    runs = pl.read_csv(out / "values.csv").filter(
        pl.col(LIMIT) == fails, pl.col("measure") == measure
    )
    assert runs["seed"].to_list() == [1, 2]
    alone = sojourn.run(short, set={LIMIT: fails}, seed=2)
    assert alone.facts.measures[measure] == runs["value"][1]
    points = pl.read_csv(out / "points.csv")
    assert points[LIMIT].is_sorted() and points.filter(pl.col(LIMIT) == holds)["holds"][0] == "yes"
    assert points.filter(pl.col(LIMIT) == fails)["mean"][0] == pytest.approx(runs["value"].mean())
    assert b"<svg" in (out / "find.svg").read_bytes()
    # It is a sweep to all other commands.
    results = read_results(out)
    assert results.keys == [LIMIT] and len(results.groups) == len(points)
    assert not verify(out).problems
    # Other parameters need a word, and existing runs are used again.
    with pytest.raises(ValueError, match="holds the results of the search of"):
        run_search(Search(Request.of(short), LIMIT, [bound("game p99 < 60")]), out)
    kept = {path: path.stat().st_mtime_ns for path in out.glob("runs/*/meta.json")}
    assert inside.printed(*options, "--step", 12_000, "--out", out, "--resume", "--quiet") == ""
    assert {path: path.stat().st_mtime_ns for path in out.glob("runs/*/meta.json")} == kept
    assert f"holds with {LIMIT} up to" in answer["sentences"][0]


def test_the_exit_status_says_whether_there_is_a_value(short: Path, inside: Inside) -> None:
    ends = ("--from", 30_000, "--to", 60_000, "--seeds", 2, "--step", 20_000)
    done = inside("find", short, "--key", LIMIT, "--until", "game p99 < 1", *ends)
    assert done.returncode == 1
    assert "holds at no probed value from 30 kB to 60 kB" in done.stdout


def test_variants_have_answers_of_their_own(tmp_path: Path) -> None:
    found = sojourn.find(
        f"{SHORT}compare.slow.upstream.sustained_mbps = 2\ncompare.fast.upstream.peak_mbps = 10\n",
        key=LIMIT,
        until=["up queue p99 < 40", "upload > 0.1"],
        low=2_000,
        high=60_000,
        step=4_000,
        seeds=2,
        duration_s=1,
        out=tmp_path / "out",
    )
    assert list(found) == ["slow", "fast"]
    # Each variant has its own points, so its line in the report has no gaps where others have some.
    drawn = chart(read_results(tmp_path / "out"), "sweep", "upload_mbps", [])
    for curve in drawn.curves:
        assert [1000 * x for x in curve.x] == sorted(found.runs_of[curve.name])
    # The report of the directory begins with the answer.
    page = report_of(read_results(tmp_path / "out"))
    assert all(escape(line) in page for line in found.lines())
    slow, fast = found["slow"], found["fast"]
    assert slow.answer and fast.answer
    assert slow.holds and slow.holds[1] == slow.answer
    assert found.points["holds"].to_pylist().count("no") >= 2
    with pytest.raises(ValueError, match=r"found 2 variants; allowed: one of them, as \['slow'\]"):
        _ = found.answer
    assert [drawn.y.label for drawn in found.charts()] == ["up queue p99 (ms)", "upload (Mbps)"]
    assert [name for drawn in found.charts() for name in drawn.names] == [
        *("slow", "fast", "up queue p99 < 40 ms"),
        *("slow", "fast", "upload > 0.1 Mbps"),
    ]


def test_what_the_scenario_refuses_ends_the_search(short: Path) -> None:
    found = sojourn.find(
        short, key="upstream.sustained_mbps", until="upload > 60", seeds=2, duration_s=0.5, step=1
    )
    assert max(found.points["upstream.sustained_mbps"].to_pylist()) == 10
    (remark,) = (one for one in found.remarks if "refuses" in one)
    assert remark.startswith("The scenario refuses 20 Mbps: ")
    assert "upstream.peak_mbps: found 10; allowed: 20 or more" in remark


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": "homes.othr.count"}, "key homes.othr: found 'othr' .did you mean other"),
        (
            {"key": "upstream.flows.f.weight"},
            "found 'f'; allowed: a name that the scenario has there",
        ),
        ({"key": "homes.other.cuont"}, "key homes.other.cuont: found .*did you mean count"),
        (
            {"key": "upstream.queue.law"},
            "found the type table, .*; allowed: a key with a number. To compare its choices .none, "
            "codel, .*: sojourn run SCENARIO --vary upstream.queue.law.kind=none",
        ),
        (
            {"key": "upstream.queue.law.kind"},
            "law.kind: found a word; allowed: a key with a number. To compare its choices .none, ",
        ),
        ({"key": "dialect"}, "the type text; .* --vary dialect=rfc --vary dialect=ns2$"),
        ({"key": "title"}, "key title: found the type text; allowed: a key with a number$"),
        ({"key": "a b"}, "key: found 'a b'; allowed: a dotted key"),
        ({"key": "seed"}, "key: found seed; allowed: a key of all variants"),
        ({"key": "duration_s", "duration_s": 1}, "duration_s: found as key too"),
        ({"key": "downstream.queue.limit_bytes"}, "found no value in the scenario.*; give low"),
        ({"low": 5, "high": 5}, "low, high: found 5 and 5; allowed: the lesser value first"),
        ({"low": 0}, f"low: found 0; allowed for {LIMIT}: a whole number from 1 to"),
        ({"low": 1.5}, "low: found 1.5; allowed for .*: a whole number"),
        ({"high": float("nan")}, "high: found nan; allowed for"),
        ({"vary": [f"{LIMIT} = 9"]}, f"vary {LIMIT} = 9: found as key too; allowed: one of them"),
        ({"vary": ['"upstream"={}']}, "vary .*: found as key too; allowed: one of them"),
        ({"vary": ["seed=2"]}, "found the seed, which is no setting; allowed: another key"),
        ({"key": 'upstream."queue".limit_bytes'}, f"found '.*'; allowed: {LIMIT}"),
        ({"step": 1e-300, "key": "servers.near.delay_ms", "low": 1, "high": 9}, "1e-300; allowed"),
        ({"low": 10**400}, "low: found inf; allowed for"),
        ({"step": 0}, "step: found 0; allowed for .*: a whole number above 0"),
        ({"seeds": 0}, "seeds: found 0; allowed: 1 to 10000"),
        ({"jobs": 0}, "jobs: found 0; allowed: 1 or more"),
        ({"until": []}, "until: missing; allowed: a condition"),
        ({"until": "video > 3", "seeds": 1}, "'video', which is not measured here; allowed: game"),
        (
            {"key": "upstream.sustained_mbps", "low": 1, "high": 40},
            "key upstream.sustained_mbps: at 40: .*upstream.peak_mbps: found 10",
        ),
    ],
)
def test_bad_questions_are_refused(short: Path, changes: dict[str, object], message: str) -> None:
    asked = {"key": LIMIT, "until": "game p99 < 30", **changes}
    with pytest.raises(ValueError, match=message):
        sojourn.find(short, **asked)  # type: ignore[arg-type]


def test_an_answer_about_the_start_says_so(short: Path) -> None:
    slow = {"upstream.queue": {"law": {"kind": "codel"}}, "upstream.sustained_mbps": 10}
    slow["traffic.game.direction"] = "down"  # Nothing watches the queue, so its tail is graded.
    ends = {"low": 1, "high": 2, "seeds": 1, "duration_s": 15}
    key = "upstream.queue.law.target_ms"
    for until, is_of_tail in (("up queue p99 > 0", True), ("upload > 0", False)):
        found = sojourn.find(short, key=key, until=until, set=slow, **ends)  # type: ignore[arg-type]
        (remark,) = (one for one in found.remarks if "make the tail" in one)
        seconds = remark.split("the first ")[1].split(" s")[0]
        said = f"In some of these runs the first {seconds} s make"
        for answer in found.values():
            assert answer.sentences[-1].startswith(said) is is_of_tail


def test_a_search_does_not_replace_a_sweep(short: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    sojourn.sweep(short, {LIMIT: [30_000]}, duration_s=0.1, out=out)
    request = Request.of(short, duration_s=0.1)
    search = Search(request, LIMIT, [bound("upload > 9")], 30_000, 60_000, seeds=1)
    with pytest.raises(ValueError, match="holds the results of a sweep"):
        run_search(search, out)
    run_search(search, out, overwrite=True)
    searched = {path.name for path in out.iterdir()}
    with pytest.raises(ValueError, match="holds results of"):
        sojourn.sweep(short, {LIMIT: [30_000]}, duration_s=0.1, out=out)
    # What is overwritten is gone, runs and all.
    swept = sojourn.sweep(short, {LIMIT: [40_000]}, duration_s=0.1, out=out, overwrite=True)
    runs = [run.directory.name for group in swept.results.groups for run in group.runs]
    assert sorted(path.name for path in (out / "runs").iterdir()) == sorted(runs)
    assert "answer.txt" in searched - {path.name for path in out.iterdir()}
    found = run_search(search, out, overwrite=True)
    assert len([*(out / "runs").iterdir()]) == len({*found.runs[LIMIT].to_pylist()})


def test_how_many_homes_of_a_mix(inside: Inside) -> None:
    found = sojourn.find(
        "neighbourhood",
        key="homes.*.count",
        until="game p90 < 1000",
        low=0.5,
        high=1.5,
        seeds=1,
        duration_s=0.5,
    )
    # 14.5 and 43.5 homes, to the even.
    assert (found.totals[0.5], found.totals[1.5]) == (5 + 14 + 1, 15 + 44 + 1)
    assert "from 0.5 (20 in all) to 1.5 (60 in all) of homes.*.count" in str(found)
    wrong = ("find", "neighbourhood", "--until", "upload > 1", "--key")
    said = inside.refused(*wrong, "homes.*.cnt")
    assert "--key: found homes.*.cnt, but the scenario does not set homes.*.cnt" in said
