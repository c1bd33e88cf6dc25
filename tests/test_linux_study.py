"""The study of Linux: what is measured of a run, and the kernel's data."""

import csv
from io import StringIO

import numpy as np
import pytest
from sojourn_studies.framework.rows import data, published
from sojourn_studies.linux.cases import case, link, window_s
from sojourn_studies.linux.cells import case_name
from sojourn_studies.linux.measured import START_BINS, Packets, goodput_mbps


def upload(*packets: tuple[float, float, float, float]) -> Packets:
    """Packets of 1500 B with 1448 B of data: number, and when they came, left and arrived, in s."""
    seq, came, left, arrived = (
        np.array(column, dtype=float) for column in zip(*packets, strict=True)
    )
    ones = np.ones(len(packets))
    return Packets(0 * ones, seq, 1448 * ones, 1500 * ones, came, left, arrived)


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
        (row.experiment, row.scheme, metric) for row in published("linux") for metric in metrics
    }


def test_cases_are_the_links_of_their_rows() -> None:
    rows = {(row.experiment, row.scheme): row for row in published("linux")}
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
