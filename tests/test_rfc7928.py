"""The study of RFC 7928: its managers and scenarios, ranks, and the graph of section 2.7."""

import csv
from pathlib import Path

import numpy as np
import pytest
from conftest import Cli
from sojourn.analysis.statistics import Value
from sojourn.runs.scenario_keys import ScenarioSchema
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.rows import Row
from sojourn_studies.framework.running import run_plan
from sojourn_studies.rfc7928.figures import Cloud
from sojourn_studies.rfc7928.managers import LEFT_OUT, MANAGERS
from sojourn_studies.rfc7928.ranking import GOALS, grids, groups
from sojourn_studies.rfc7928.scenarios import LEVELS, SCENARIOS


def test_every_law_and_scheduler_is_characterised_or_left_out_for_a_reason() -> None:
    parts = ScenarioSchema().root["$defs"]
    kinds = {
        kind["properties"]["kind"]["const"]
        for name in ("AqmSpec", "SchedulerSpec")
        for kind in parts[name]["oneOf"]
    }
    used = {
        manager.queue[part]["kind"]
        for manager in MANAGERS.values()
        for part in ("law", "scheduler")
        if part in manager.queue
    }
    assert used | set(LEFT_OUT) == kinds
    assert not used & set(LEFT_OUT)


def test_congestion_levels_are_those_of_section_8() -> None:
    # Path and buffer hold 10 Mbps * (100 + 250) ms / 12 000 bits = 291.7 packets; the square roots
    # of 0.001, 0.005 and 0.01 over 0.76 are 0.0363, 0.0811 and 0.1147: 10.6, 23.7 and 33.5 flows.
    assert LEVELS == {"mild": 11, "medium": 24, "heavy": 33}


def test_goals_are_about_cells_that_there_are() -> None:
    rows = {(r.experiment, r.flow, r.metric) for r in Plan("rfc7928").rows}
    assert {(goal.experiment, goal.entry, goal.metric) for goal in GOALS} <= rows


def order_by_goal(cells: dict[str, tuple[float, float]]) -> dict[str, str]:
    """The managers in their order at each goal, by mean delay and goodput of `reno` on a link."""

    def row(scheme: str, metric: str) -> Row:
        return Row("rfc7928", "5.1.1", "reno", scheme, "link", "", metric, "", "", "")

    values = {
        row(scheme, metric): Value(value)
        for scheme, of in cells.items()
        for metric, value in zip(("delay_mean", "goodput"), of, strict=True)
    }
    *_, by_goal = grids(values)
    return {line[0]: line[-1] for line in by_goal.rows}


def test_a_short_queue_that_starves_its_flow_is_not_ranked() -> None:
    orders = order_by_goal({"full": (170.0, 9.6), "short": (5.0, 7.0), "starved": (2.0, 0.3)})
    assert orders["short queue with one flow"] == "short (5); full (170). Not ranked: starved"
    assert orders["goodput of one flow"] == "full (9.6); short (7); starved (0.3)"
    below = orders["goodput of one flow below 20 ms"]
    assert below == "short (7); starved (0.3). Not ranked: full"


def test_scenarios_measure_what_their_traffic_has() -> None:
    mix = SCENARIOS["mix"]
    assert (mix.bulk, mix.streams, mix.shares) == (["bulk", "ledbat"], ["cbr", "video"], mix.bulk)
    assert len(mix.files) == 58 and not mix.is_marked
    assert SCENARIOS["two-way"].bulk == ["bulk"] and not SCENARIOS["two-way"].shares
    assert all(SCENARIOS[name].is_marked for name in ("ecn", "l4s", "l4s-cubic"))


def test_managers_are_alike_where_their_intervals_meet() -> None:
    values = {
        "a": Value(10, 9, 11, 5),
        "b": Value(12, 10.5, 13.5, 5),  # meets a
        "c": Value(13, 12, 14, 5),  # meets b, but not a
        "d": Value(13.1, 13.09, 13.11, 5),  # meets c
        "e": Value(None),
    }
    assert groups(values) == [["a", "b"], ["c", "d"]]
    assert groups(values, most=True) == [["d", "c", "b"], ["a"]]


def test_the_ends_of_a_group_are_alike_too() -> None:
    values = {"a": Value(10, 5, 15, 5), "b": Value(12, 11, 12.2, 5), "c": Value(14, 13.9, 14.5, 5)}
    assert groups(values) == [["a", "b"], ["c"]]  # c meets a, but not b


def test_names_of_one_run_are_joined() -> None:
    orders = order_by_goal({"codel": (5.0, 7.0), "near": (5.0, 7.1), "fq-codel": (5.0, 7.0)})
    assert orders["short queue with one flow"] == "codel = fq-codel, near (5)"


def test_managers_are_alike_within_two_percent() -> None:
    values = {"a": Value(100, 99.9, 100.1, 5), "b": Value(101.9, 101.8, 102, 5)}
    assert groups(values) == [["a", "b"]]
    assert groups({**values, "b": Value(103, 102.9, 103.1, 5)}) == [["a"], ["b"]]


def test_ellipses_reach_one_standard_deviation() -> None:
    # Uncorrelated: deviations of sqrt((4 * 1) / 3) and sqrt((4 * 9) / 3) around (2, 5).
    cloud = Cloud(np.array([(1.0, 2.0), (1.0, 8.0), (3.0, 2.0), (3.0, 8.0)]))
    x, y = cloud.ellipse
    assert (x[0], y[0]) == (2, 5) and np.isnan(x[1])
    assert np.nanmax(x) - 2 == pytest.approx((4 / 3) ** 0.5, rel=0.02)
    assert np.nanmax(y) - 5 == pytest.approx(12**0.5, rel=0.02)
    assert Cloud(np.array([(1.0, 2.0)])).ellipse[0][2:].tolist() == [1.0] * 20


def test_the_graph_has_every_manager_in_each_panel(tmp_path: Path) -> None:
    run_plan(Plan("rfc7928", figure=["2.7"], duration_scale=0.02), tmp_path)
    with (tmp_path / "rfc7928-figure-2.7.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4 * sum(len(manager.links) for manager in MANAGERS.values())


def test_an_unknown_manager_is_refused_with_those_there_are(cli: Cli) -> None:
    message = cli.refused("study", "run", "rfc7928", "--scheme", "coddle")
    assert "found 'coddle'; allowed: codel, drop-tail, codel-dt, pie" in message
