"""Limits that results must reach: `--fail-below`."""

import re
from pathlib import Path

import pytest
import sojourn
from conftest import ROOT
from sojourn.analysis.groups import Results
from sojourn.analysis.limits import failures, limit
from sojourn.analysis.verdict import Grade, verdict
from sojourn.base.lookup import UnknownError
from stores import Inside

WORST = list(Grade)[-1].word


def failed(comparison: sojourn.Comparison, *limits: str) -> list[str]:
    return list(failures(Results.of(comparison), [limit(text, "--fail-below") for text in limits]))


def test_each_grade_below_the_limit_is_a_failure(comparison: sojourn.Comparison) -> None:
    graded = verdict(Results.of(comparison))
    (idle,) = graded.idle_lines
    grades = {
        (name, one.application): one.grade
        for name, of in graded.groups.items()
        for one in of
        if name != idle
    }
    for text, enough in (("good", {Grade.GOOD}), ("Fair ", {Grade.GOOD, Grade.FAIR})):
        below = {place for place, grade in grades.items() if grade not in enough}
        found = [sentence.split(": ")[:2] for sentence in failed(comparison, text)]
        assert {(name, re.split(" (?:is|has) | fails", what)[0]) for name, what in found} == below
        assert 0 < len(found) == len(below)


def test_a_missing_grade_or_measure_is_a_failure() -> None:
    result = sojourn.run(ROOT / "scenarios" / "upload.toml", duration_s=1)
    short = "less than 10 s are measured of traffic.upload"
    why = f"drop-tail: upload has no grade: {short}; required: fair"
    assert any(re.fullmatch(why, one) for one in failed(result, "fair"))
    result = sojourn.run(ROOT / "scenarios" / "upload.toml", duration_s=0.01)
    (first, *_) = failed(result, "game p99 < 1e9")
    assert re.match(
        r"drop-tail: game .*p99 was not measured; required: game .*p99 < 1e\+09 ms", first
    )


def test_bounds_are_on_every_loaded_setting(comparison: sojourn.Comparison) -> None:
    (idle,) = verdict(Results.of(comparison)).idle_lines
    loaded = [name for name in comparison if name != idle]
    found = failed(comparison, "game p99 < 0.001 ms", "voice MOS > 1")
    assert [sentence.partition(": ")[0] for sentence in found] == loaded
    assert all(
        re.search(r"game .*p99 is [0-9.]+ ms; required: game .*p99 < 0.001 ms$", one)
        for one in found
    )


def test_a_value_that_rounds_to_its_bound_has_more_digits(comparison: sojourn.Comparison) -> None:
    first = next(iter(comparison.values()))
    value = first.facts.measures["voice_mos"]
    assert value
    (sentence, *_) = failed(comparison, f"voice MOS > {value + 1e-7:.9f}")
    shown = float(re.findall(r"is ([0-9.]+);", sentence)[0])
    assert shown == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (WORST, f"--fail-below: found '{WORST}'; allowed: good, fair, .*or a condition, as 'game"),
        ("gaem p99 < 3", "--fail-below: found 'gaem p99' .did you mean game"),
        ("video stalled < 3 ms", "found the unit 'ms'"),
    ],
)
def test_bad_limits_are_refused(text: str, message: str) -> None:
    with pytest.raises(UnknownError, match=message):
        limit(text, "--fail-below")


def test_a_measure_that_nothing_has_is_bad_input(comparison: sojourn.Comparison) -> None:
    with pytest.raises(UnknownError, match="'low-latency p99', which is not measured here"):
        failed(comparison, "low-latency p99 < 3")


def test_the_exit_status_is_that_of_the_limits(alone: Path, tmp_path: Path, inside: Inside) -> None:
    swept = tmp_path / "swept"
    sojourn.sweep(alone, {"upstream.sustained_mbps": [5]}, duration_s=0.5, out=swept)
    run = ("run", alone, "--duration", 0.5, "--quiet", "--fail-below")
    report = ("report", swept, "--out", tmp_path / "report.html", "--fail-below")
    for command, name in ((run, "this run"), (report, "sustained 5 Mbps")):
        inside.printed(*command, "game loss < 1e9 %")
        done = inside(*command, "game loss > 1e9")
        assert done.returncode == 1
        (line,) = done.stderr.splitlines()
        assert line.startswith(f"failed: {name}: game loss is 0 %; required: game loss > 1e+09")
        assert line.endswith(" %")
    # A sweep runs no idle line: what that would show is not known, and no failure.
    note, *failures = inside(*report, "poor").stderr.splitlines()
    assert "Not measured, since there is no idle line" in note
    assert failures and not any("idle line" in one for one in failures)


def test_the_limits_hold_for_the_variants_that_are_named(comparison: sojourn.Comparison) -> None:
    results = Results.of(comparison)
    never = [limit("game loss < -1", "--fail-below")]
    (idle,) = verdict(results).idle_lines
    *loaded, last = list(comparison)
    assert last == idle
    for names, expected in (((), loaded), (loaded[1:2], loaded[1:2]), ((idle,), [idle])):
        assert [one.partition(": ")[0] for one in failures(results, never, names)] == expected
    with pytest.raises(
        UnknownError, match=r"'CoDell' \(did you mean CoDel\?\); allowed: BufferBloat"
    ) as refused:
        list(failures(results, never, ["CoDell"]))
    assert idle not in str(refused.value)


LATE = """
duration_s = 12
upstream.sustained_mbps = 10
downstream.sustained_mbps = 20
servers.near.delay_ms = 9
traffic.game = { kind = "stream", purpose = "game" }
traffic.late = { kind = "transfer", start_s = 30 }
traffic.bursts = { kind = "on_off", mean_mbps = [0.1] }
compare.one = {}
compare.two.upstream.priority = 3
"""


def test_what_has_no_grade_is_said(tmp_path: Path, inside: Inside) -> None:
    """What sent nothing is not good; what pauses at random has no grade, and a note names it."""
    path = tmp_path / "late.toml"
    path.write_text(LATE)
    # Both variants are one run, which has both names.
    for name in ("one", "two"):
        done = inside("run", path, "--quiet", "--fail-below", "good", "--of", name)
        note, failed, *_ = done.stderr.splitlines()
        assert done.returncode == 1
        assert note.startswith("note: Not graded: on off (bursts). A condition on a measure")
        why = "no grade, since traffic.late sends nothing: it starts at 30 s"
        assert failed.startswith(f"failed: one: {why}") and failed.endswith("required: good")
    assert inside("run", path, "--quiet", "--fail-below", "game loss < 9").returncode == 0
    said = inside.refused("run", path, "--quiet", "--fail-below", "good", "--of", "three")
    assert "allowed: one, two" in said


def test_the_command_takes_a_variant_before_it_runs(inside: Inside) -> None:
    run = ("run", "upload", "--duration", 0.2, "--quiet", "--of")
    limit = ("--fail-below", "game loss < -1")
    done = inside(*run, "drop-tail", *limit)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("failed: drop-tail: game loss is")
    said = inside.refused(*run, "Drop tail", *limit)
    assert said.startswith("error: --of: found 'Drop tail' (did you mean drop-tail?); allowed: ")
    assert "idle line" not in said
    assert "--of: found 'drop-tail' without --fail-below" in inside.refused(*run, "drop-tail")
