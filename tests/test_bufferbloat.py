"""The letter and the numbers of bufferbloat before the answer of a run."""

from types import SimpleNamespace
from typing import Any

import sojourn
from sojourn.analysis.bufferbloat import bufferbloat_grid
from sojourn.analysis.verdict import RoundTrip
from sojourn.base.grid import Grid


def grid_of(**found: RoundTrip) -> Grid | None:
    judged: Any = SimpleNamespace(round_trips=found)
    return bufferbloat_grid(judged, found)


def test_what_the_household_does_not_do_is_not_measured() -> None:
    grid = grid_of(
        up=RoundTrip("C", "game", 23.1, None, 189.8, None),
        no_idle_line=RoundTrip(None, "game", None, 60.4, 60.4, None),
    )
    assert grid is not None
    assert grid.rows == [
        ["up", "C", "23.1", "not measured", "190"],
        ["no_idle_line", "not measured", "not measured", "60.4", "60.4"],
    ]
    grid = grid_of(both=RoundTrip("A", "game", 23.1, None, None, 40.0))
    assert grid is not None
    assert grid.rows == [["both", "A", "23.1", "not measured", "not measured", "40.0"]]
    assert grid_of(alone=RoundTrip(None, "game", 23.1, None, None, None)) is None
    assert grid_of(loaded=RoundTrip(None, "game", None, None, 60.4, None)) is None
    assert grid_of() is None


def test_where_some_settings_are_left_out_their_number_is_in_the_title() -> None:
    one = RoundTrip("C", "game", 23.1, None, 189.8, None)
    judged: Any = SimpleNamespace(round_trips={"a": one, "b": one, "c": one})
    few, all_ = (bufferbloat_grid(judged, names) for names in (["a", "c"], ["a", "b", "c"]))
    assert few and few.title.endswith(" from A+ to F, 2 of 3 settings")
    assert all_ and all_.title.endswith(" from A+ to F")


def test_the_numbers_are_medians_while_a_load_is_under_way() -> None:
    result = sojourn.run("upload", duration_s=12)
    medians = {
        name: [
            max(
                row[f"rtt_{load}_p50_ms"] or 0
                for row in run.flows.to_pylist()
                if row["traffic"] == "game"
            )
            for load in ("idle", "up")
        ]
        for name, run in result.items()
    }
    found = result.verdict.round_trips
    assert list(found) == ["drop-tail", "DOCSIS-PIE"]
    for name, one in found.items():
        numbers = (one.idle_ms, one.downloading_ms, one.uploading_ms, one.both_ms)
        assert numbers == (medians["idle line"][0], None, medians[name][1], None)
    assert found["drop-tail"].letter == "C"
    assert "C on DSLReports' scale" in result.grades["drop-tail"]["under load"].summary
