"""The study of L4S: loads as words, and what is measured between two ends of equal runs."""

from typing import Any

import pytest
from sojourn.analysis.distribution import Distribution
from sojourn_studies.framework.rows import published
from sojourn_studies.l4s.cases import Link, case, warm_up
from sojourn_studies.l4s.cells import _of_queue, _waits
from sojourn_studies.l4s.measured import Flow, flow


class Run:
    """The tables that are read of a run."""

    def __init__(self, row: dict[str, float], latencies: list[dict[str, Any]]) -> None:
        """A row of `flows`, and those of `latencies`."""
        self.flow = lambda *_: row
        self.rows = {"latencies": latencies}.get


def run(delivered: int, mean_ms: float, cells: dict[float, int]) -> Any:
    """A run of one upload: 100 bytes a packet, two of ten marked, one dropped."""
    row = {
        "delivered_bytes": 100 * delivered,
        "delivered_packets": delivered,
        "marked_packets": delivered // 5,
        "dropped_overflow_packets": 0,
        "dropped_aqm_packets": delivered // 10,
        "latency_mean_ms": mean_ms,
    }
    latencies = [
        {"traffic": "a", "direction": "up", "latency_ms": ms, "packets": packets}
        for ms, packets in cells.items()
    ]
    return Run(row, latencies)


def test_what_is_measured_is_the_difference_of_a_run_and_its_beginning() -> None:
    # 10 packets of 8 ms on average, then 20 of 5 ms: (30 * 6 - 10 * 8) / 20.
    measured = flow("a", run(30, 6, {5.0: 20, 8.0: 10}), run(10, 8, {8.0: 10}))
    assert measured.mean_ms == pytest.approx(5)
    assert (measured.delivered, measured.delivered_bytes) == (20, 2000)
    assert (measured.marked, measured.dropped) == (4, 2)
    assert measured.latencies_ms.values.tolist() == [5.0]


def test_loads_are_links() -> None:
    rows = {(row.table, row.experiment): row for row in published("l4s")}
    link = Link.of(rows["overload", "udp-low-140"])
    assert link.senders == {"a": ("prague", 10), "b": ("cubic", 10)}
    assert (link.mbps, link.flows, link.udp) == (100, 5, (140, "low"))
    assert link.entries("low") == ["a", "udp"]
    assert link.entries("classic") == ["b"]
    # 5 ms, 1514 B at 100 Mbps and 25 us of the receiver; UDP has 1470 + 28 + 14 B.
    assert link.base_ms("a") == pytest.approx(5.14612)
    assert link.base_ms("udp") == pytest.approx(5.14596)
    # 140 Mbps of 1470 B each: one in 84 us.
    traffic = case(rows["overload", "udp-low-140"]).scenario["traffic"]
    assert traffic["udp"]["interval_ms"] == pytest.approx(0.084)
    assert (traffic["udp"]["ecn"], traffic["a"]["connections"]) == ("ect1", 5)


def test_a_call_is_in_the_queue_of_its_load() -> None:
    rows = {(row.experiment, row.scheme): row for row in published("l4s")}
    for experiment, ecn in (("prague-call-low", "ect1"), ("prague-call-classic", "not_ect")):
        row = rows[experiment, "dualpi2"]
        call = case(row).scenario["traffic"]["call"]
        assert (call["kind"], call["rate_mbps"], call["ecn"]) == ("video_call", 2.3, ecn)
    assert "call" not in case(rows["prague-alone", "dualpi2"]).scenario["traffic"]
    assert Link.of(rows["cubic-call", "codel"]).call == (1.8, "classic")


def test_under_pie_the_l4s_flow_is_cubic_with_ecn() -> None:
    rows = {(row.experiment, row.scheme): row for row in published("l4s")}
    row = rows["5-50", "pie"]
    traffic = case(row).scenario["traffic"]
    assert traffic["a"]["tcp"]["ecn"] == "classic"
    assert "ecn" not in traffic["b"]["tcp"]
    assert Link.of(row).entries("low") == ["a"]
    assert warm_up(case(row), row.table).duration_s == 50


def test_delays_are_from_the_middles_of_cells() -> None:
    # Cells of 32 us at 50 ms: 50.304 stands for 50.288, which is 0.288 above a base of 50 ms.
    waits = _waits(Distribution.of([50.304], [1]), 50)
    assert waits.values.tolist() == pytest.approx([0.288])


def test_shares_of_a_queue_are_of_all_its_packets() -> None:
    one = Flow(0, 90, 10, 45, 7, Distribution.of([7.0], [90]))
    two = Flow(0, 10, 90, 5, 17, Distribution.of([17.0], [10]))
    of = {"a": one, "udp": two}
    base_ms = {"a": 5.0, "udp": 5.0}
    # 50 of 100 marked, 100 of 200 dropped, (90 * 2 + 10 * 12) / 100 ms.
    assert _of_queue("marks", of, base_ms) == 50
    assert _of_queue("drop_rate", of, base_ms) == 50
    assert _of_queue("delay_mean", of, base_ms) == pytest.approx(3)
    assert _of_queue("delay_p99", of, base_ms) == pytest.approx(12, abs=0.01)
