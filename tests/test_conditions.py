"""Names of measures as people type them, and conditions on measures."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from sojourn.analysis import conditions
from sojourn.analysis.conditions import NotMeasuredError, bound, named, precision
from sojourn.analysis.measures import MEASURES, Measure
from sojourn.base.lookup import UnknownError


def run_with(*keys: str) -> Any:
    """A run that has these measures."""
    return SimpleNamespace(facts=SimpleNamespace(measures=dict.fromkeys(keys, 1.0)))


@pytest.fixture
def both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round trip and one way of the same thing, and a measure without a unit."""
    measures = [
        Measure("ping_p99_ms", "ping p99", "ms", 1, "lower"),
        Measure("ping_rtt_p99_ms", "ping RTT p99", "ms", 1, "lower"),
        Measure("score", "score", "", 1, "higher"),
    ]
    monkeypatch.setattr(conditions, "MEASURES", measures)


@pytest.mark.parametrize("measure", MEASURES, ids=lambda measure: measure.key)
def test_a_measure_is_named_by_its_key_or_its_label(measure: Measure) -> None:
    for name in (measure.key, measure.name, f"  {measure.name.upper().replace(' ', '  ')} "):
        assert measure in named(name, "--until").candidates


@pytest.mark.usefixtures("both_ways")
def test_a_short_name_is_the_round_trip_where_all_runs_have_it() -> None:
    short, one_way, both = (
        named("Ping p99", "until"),
        ["ping_p99_ms"],
        ["ping_p99_ms", "ping_rtt_p99_ms"],
    )
    assert short.among([run_with(*both), run_with(*both)]).key == "ping_rtt_p99_ms"
    assert short.among([run_with(*one_way)]).key == "ping_p99_ms"
    assert short.among([run_with(*both), run_with(*one_way)]).key == "ping_p99_ms"
    assert short.among([run_with("ping_rtt_p99_ms"), run_with("score")]).key == "ping_rtt_p99_ms"
    assert named("ping_p99_ms", "until").among([run_with(*both)]).key == "ping_p99_ms"
    with pytest.raises(
        NotMeasuredError, match=r"'ping RTT p99', which is not measured here.*ping p99$"
    ):
        named("ping RTT p99", "until").among([run_with(*one_way)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ping p99 < 30", ("<", 30.0)),
        ("ping p99<=30ms", ("<=", 30.0)),
        ("PING_P99_MS > 1e2 MS", (">", 100.0)),
        (" score >= 4.2 ", (">=", 4.2)),
    ],
)
@pytest.mark.usefixtures("both_ways")
def test_a_bound_is_read(text: str, expected: tuple[str, float]) -> None:
    read = bound(text)
    assert (read.sign, read.value) == expected
    assert read.is_upper == ("<" in read.sign)
    assert read.holds(read.value) == ("=" in read.sign)
    assert read.holds(read.value - 1) == read.is_upper


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("game p99", "until: found 'game p99'; allowed: a measure, one of <"),
        ("game p99 < 3 < 5", "allowed: a measure, one of <"),
        ("gaem p99 < 3", "did you mean game p99.*; allowed: .*voice MOS"),
        ("game_latency_p98_ms < 3", "did you mean game_latency_p.*; allowed: .*voice_mos"),
        ("game p99 < ms", "found 'ms' as its value; allowed: a number, or a number with ms"),
        ("game p99 < nan", "found 'nan' as its value"),
        ("game p99 < 1e999", "found '1e999' as its value"),
        ("game p99 < 1.2.3", "found '1.2.3' as its value"),
        ("game p99 < 30 s", "found the unit 's'; allowed for game .*p99: ms, or no unit"),
        ("voice MOS > 4 %", "found the unit '%'; allowed for voice MOS: no unit"),
    ],
)
def test_a_wrong_bound_is_refused(text: str, message: str) -> None:
    with pytest.raises(UnknownError, match=message):
        bound(text)


def test_a_precision_is_read() -> None:
    assert precision("game  p99 5%").percent == 5
    assert precision("voice_mos 0.5 %").named.candidates[0].key == "voice_mos"
    assert precision("game loss 20%").named.text == "game loss"


@pytest.mark.parametrize("text", ["game p99", "5%", "game p99 0%", "game p99 -1%", "game p99 nan%"])
def test_a_wrong_precision_is_refused(text: str) -> None:
    with pytest.raises(UnknownError, match="allowed: a measure and a percentage above 0"):
        precision(text)


@pytest.mark.parametrize(
    ("guess", "meant"),
    [
        ("call > 4", "voice MOS, video call incomplete or video call p90"),
        ("game < 30", "game p50, game p90 or game p99"),
        ("ping < 30", "game RTT p50, game RTT p90 or game RTT p99"),
        ("game latency p99 < 30", "game RTT p99, game p99 or game RTT p50"),
        ("loss < 1", "game loss"),
        ("quality > 4", "voice MOS, own score or cloud game MOS"),
        ("web page < 3", "page load or web response"),
        ("film > 5", "video, video stalled or video rise time"),
        ("throughput > 5", "upload or download"),
        ("upstream delay < 5", "up queue p50 or up queue p99"),
        ("gmae p99 < 30", "game p99"),
    ],
)
def test_first_guesses_lead_to_measures(guess: str, meant: str) -> None:
    with pytest.raises(UnknownError) as caught:
        bound(guess)
    assert re.search(r"\(did you mean (.*)\?\)", str(caught.value))[1] == meant  # type: ignore[index]


def test_a_first_word_that_no_other_measure_begins_with_is_enough() -> None:
    first = [measure.name.split(" ")[0].casefold() for measure in MEASURES]
    names = {measure.name.casefold() for measure in MEASURES}
    for measure, word in zip(MEASURES, first, strict=True):
        if first.count(word) == 1 and word not in names:
            assert bound(f"{word} < 1").named.candidates[-1] is measure
    assert bound("page < 1").named.candidates[0].key == "page_load_median_s"


def test_a_guess_that_means_nothing_suggests_nothing() -> None:
    with pytest.raises(UnknownError, match="found 'colour'; allowed:"):
        bound("colour < 3")
