"""What Hong 2015 is made of."""

from bisect import bisect
from copy import deepcopy

import pytest
import sojourn
from conftest import ROOT
from sojourn_studies.hong2015 import STUDY, ideals
from sojourn_studies.hong2015.cases import around, case, load_of, video_alone
from sojourn_studies.hong2015.cells import cases_of

NS2 = ROOT / "crates/sojourn/tests/ns2"


def test_break_points_are_what_the_satisfied_leave_to_the_others() -> None:
    # 40 / 6 = 6.667 satisfies 4 and 6; 30 / 4 = 7.5 satisfies 7; 23 / 3 = 7.667 satisfies none.
    assert ideals.break_points(40, [4, 6, 7, 8, 9, 10], 3) == pytest.approx([20 / 3, 7.5, 23 / 3])
    # 38 / 6 = 6.333 satisfies 4 and 6; 28 / 4 = 7 satisfies 6.4, 6.4 and 6.9; 8.3 is left for 7.4.
    bounds = ideals.break_points(38, [4, 6, 6.4, 7.4, 6.4, 6.9], 3)
    assert bounds == pytest.approx([19 / 3, 7, 8.3])
    assert [ideals.bin_of(rate, bounds) for rate in (6, 6.4, 7.4)] == [1, 2, 3]


def test_fair_shares_of_tiers_follow_caps_or_weights() -> None:
    # 38 - 5 x 6 = 8 Mbps are left for Tier-2; by weights 38 / 7 = 5.43 and twice that.
    assert ideals.tiers("TIER", False, "t1=5:t2=1", "T2") == pytest.approx(8)
    assert ideals.tiers("TIER", True, "t1=5:t2=1", "T1") == pytest.approx(38 / 7)
    assert ideals.tiers("TIER", True, "t1=5:t2=1", "T2") == pytest.approx(76 / 7)


def test_round_trips_go_down_and_up() -> None:
    assert around(80, 10, 5) == [80, 70, 90, 60, 100]
    assert around(100, 5, 7) == [100, 95, 105, 90, 110, 85, 115]
    assert load_of("has=5:ftp=11") == {"has": 5, "ftp": 11}


def test_every_cell_has_runs_or_is_an_ideal_and_runs_have_names_of_their_own() -> None:
    cases = {case.name: case for row in STUDY.rows for case in cases_of(row)}
    tasks = {case.task(1, 0.01).run for case in cases.values()}
    assert len(tasks) == len(cases) == 378


def test_replications_have_random_numbers_of_their_own() -> None:
    first, again = (case(4, "BASE", "DT", "ftp=9", number).task(1, 1) for number in (0, 1))
    assert first.scenario.replace("seed = 1\n", "seed = 10001\n") == again.scenario
    assert first.run != again.run


def test_a_player_fetches_as_in_ns2() -> None:
    """Through losses and pauses, fetch by fetch: crates/sojourn/tests/ns2/video.tcl."""
    values = deepcopy(dict(video_alone().scenario))
    next(other for other in STUDY.alternatives if other.name == "no-mac").change(values)
    values["duration_s"] = 190
    values["cmts"]["queue"]["limit_packets"] = 100
    values["traffic"]["has-1"]["buffer_s"] = 60
    packets = sojourn.run(values).packets.select(
        ["direction", "payload_bytes", "sent_s", "ended_s"]
    )
    asked, arrived = [], []
    for packet in packets.to_pylist():
        if packet["payload_bytes"] > 0 and packet["direction"] == "up":
            asked.append(packet["sent_s"])
        elif packet["payload_bytes"] > 0:
            arrived.append(packet["ended_s"])
    arrived.sort()
    ends = [arrived[bisect(arrived, at) - 1] for at in asked[1:]]
    fetches = [end - start for start, end in zip(asked, ends, strict=False)]
    ns2 = [float(line) for line in (NS2 / "video.txt").read_text().split()]
    # The first has the handshake in it in ns-2, which opens when it is asked to send.
    assert len(fetches) > 50
    assert fetches[1:] == pytest.approx(ns2[1 : len(fetches)], abs=1e-3)
