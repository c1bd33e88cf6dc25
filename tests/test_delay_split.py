"""Where packets spent their time, in the report of any run."""

from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest
import sojourn
from conftest import Cli, pcap
from sojourn.analysis.groups import THIS_RUN, Group, Results
from sojourn.base.lookup import UnknownError
from sojourn.plot.figures.by_kind import chart
from sojourn.plot.figures.parts import delay
from sojourn.report.html import report_of
from sojourn.runs import delay_split as module
from sojourn.runs.delay_split import DelaySplit, delay_split

TRACED = ("metrics.modem_trace=true",)
PARTS = ("queue", "request_wait", "grant_wait", "shaping", "transmission", "path")


def split_of(run: sojourn.Result | sojourn.Comparison) -> DelaySplit:
    return delay_split(Results.of(run.runs).groups)


def changed(run: sojourn.Result, **changes: Any) -> sojourn.Result:
    """A run that reports something else of itself: its scenario, or what is in its meta data."""
    rebuild, (name, scenario, settings, meta, *others) = run.__reduce__()
    scenario = changes.pop("scenario", scenario)
    return rebuild(name, scenario, settings, {**meta, **changes}, *others)


def test_it_is_that_of_a_run_with_the_trace_on(alone: Path) -> None:
    plain = sojourn.run(alone, duration_s=6)
    traced = sojourn.run(alone, duration_s=6, set=TRACED)
    split = split_of(plain)
    assert split.rows[THIS_RUN] == traced.delay_parts.to_pylist()
    assert len(split.rows[THIS_RUN]) == 28
    assert split.about == "Measured over all 6 s in a rerun with metrics.modem_trace."
    # What a run has kept is taken as it is.
    assert split_of(traced).rows[THIS_RUN] == traced.delay_parts.to_pylist()


def test_the_beginning_is_the_same_as_in_the_whole_run(
    alone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BEGINNING_S", 5.0)
    # All that is sent is sent in 4 s, and is there after 5: a full bucket of 5 Mbps is empty by
    # then. So the packets of the beginning are those of the whole run.
    ends = [f"traffic.{name}.stop_s=4" for name in ("game", "call", "upload")]
    small = [*ends, "traffic.web.start_s=4000", "upstream.queue.limit_bytes=31250"]
    whole = sojourn.run(alone, duration_s=12, set=[*small, *TRACED])
    split = split_of(sojourn.run(alone, duration_s=12, set=small))
    assert split.about == "Measured over the first 5 s in a rerun with metrics.modem_trace."
    assert split.rows[THIS_RUN] == whole.delay_parts.to_pylist()
    assert {row["traffic"] for row in split.rows[THIS_RUN]} == {"game", "call", "upload"}
    # And where it goes on, every event up to then is the same.
    going_on = [
        sojourn.run(alone, duration_s=duration_s, set=TRACED).modem_events for duration_s in (5, 8)
    ]
    beginning = going_on[1].filter(pc.field("time_s") < 5)
    assert beginning.num_rows > 10_000
    assert going_on[0].filter(pc.field("time_s") < 5).equals(beginning)


def test_every_report_has_it(alone: Path) -> None:
    run = sojourn.run(alone, duration_s=3)
    page = report_of(run.groups)
    assert "Parts of the delay" in page
    assert "Measured over all 3 s in a rerun with metrics.modem_trace." in page


def test_the_parts_of_an_entry_stand_beside_each_other(comparison: sojourn.Comparison) -> None:
    drawn = chart(Results.of(comparison.runs), "delay", None, ())
    assert [name.replace("_", " ") for name in PARTS] == list(drawn.names)
    entries = [row[0] for row in drawn.numbers.rows]
    assert entries[:6] == [f"game: {name}" for name in comparison]
    assert len(entries) == 5 * 4 + 3  # no upload on the idle line


def test_parts_are_drawn_as_they_are() -> None:
    parts = {"queue": 5.0, "request_wait": 1.0, "grant_wait": 4.0, "transmission": 0.5}
    rows = [{"traffic": "game", "part": part, "mean_ms": ms} for part, ms in parts.items()]
    drawn = delay(DelaySplit({"": rows}))
    assert drawn and drawn.numbers.rows == [["game", "5.00", "1.00", "4.00", "0", "0.500", "0"]]
    assert delay(DelaySplit()) is None


def test_where_much_happens_less_is_run_again(alone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = sojourn.run(alone, duration_s=6)
    # So many events that a third of the run holds them.
    monkeypatch.setattr(module, "_MOST_EVENTS", run.meta["events"] / 3)
    assert split_of(run).about == "Measured over the first 2 s in a rerun with metrics.modem_trace."
    monkeypatch.setattr(module, "_MOST_EVENTS", run.meta["events"] / 20)
    assert split_of(run).missing == (
        "The parts of the delay are not shown: "
        "the runs have too many events per second to be rerun."
    )


def test_what_cannot_be_run_again_is_left_out_with_a_sentence(
    alone: Path, comparison: sojourn.Comparison
) -> None:
    run = sojourn.run(alone, duration_s=1)
    for odd, why in (
        (changed(run, version="0.0.1"), "sojourn 0.0.1 made the runs, and a rerun by"),
        (changed(run, fingerprint="0"), "a rerun gave another fingerprint"),
        (changed(run, scenario="duration_s = 1\nnothing = 2\n"), "unknown key"),
    ):
        assert why in split_of(odd).missing
        page = report_of(Results.of({"": odd}))
        assert "The parts of the delay are not shown: " in page
    many = [Group(str(number), [run]) for number in range(25)]
    assert "more than 24 runs" in delay_split(many).missing
    with pytest.raises(UnknownError, match=r"kind: found .delay.\. .* more than 24 runs"):
        chart(Results(many), "delay", None, ())


def test_a_capture_that_has_gone_is_no_failure(alone: Path, tmp_path: Path) -> None:
    capture = tmp_path / "noise.pcap"
    capture.write_bytes(pcap([(0, 100), (1500, 1514)]))
    entry = f'{{ kind = "replay", file = "{capture}", server = "peer" }}'
    run = sojourn.run(alone, duration_s=1, set=[f"traffic.replayed={entry}"])
    assert not split_of(run).missing
    capture.unlink()
    missing = split_of(run).missing
    assert missing.startswith("The parts of the delay are not shown: ") and capture.name in missing


def test_of_many_settings_there_are_bars_but_no_curves(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())
    nine = [Group(str(number), [runs[number % 5]]) for number in range(9)]
    page = report_of(Results(nine))
    assert "Curves are drawn for 8 settings at most, and there are 9." in page
    assert "Parts of the delay" in page


def test_the_command_draws_it(comparison: sojourn.Comparison, cli: Cli, tmp_path: Path) -> None:
    comparison.save(tmp_path / "out")
    out = tmp_path / "delay.svg"
    done = cli("plot", tmp_path / "out", "--kind", "delay", "--out", out)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"figure: {out}\n", "")
    assert "request wait" in out.read_text()
