"""Logs of measured lines, through Python and the command; the core's tests have each number."""

import bz2
import gzip
import json
import lzma
import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import sojourn
from sojourn._sojourn import LineLog
from sojourn.analysis.measured import headline, loads_grid, read_log
from sojourn.fit.model import scenario, simulated
from sojourn.fit.prior import PRIOR
from sojourn.fit.read import read
from sojourn.fit.table import STREAMS
from sojourn.plot.figures.measured import delay_and_rates, distribution, figures
from stores import Inside

LOGS = Path(__file__).parent / "data" / "logs"
NAMES = sorted(path.name for path in LOGS.iterdir())
PRIVATE = ("192.0.2", "198.51.100", "example.net", "example.org", "en0")


@pytest.mark.parametrize("name", NAMES)
def test_python_and_the_command_say_the_same(name: str, inside: Inside) -> None:
    line = sojourn.read_log(LOGS / name)
    printed = json.loads(inside.printed("log", LOGS / name, "--json"))
    assert printed["format"] == 1
    (found,) = printed["logs"]
    assert found.pop("file") == str(LOGS / name)
    loads, quality = found.pop("loads"), found.pop("responsiveness")
    assert all(getattr(line.measured, key) == value for key, value in found.items())
    assert [vars(one) for one in line.measured.loads] == loads
    assert [vars(one) for one in line.measured.responsiveness] == quality
    said = " ".join(inside.printed("log", LOGS / name).split())
    assert all(sentence in said for sentence in line.measured.sentences)


@pytest.mark.parametrize("name", NAMES)
def test_a_report_has_figures_and_no_names(name: str, tmp_path: Path, inside: Inside) -> None:
    out = tmp_path / "out"
    assert f"report: {out / 'report.html'}" in inside.printed("log", LOGS / name, "--out", out)
    page = (out / "report.html").read_text()
    line = read_log(LOGS / name)
    assert all(chart.title in page for chart in figures(line))
    assert page.count("<figure>") == len(figures(line)) == (0 if "quality" in name else 2)
    assert name not in page and not any(private in page for private in PRIVATE)


def test_the_letter_and_the_numbers_are_in_one_row() -> None:
    found = {name: read_log(LOGS / name).measured for name in ("line.csv", "irtt.json.gz")}
    assert headline(found).rows == [
        ["line.csv", "C", "21.0", "61.0", "171"],
        ["irtt.json.gz", *["not measured"] * 4],
    ]
    grid = loads_grid(found["line.csv"])
    assert [row[0] for row in grid.rows] == ["idle", "downloading", "uploading"]
    assert "of it\nup" not in grid.headings and "up\nMbps" in grid.headings
    assert loads_grid(found["irtt.json.gz"]).rows[0][0] == "all of the log"


def test_figures_have_delay_and_rates_on_one_axis_and_idle_beside_loaded() -> None:
    line = read_log(LOGS / "line.csv")
    stack = delay_and_rates(line)
    assert [part.y.label for part in stack.parts] == [
        "round trip (ms)",
        "downstream rate (Mbps)",
        "upstream rate (Mbps)",
    ]
    trips, down, up = (part.curves[0] for part in stack.parts)
    assert trips.x[0] >= 0 and trips.x[-1] < 60
    assert np.nanmax(trips.y) == pytest.approx(172) and np.nanmin(trips.y) == pytest.approx(20)
    assert max(down.y) == 80 and max(up.y) == 10
    curves = distribution(line).curves
    assert [(curve.name, curve.is_idle) for curve in curves] == [
        ("idle", True),
        ("downloading", False),
        ("uploading", False),
    ]
    assert curves[2].x[0] == 170 and curves[2].x[-1] == 172


def test_figures_show_what_the_table_counts(tmp_path: Path) -> None:
    """Streams of 20 and 60 ms at rest, and 10 ms more in an upload: a path of 40 ms and 50 ms."""
    rows = [
        f"{100 * n},{rest + 10 * (n >= 100)},{'up' if n >= 100 else 'idle'},{rest}"
        for n in range(200)
        for rest in (20, 60)
    ]
    (tmp_path / "two.csv").write_text("\n".join(["sent_ms,rtt_ms,load,stream", *rows]))
    line = read_log(tmp_path / "two.csv")
    shown = [(one.rtt_p10_ms, one.rtt_p90_ms) for one in line.measured.loads]
    assert shown == [(40, 40), (50, 50)]
    assert [(curve.x[0], curve.x[-1]) for curve in distribution(line).curves] == shown
    (trips,) = delay_and_rates(line).parts[0].curves
    assert [np.nanmin(trips.y), np.nanmax(trips.y)] == [40, 50]


@pytest.mark.parametrize(
    ("rest_s", "then_s", "load", "is_offered"),
    [
        (150, 0, "up", True),
        (60, 0, "up", False),
        (90, 90, "up", False),  # no 142.5 s in one
        (30, 150, "up", True),
        (150, 0, "down", False),
    ],
)
def test_cures_are_offered_where_a_fit_may_be(
    rest_s: int, then_s: int, load: str, is_offered: bool, tmp_path: Path, inside: Inside
) -> None:
    rows = []
    for at in range(0, (rest_s + 30 + then_s) * 1000, 100):
        is_loaded = 1000 * rest_s <= at < 1000 * (rest_s + 30)
        up = 110 if is_loaded else 10
        rows.append(f"{at},{at + up},{at + up + 10},{load if is_loaded else 'idle'}")
    (tmp_path / "a.csv").write_text("\n".join(["sent_ms,received_ms,returned_ms,load", *rows]))
    said = inside.printed("log", tmp_path / "a.csv")
    assert ("--simulate shows what each cure would give" in said) == is_offered


def test_a_fit_takes_the_longest_time_without_a_load(tmp_path: Path) -> None:
    """A download at 10 to 40 s, an upload at 100 to 160 s; 2 s after a load its queue is empty."""
    rows = [f"{100 * n},{100 * n + 9}" for n in range(2000)]
    (tmp_path / "a.csv").write_text("\n".join(["sent_ms,received_ms", *rows]))
    log = read(tmp_path / "a.csv", [(10, 40)], [(100, 160)])
    assert (log.idle_s, log.loaded_s, log.has_download) == ((42, 100), (100, 160), False)
    assert log.idle.sent_ms.min() == 42_000 and log.idle.sent_ms.max() == 99_900
    assert read(tmp_path / "a.csv", [(10, 40)]).idle_s == (42, 199.9)


def test_cures_are_simulated_where_a_log_allows_a_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> None:
    monkeypatch.setattr("sojourn.fit.nearest._SIMULATED", 2)
    monkeypatch.setattr("sojourn.fit.nearest._LONGEST_S", 10.0)
    said = inside.printed("log", LOGS / "irtt.json.gz", "--simulate")
    assert "does not allow it" in said and "allowed: 1000 or more" in said
    line = {name: known.value(0.5) for name, known in PRIOR.items()} | {"grid_ms": 2.5}
    (probes,) = simulated(scenario(line, STREAMS, idle_s=160, trace=True)).streams
    queue = np.where(
        probes.sent_ms > 130_000, np.random.default_rng(1).uniform(90, 180, len(probes)), 0.0
    )
    received = probes.sent_ms + probes.up_ms + queue
    rows = [f"{at:.6f},{up:.6f}" for at, up in zip(probes.sent_ms, received, strict=True)]
    path = tmp_path / "line.csv"
    path.write_text("\n".join(["sent_ms,received_ms", *rows]))
    said = inside.printed("log", path, "--up", "130-160", "--simulate")
    assert "Simulated on a line like it" in said and "10 Mbps are assumed" in said
    letters = dict(
        re.findall(r"^ *(as it is|DOCSIS-PIE|CAKE in the router) +([A-F]\+?) ", said, re.M)
    )
    assert letters.keys() == {"as it is", "DOCSIS-PIE", "CAKE in the router"}
    assert letters["as it is"] in "CD" and letters["CAKE in the router"] == "A+"


def test_times_of_loads_are_seconds(inside: Inside) -> None:
    assert "found 'x'" in inside.refused("log", LOGS / "line.csv", "--down", "x")
    assert "allowed: one of them" in inside.refused(
        "log", LOGS / "line.csv", "--json", "--simulate"
    )
    for given in (("--up", "70-90"), ("--interval", "1")):
        assert "line.csv: " in inside.refused("log", LOGS / "line.csv", *given)
    given = ("--interval", "0.1", "--up", "3-6")
    (known,) = json.loads(inside.printed("log", LOGS / "ping-macos.txt", *given, "--json"))["logs"]
    assert known["uploading_ms"] == 21 and "0.1 s between probes" in known["sentences"][0]
    assert "such as 20-40" in inside.refused("log", LOGS / "line.csv", "--up", "9-3")


def test_the_user_says_when_loads_ran(tmp_path: Path, inside: Inside) -> None:
    text = (LOGS / "line.csv").read_text().replace("rtt_ms,down_mbps,up_mbps,load", "rtt_ms,a,b,c")
    (tmp_path / "log.csv").write_text(text)
    asked = ("log", tmp_path / "log.csv", "--json")
    (unknown,) = json.loads(inside.printed(*asked))["logs"]
    assert unknown["letter"] is None
    (known,) = json.loads(inside.printed(*asked, "--down", "10-30", "--up", "34-54"))["logs"]
    assert [known[key] for key in ("letter", "downloading_ms", "uploading_ms")] == ["C", 61, 171]


WHOLE = (LOGS / "rrul.flent.gz").read_bytes()


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"no log\n", "found no line of a reply"),
        (WHOLE[:700], "found a damaged or cut gzip file"),
        (
            b"sent_ms,rtt_ms\n9000,3\n10,3\n",
            "probe 2: found a time that is 9.0 s before that of a probe",
        ),
        (
            b"sent_ms,rtt_ms\n" + b"".join(b"%d,3\n" % (9000 - 100 * n) for n in range(20)),
            "probe 12: found a time that is 1.1 s before",
        ),
        (b"sent_ms,rtt_ms\n9000,inf\n", "line 2: rtt_ms: found 'inf'"),
        (b"", "found nothing in it"),
        (bytes(3000), "found no line of a reply"),
        (b"{}", "found JSON without round_trips"),
        (b"PK\x03\x04", "found a file that zip has packed"),
        (
            gzip.compress(b'{"raw_values": {"Ping": [{"t": NaN, "val": 1}]}}', mtime=0),
            "found damaged JSON",
        ),
    ],
)
def test_what_cannot_be_used_is_one_message(
    content: bytes, found: str, tmp_path: Path, inside: Inside
) -> None:
    (tmp_path / "a.log").write_bytes(content)
    out = tmp_path / "out"
    said = inside.refused("log", LOGS / "line.csv", tmp_path / "a.log", "--out", out)
    assert "a.log: " in said and found in said and len(said.strip().splitlines()) == 1
    assert not out.exists()


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress])
def test_files_of_other_packers_are_read(
    pack: Callable[[bytes], bytes], tmp_path: Path, inside: Inside
) -> None:
    text = (LOGS / "line.csv").read_bytes()
    packed = pack(text[:3000]) + pack(text[3000:])
    (tmp_path / "whole").write_bytes(packed)
    assert read_log(tmp_path / "whole").measured == read_log(LOGS / "line.csv").measured
    (tmp_path / "cut").write_bytes(packed[:-20])
    assert "found a damaged or cut" in inside.refused("log", tmp_path / "cut")
    (tmp_path / "bomb").write_bytes(pack(bytes(LineLog.MOST_BYTES + 10)))
    assert "found more than 256 MB" in inside.refused("log", tmp_path / "bomb")


def test_a_huge_file_is_refused(tmp_path: Path, inside: Inside) -> None:
    with (tmp_path / "a.log").open("wb") as file:
        os.truncate(file.fileno(), 2 * 1024**3)
    assert "found more than 268435456 bytes" in inside.refused("log", tmp_path / "a.log")
