"""Fairness over windows of a run."""

import numpy as np
import pytest
import sojourn
from sojourn import _sojourn

SHARED = """
duration_s = 8
[upstream]
sustained_mbps = 20
peak_mbps = 20
burst_bytes = 1522
[downstream]
sustained_mbps = 12
peak_mbps = 12
burst_bytes = 1522
queue.scheduler.kind = "drr"
[servers.files]
delay_ms = 10
[traffic.early]
kind = "transfer"
server = "files"
direction = "down"
connections = 3
[traffic.late]
kind = "transfer"
server = "files"
direction = "down"
start_s = 4
[traffic.small]
kind = "stream"
purpose = "data"
server = "files"
direction = "down"
packet_bytes = 1000
interval_ms = 8
"""


@pytest.fixture(scope="module")
def shared() -> sojourn.Result:
    return sojourn.run(SHARED)


def test_the_window_begins_where_counting_does(shared: sojourn.Result) -> None:
    counted = sojourn.run(SHARED, set={"metrics.from_s": 5})
    by_default, explicit = counted.fairness(["early"]), shared.fairness(["early"], from_s=5)
    assert by_default.flows == explicit.flows


def test_max_min_divisions() -> None:
    # 35 / 3 = 11.67 satisfies 8, and (35 - 8) / 2 = 13.5 no one; 35 / (1 + 2 + 4) = 5.
    assert _sojourn.max_min(35, [8, 16, 32], [1, 1, 1]) == pytest.approx([8, 13.5, 13.5])
    assert _sojourn.max_min(35, [np.inf] * 3, [1, 2, 4]) == pytest.approx([5, 10, 20])
    for arguments, message in (
        ((-1, [1], [1]), "capacity: found -1; allowed: 0 or more"),
        ((1, [np.nan], [1]), "demands: found NaN; allowed: 0 or more"),
        ((1, [1], [0]), "weights: found 0; allowed: above 0"),
        ((1, [1, 2], [1]), "weights: found 1 for 2 demands; allowed: 2"),
    ):
        with pytest.raises(ValueError, match=message):
            _sojourn.max_min(*arguments)


def test_shares_of_four_transfers_under_drr(shared: sojourn.Result) -> None:
    # From 5 s on four transfers and 1 Mbps of datagrams, which all fit in, have 12 Mbps: 11 / 4.
    outcome = shared.fairness(
        ["early", "late", "small"], from_s=5, demands_mbps={"small": 1}, capacity_mbps=12
    )
    rows = outcome.flows.to_pylist()
    assert [(row["traffic"], row["connection"]) for row in rows] == [
        ("early", 1),
        ("early", 2),
        ("early", 3),
        ("late", 1),
        ("small", None),
    ]
    assert [row["fair_mbps"] for row in rows] == pytest.approx([2.75] * 4 + [1])
    assert [row["throughput_mbps"] for row in rows] == pytest.approx([2.75] * 4 + [1], rel=0.05)
    assert outcome.jfi == pytest.approx(1, abs=0.01)
    assert outcome.mmr == pytest.approx(1, abs=0.1)


def test_indices_follow_from_the_flows(shared: sojourn.Result) -> None:
    outcome = shared.fairness(["early", "late"], shares={"late": 2})
    flows = outcome.flows.to_pandas()
    # Capacity is what they got together, and the weights are 1, 1, 1, 2.
    total = flows["throughput_mbps"].sum()
    assert flows["fair_mbps"].to_list() == pytest.approx([total / 5] * 3 + [total * 2 / 5])
    x = flows["throughput_mbps"] / flows["fair_mbps"]
    assert outcome.jfi == pytest.approx(x.sum() ** 2 / (4 * (x**2).sum()))
    assert outcome.mmr == pytest.approx(x.min() / x.max())
    assert flows["bias_percent"].to_list() == pytest.approx((100 * (x - 1)).to_list())
    early = flows[flows["traffic"] == "early"]
    ratio = early["throughput_mbps"].sum() / early["fair_mbps"].sum()
    assert outcome.bias_percent["early"] == pytest.approx(100 * (ratio - 1))
    # Half of the time late was not there: it is far below its share.
    assert outcome.bias_percent["late"] < -50


def test_windows_add_up(shared: sojourn.Result) -> None:
    def mbits(from_s: float, to_s: float) -> np.ndarray:
        flows = shared.fairness(["early", "late", "small"], from_s=from_s, to_s=to_s).flows
        return flows["throughput_mbps"].to_numpy() * (to_s - from_s)

    whole = mbits(0, 8)
    assert mbits(0, 3.17) + mbits(3.17, 8) == pytest.approx(whole)
    # The whole run holds all bytes that connections and datagrams delivered.
    delivered = shared.connections.to_pandas().query("direction == 'down'")
    assert whole[:4] == pytest.approx((delivered["delivered_bytes"] * 8e-6).to_list(), rel=1e-5)
    # Before 4 s there is no second entry.
    assert mbits(0, 4)[3] == 0


def test_a_window_without_traffic_has_no_indices(shared: sojourn.Result) -> None:
    outcome = shared.fairness(["late"], from_s=1, to_s=2)
    assert (outcome.jfi, outcome.mmr, outcome.bias_percent) == (None, None, {})
    assert outcome.flows["bias_percent"].to_pylist() == [None]


def test_bad_input(shared: sojourn.Result) -> None:
    for arguments, message in (
        ({"traffic": ["late", "nobody"]}, "traffic: found 'nobody'; allowed: early, late, small"),
        ({"traffic": "late"}, "traffic: found 'late'; allowed: a list of early, late, small"),
        ({"traffic": []}, "allowed: a list"),
        ({"traffic": ["late"], "shares": {"early": 1}}, "shares: found 'early'; allowed: late"),
        ({"traffic": ["late"], "shares": {"late": 0}}, "shares: found late = 0; allowed: above 0"),
        ({"traffic": ["late"], "from_s": 5, "to_s": 5}, "from_s, to_s: found 5, 5; allowed"),
        ({"traffic": ["late"], "to_s": 9}, "both within 0 to 8"),
        ({"traffic": ["late"], "capacity_mbps": -1}, "capacity_mbps: found -1; allowed: above 0"),
    ):
        with pytest.raises(ValueError, match=message):
            shared.fairness(**arguments)


def test_connections_without_accounts_are_not_left_out_in_silence() -> None:
    result = sojourn.run(SHARED, duration_s=2, set={"metrics.connections": 2})
    with pytest.raises(
        ValueError,
        match=r"'early' opened 3 connections, .* only 2; set metrics.connections to 3 or more",
    ):
        result.fairness(["early"])


def test_a_long_run_keeps_its_bytes() -> None:
    # 8 s at 1 ms make 8000 samples; series have at most 4096 and merge neighbours.
    result = sojourn.run(SHARED, set={"metrics.series_interval_ms": 1})
    flows = result.fairness(["early"]).flows.to_pandas()
    delivered = result.connections.to_pandas().query("traffic == 'early' and direction == 'down'")
    mbps = (delivered["delivered_bytes"] * 8e-6 / 8).to_list()
    assert flows["throughput_mbps"].to_list() == pytest.approx(mbps, rel=1e-3)
