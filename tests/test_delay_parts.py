"""What packets spend their time on, in the tables and the report of any run."""

import json
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import Cli
from sojourn.analysis.groups import Group, Results
from sojourn.export.cable import way_back_ms
from sojourn.plot.figures.by_kind import chart
from sojourn.plot.figures.parts import delay
from sojourn.report.html import report_of

LINE = """
duration_s = 4
upstream.sustained_mbps = 20
downstream.sustained_mbps = 200
servers.near.delay_ms = 10
traffic.game = { kind = "stream", purpose = "game", server = "near", stop_s = 3.9 }
"""


def parts_ms(run: sojourn.Result, traffic: str, direction: str) -> dict[str, float]:
    return {
        row["part"]: row["mean_ms"]
        for row in run.delay_parts.to_pylist()
        if (row["traffic"], row["direction"]) == (traffic, direction)
    }


def of_line(keys: str = "") -> sojourn.Result:
    return sojourn.run(LINE + keys)


def test_parts_add_up_and_are_those_of_all_packets(alone: Path) -> None:
    run = sojourn.run(alone, duration_s=3)
    flows = {(row["traffic"], row["direction"]): row for row in run.flows.to_pylist()}
    assert {(row["traffic"], row["direction"]) for row in run.delay_parts.to_pylist()} == set(flows)
    for (traffic, direction), flow in flows.items():
        found = parts_ms(run, traffic, direction)
        assert sum(found.values()) == pytest.approx(2 * found["total"], rel=1e-9)
        if flow["delivered_packets"] == flow["sent_packets"]:
            assert found["total"] == pytest.approx(flow["latency_mean_ms"], rel=1e-9)
    assert set(run.delay_parts["p50_ms"].to_pylist()) == {None}


def test_each_key_of_a_delay_has_its_part() -> None:
    for keys, direction, part, ms in (
        ("router = { upstream = { rate_mbps = 900, delay_ms = 15 } }", "up", "router", 15.0),
        ("servers.near.path_jitter_ms = 8", "down", "jitter", 8.0),
        ("servers.near.host_jitter_us = 4000", "up", "host", 2.0),
        ("cable.interconnect.delay_us = 7000", "up", "propagation", 18.0),
        ("cable.interconnect.jitter_us = 9000", "up", "jitter", 4.5),
        ("downstream.stalls = [{ start_s = 1, length_s = 0.4 }]", "down", "stall", 20.0),
    ):
        found = parts_ms(of_line(keys), "game", direction)
        assert found[part] == pytest.approx(ms, rel=1e-9 if part == "router" else 0.25), keys


def test_every_report_has_the_figure(alone: Path) -> None:
    run = sojourn.run(alone, duration_s=3)
    assert "Parts of the delay" in report_of(run.groups)


def test_the_parts_of_a_flow_stand_beside_each_other(comparison: sojourn.Comparison) -> None:
    drawn = chart(Results.of(comparison.runs), "delay", None, ())
    assert {"modem queue", "request wait", "grant wait", "propagation"} < set(drawn.names)
    flows = [row[0] for row in drawn.numbers.rows]
    assert flows[:6] == [f"game up: {name}" for name in comparison]


def test_parts_are_drawn_as_they_are() -> None:
    run = of_line()
    drawn = delay(Results.of({"": run}))
    assert drawn
    bars = {
        row[0]: dict(zip(drawn.numbers.headings, row, strict=True)) for row in drawn.numbers.rows
    }
    assert list(bars) == ["game up", "game down"]
    assert float(bars["game down"]["propagation"]) == pytest.approx(
        parts_ms(run, "game", "down")["propagation"], rel=1e-2
    )


def test_runs_of_earlier_versions_have_no_figure() -> None:
    rebuild, (name, scenario, settings, meta, tables, *others) = of_line().__reduce__()
    kept = {name: table for name, table in tables.items() if name != "delay_parts"}
    old = rebuild(name, scenario, settings, meta, kept, *others)
    assert delay(Results.of({"": old})) is None
    assert "Parts of the delay" not in report_of(Results.of({"": old}))


def test_of_many_settings_there_are_bars_but_no_curves(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())
    nine = [Group(str(number), [runs[number % 5]]) for number in range(9)]
    page = report_of(Results(nine))
    assert "Curves are drawn for 8 settings at most, and there are 9." in page
    assert "Parts of the delay" in page


def test_the_command_draws_it(saved: Path, cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "delay.svg"
    assert cli.printed("plot", saved, "--kind", "delay", "--out", out) == f"figure: {out}\n"
    assert "request wait" in out.read_text()


def test_each_link_of_the_way_back_adds_its_delay() -> None:
    """A router stands in the scenario or in a group of homes, whose own comes first."""

    def link(delay_ms: float) -> dict[str, Any]:
        return {"downstream": {"rate_mbps": 50, "delay_ms": delay_ms}}

    router = link(2)
    line = {
        "duration_s": 1,
        "upstream": {"sustained_mbps": 5},
        "downstream": {"sustained_mbps": 20},
        "servers": {"near": {"delay_ms": 9}, "far": {"delay_ms": 40}},
        "traffic": {"upload": {"kind": "transfer", "server": "near"}},
    }

    def of(server: str, more: dict[str, Any]) -> float:
        return way_back_ms(json.loads(sojourn.load({**line, **more})[0].to_json()), server)

    cable_ms = of("near", {}) - 9
    for more, expected_ms in (
        ({}, 0),
        ({"router": router}, 2),
        ({"homes": {"ours": {"router": router}}}, 2),
        ({"homes": {"ours": {}}, "router": router}, 2),
        ({"homes": {"ours": {"router": link(3)}}, "router": router}, 3),
        ({"core": {"one": link(5)}, "router": router}, 7),
    ):
        for server, delay_ms in (("near", 9), ("far", 40)):
            assert of(server, more) == pytest.approx(cable_ms + delay_ms + expected_ms), more
