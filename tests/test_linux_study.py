"""The study of Linux: what is measured of a run, and the kernel's data."""

import csv
from io import StringIO

import numpy as np
import pytest
from sojourn_studies.framework.rows import data, published
from sojourn_studies.framework.score import compared
from sojourn_studies.linux.cases import case, link, window_s
from sojourn_studies.linux.cells import case_name
from sojourn_studies.linux.further import TABLE, cases_of, title
from sojourn_studies.linux.measured import START_BINS, Packets, goodput_mbps


def upload(*packets: tuple[float, float, float, float]) -> Packets:
    """Packets of 1500 B with 1448 B of data: number, and when they came, left and arrived, in s."""
    seq, came, left, arrived = (
        np.array(column, dtype=float) for column in zip(*packets, strict=True)
    )
    ones = np.ones(len(packets))
    fields = (0 * ones, seq, 1448 * ones, 1500 * ones, came, left, arrived)
    return Packets(*fields, np.zeros(len(packets), dtype=bool))


NEVER = float("nan")


def test_waits_are_from_arrival_to_the_start_of_service() -> None:
    # A packet takes 1 ms at 12 Mbps. The second waits for the first, the third is dropped.
    of = upload((0, 1, 1.001, 1.01), (1, 1, 1.002, 1.011), (2, 1, NEVER, 1))
    started_s, waits_ms = of.waits(12)
    assert started_s == pytest.approx([1, 1.001])
    assert waits_ms == pytest.approx([0, 1], abs=1e-9)


def test_goodput_counts_data_once_and_when_it_arrives() -> None:
    lost = (2, 1.0, NEVER, 1.0)
    copies = ((0, 1.0, 1.1, 1.2), (0, 1.3, 1.4, 1.5))
    late = (1, 1.8, 1.9, 2.0)
    of = upload(*copies, lost, late)
    # From 1 s to 2 s the first copy alone arrives: 1448 B in 1 s.
    assert goodput_mbps(of, 1, 2) == pytest.approx(1448 * 8 / 1e6)
    # With the late one two in 1.5 s.
    assert goodput_mbps(of, 1, 2.5) == pytest.approx(2 * 1448 * 8 / 1.5 / 1e6)


def test_every_case_has_its_first_three_seconds() -> None:
    lines = list(csv.DictReader(StringIO(data("published", "linux-start.csv"))))
    assert {len(line["values"].split()) for line in lines} == {START_BINS}
    there = {(line["experiment"], line["scheme"], line["metric"]) for line in lines}
    metrics = ("qdelay", "rate", "cwnd", "drops")
    assert there == {
        (row.experiment, row.scheme, metric)
        for row in published("linux")
        if row.table != TABLE
        for metric in metrics
    }


def test_cases_are_the_links_of_their_rows() -> None:
    rows = {(row.experiment, row.scheme): row for row in published("linux") if row.table != TABLE}
    assert len(rows) == 25
    bucket = rows["c_cubic_bucket_b31250", "paced"]
    up = case(bucket).scenario["upstream"]
    # 5 Mbps for 50 ms are 31 250 B, less the packet that waits for tokens.
    assert (up["sustained_mbps"], up["peak_mbps"]) == (5, 20)
    assert up["queue"] == {"limit_bytes": 29_750}
    assert window_s(bucket) == (10, 30)
    codel = rows["d_cubic_f5_codel20", "paced"]
    assert link(codel)["flows"] == 5
    assert case(codel).scenario["upstream"]["queue"]["law"]["target_ms"] == 20
    unpaced = rows["a_reno_f1_r5_rtt20_b50", "unpaced"]
    assert case_name(unpaced) == "5 Mbps, 20 ms, buffer 50 ms, unpaced"
    assert case(unpaced).scenario["tcp"]["pacing"] is False
    assert case(unpaced).scenario["servers"]["receiver"]["delay_ms"] == 9  # 20 / 2 - 1 of the link


def test_further_cases_are_the_hosts_of_their_rows() -> None:
    rows = {row.experiment: row for row in published("linux") if row.table == TABLE}
    assert len(rows) == 27
    scenarios = {name: cases_of(row)[0].scenario for name, row in rows.items()}
    assert all(one["tcp"]["interrupt_interval_us"] == 0 for one in scenarios.values())
    far = scenarios["n_cubic_rtt20_200"]
    # 20 / 2 and 200 / 2, less 1 of the link.
    assert [one["delay_ms"] for one in far["servers"].values()] == [9, 99]
    assert [one["server"] for one in far["traffic"].values()] == ["receiver", "second"]
    slow = scenarios["n_bbr_rev0.5"]["downstream"]
    assert (slow["sustained_mbps"], slow["queue"]["limit_bytes"]) == (0.5, 6250)
    files = scenarios["n_short_cubic_codel"]["traffic"]
    assert len(files) == 1 + 5 * 11
    assert (files["300 kB 10"]["start_s"], files["300 kB 10"]["file_bytes"]) == (58, 300_000)
    mixed = scenarios["n_reno_cubic_b100"]["traffic"]
    kinds = [one["tcp"]["congestion_control"]["kind"] for one in mixed.values()]
    assert kinds == ["reno", "cubic"]
    # What chance decides is run three times.
    assert len(cases_of(rows["n_reno_f5_b50"])) == 3
    assert len(cases_of(rows["n_short_alone"])) == 1
    assert title(rows["n_cubic_rev0.5"]) == "cubic rev0.5: 50 Mbps, 40 ms, buffer 100 ms"


def test_a_cell_of_several_runs_agrees_with_any_of_them() -> None:
    row = next(row for row in published("linux") if row.metric == "drops" and row.spread)
    between = row._replace(published="100", note="runs 90 to 110")
    for ours, agrees in ((84, False), (86, True), (110, True), (115, True), (116, False)):
        (cell,) = compared({between: ours})
        assert cell.agrees == agrees, ours
