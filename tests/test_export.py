"""Results in the formats of other tools, read with these tools."""

import csv
import gzip
import json
import re
import shutil
import subprocess
import sys
import tomllib
import tracemalloc
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import sojourn
from conftest import HOME, PATIENT_S, Cli
from sojourn.analysis.grids import more_grids
from sojourn.analysis.verdict import verdict
from sojourn.base.csv_text import csv_bytes, true_text
from sojourn.export import POINTS, ExportError, export
from sojourn.store.table_file import parquet_of
from stores import Inside, resealed, with_values

# Two uploads under CoDel, one of which is marked and the other dropped, a download and a call.
SCENARIO = """
title = "For other tools"
duration_s = 6
seed = 5
metrics = { packet_trace = true, modem_trace = true }
upstream.sustained_mbps = 5
upstream.peak_mbps = 20
upstream.burst_bytes = 100_000
upstream.queue = { limit_bytes = 200_000, law = { kind = "codel" } }
downstream = { sustained_mbps = 20, peak_mbps = 50, burst_bytes = 100_000 }
servers.files = { delay_ms = 9, loss_percent = 0.2 }
servers.peer = { delay_ms = 4 }
traffic.marked = { kind = "transfer", server = "files", tcp = { ecn = "classic" } }
traffic.dropped = { kind = "transfer", server = "files" }
traffic.fetch = { kind = "transfer", server = "files", direction = "down", start_s = 1 }
traffic.call = { kind = "stream", purpose = "voice", server = "peer", dscp = 46 }
"""

needs_tshark = pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")

# The cable of the captured home is 8 km long.
PROPAGATION_S = 8 * 5e-6


@pytest.fixture(scope="module")
def result() -> sojourn.Result:
    return sojourn.run(SCENARIO)


@pytest.fixture(scope="module")
def results(result: sojourn.Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("results") / "out"
    result.save(directory)
    return directory


# Modem trace and parts of delay.


def test_a_trace_adds_quantiles_to_the_parts_of_the_delay(result: sojourn.Result) -> None:
    rows = result.delay_parts.to_pylist()
    assert {row["direction"] for row in rows} == {"up", "down"}
    for row in rows:
        assert row["p50_ms"] <= row["p99_ms"] <= row["max_ms"]


def test_events_are_those_of_the_packets(result: sojourn.Result) -> None:
    events = result.modem_events.to_pylist()
    packets = {row["packet"]: row for row in result.packets.to_pylist()}
    drops = {row["packet"]: row["reason"] for row in events if row["event"] == "drop"}
    of_modem = {"overflow", "aqm", "superseded", "contention"}
    assert drops and drops == {
        number: packet["outcome"]
        for number, packet in packets.items()
        if packet["direction"] == "up" and packet["outcome"] in of_modem
    }
    marks = [row["packet"] for row in events if row["event"] == "mark"]
    assert marks and all(packets[n]["marked"] for n in marks if n in packets)
    for row in events:
        if row["event"] == "sent" and row["packet"] in packets:
            assert row["time_s"] == packets[row["packet"]]["forwarded_s"]


def test_the_traces_are_among_the_tables(results: Path) -> None:
    assert {"packets.parquet", "modem_events.parquet"} <= {
        path.name for path in (results / "run").iterdir()
    }


# CSV.


def test_every_table_is_there_as_csv(results: Path, tmp_path: Path) -> None:
    export(results, "csv", tmp_path / "tables")
    written = sorted(path.stem for path in (tmp_path / "tables").iterdir())
    assert written == sorted(["summary", *(p.stem for p in (results / "run").glob("*.parquet"))])
    for name in set(written) - {"summary"}:
        table = pyarrow.csv.read_csv(tmp_path / "tables" / f"{name}.csv")
        stored = [pyarrow.parquet.read_table(p) for p in results.glob(f"*/{name}.parquet")]
        assert table.column_names == ["variant", "seed", *stored[0].column_names]
        assert table.num_rows == sum(map(len, stored))  # of the run and of its idle line


def test_all_variants_are_in_one_table_unless_one_is_named(
    saved: Path, tmp_path: Path, comparison: sojourn.Comparison
) -> None:
    export(saved, "csv", tmp_path / "all")
    export(saved, "csv", tmp_path / "one", variant="CoDel")
    every = pl.read_csv(tmp_path / "all" / "flows.csv")
    # A column without a value in one variant may be of numbers in another.
    one = pl.read_csv(tmp_path / "one" / "flows.csv", schema_overrides=every.schema)
    assert every["variant"].unique(maintain_order=True).to_list() == list(comparison)
    assert one.equals(every.filter(pl.col("variant") == "CoDel"))


def test_an_export_says_what_it_wrote_and_what_is_missing(tmp_path: Path, inside: Inside) -> None:
    scenario = tomllib.loads(SCENARIO)
    scenario |= {"duration_s": 1, "baseline": False, "metrics": {"connections": 0}}
    sojourn.run({**scenario, "compare": {"a": {}, "b": {"metrics": {"packet_trace": True}}}}).save(
        tmp_path / "run"
    )
    out = tmp_path / "arrow"
    printed = inside.printed("export", tmp_path / "run", "--format", "arrow", "--out", out)
    assert printed.startswith(f"{out}: 2 runs of 2 settings, ")
    assert re.search(r"\n  packets\.arrow: \d+ rows of 1 run\n", printed)
    assert re.search(r"\n  summary\.arrow: 2 rows\n", printed)
    assert "(metrics.connections): 6 more connections opened" in printed
    sojourn.sweep(scenario, duration_s=0.1, out=tmp_path / "sweep")
    done = inside("export", tmp_path / "sweep", "--format", "csv", "--out", tmp_path / "csv")
    assert "not stored with these runs: series\n" in done.stdout


# Tables of a sweep.


NAMES = ["=1+1", "-cmd", "'=x", "+x", "@y", "-3"]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> sojourn.Swept:
    """Two keys with two values each, two seeds and two variants."""
    keys = {"upstream.queue.limit_bytes": [20_000, 40_000], "cable.delay_ms": [1, 2.5]}
    out = tmp_path_factory.mktemp("swept") / "out"
    return sojourn.sweep(HOME.with_name("upload.toml"), keys, seeds=2, duration_s=0.3, out=out)


READ = {"csv": pl.read_csv, "parquet": pl.read_parquet, "arrow": pl.read_ipc}


@pytest.fixture(scope="module")
def exported(swept: sojourn.Swept, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("exported")
    for form in READ:
        written = export(swept.directory, form, directory / form)
        assert (written.runs, written.settings) == (16, 8)
    return directory


@pytest.mark.parametrize("form", READ)
def test_an_export_holds_all_runs(exported: Path, swept: sojourn.Swept, form: str) -> None:
    for name in ("flows", "queues", "service_flows", "latencies"):
        table = READ[form](exported / form / f"{name}.{form}")
        fresh = swept.to_polars(name).with_columns(pl.col(pl.Categorical).cast(pl.String))
        assert table.columns[:4] == [*KEYS, "variant", "seed"]
        assert table.select(*KEYS, "variant", "seed").equals(fresh.select(*KEYS, "variant", "seed"))
        assert table.shape == fresh.shape


KEYS = ["upstream.queue.limit_bytes", "cable.delay_ms"]


def test_group_means_are_those_of_summary_and_report(exported: Path, swept: sojourn.Swept) -> None:
    summary = pl.read_csv(exported / "csv" / "summary.csv")
    setting = [*KEYS, "variant"]
    of_queue = duckdb.sql(
        f"""SELECT "{KEYS[0]}", "{KEYS[1]}", variant, avg(sojourn_p99_ms) AS mean, count(*) AS n
        FROM '{exported}/parquet/queues.parquet' WHERE queue = 'upstream' GROUP BY ALL"""
    ).pl()
    joined = summary.join(of_queue, on=setting)
    assert len(joined) == len(summary) == 8
    wide = joined["upstream_queue_p99_ms_mean"]
    assert wide.to_list() == pytest.approx(joined["mean"].to_list(), rel=1e-12)
    assert set(joined["n"]) == set(summary["upstream_queue_p99_ms_n"]) == {2}
    means = pl.from_arrow(swept.means())
    of_measure = means.filter(pl.col("measure") == "upstream_queue_p99_ms")
    ends = [f"upstream_queue_p99_ms_{end}" for end in ("mean", "low", "high")]
    for end, long in zip(ends, ("mean", "low", "high"), strict=True):
        assert summary[end].to_list() == of_measure[long].to_list()
    delays = more_grids(swept.results, verdict(swept.results))[0]
    report = delays.rows[0][delays.headings.index("up\nqueue\np99\nms")]
    mean, _, high = summary.select(ends).row(0)
    assert report == f"{mean:.1f} ± {high - mean:.1f}"


def test_a_column_of_parquet_has_its_unit(exported: Path) -> None:
    for name, column in [("queues", "sojourn_p99_ms"), ("summary", "upstream_queue_p99_ms_low")]:
        schema = pyarrow.parquet.read_schema(exported / "parquet" / f"{name}.parquet")
        assert schema.field(column).metadata[b"unit"] == b"ms"


def test_values_of_several_types_are_texts(tmp_path: Path) -> None:
    keys = {"upstream.queue.law": [{"kind": "codel"}, {"kind": "none"}], "dialect": ["rfc"]}
    swept = sojourn.sweep(FORMULAS, keys, duration_s=0.1, out=tmp_path / "out")
    frame = swept.to_polars()
    assert set(frame["upstream.queue.law"]) == {'{ kind = "codel" }', '{ kind = "none" }'}
    assert set(frame["dialect"]) == {"rfc"}


FORMULAS = {
    **tomllib.loads(HOME.with_name("fibre.toml").read_text()),
    "traffic": {"=HYPERLINK": {"kind": "stream", "purpose": "voice", "server": "near"}},
    "servers": {"near": {"delay_ms": 4}},
    "compare": {name: {"cable": {"delay_ms": n + 1}} for n, name in enumerate(NAMES)},
    "baseline": False,
}


def test_no_cell_is_a_formula_and_names_stay_true(tmp_path: Path) -> None:
    swept = sojourn.sweep(FORMULAS, seeds=2, duration_s=0.1, out=tmp_path / "out")
    assert list(swept.settings) == NAMES
    export(swept.directory, "csv", tmp_path / "csv")
    for path in (tmp_path / "csv" / "flows.csv", swept.directory / "runs.csv"):
        with path.open(newline="") as file:
            cells = [cell for row in csv.reader(file) for cell in row]
        assert not [cell for cell in cells if cell.startswith(("=", "+", "@", "-c"))]
        assert {f"'{name}" for name in NAMES if name != "-3"} | {"-3"} <= set(cells)
    export(swept.directory, "parquet", tmp_path / "parquet")
    variants = pl.read_parquet(tmp_path / "parquet" / "flows.parquet")["variant"]
    assert variants.unique(maintain_order=True).to_list() == NAMES


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        ("=1", "'=1"),
        ("'=1", "''=1"),
        ("'tis", "'tis"),
        ("-", "'-"),
        ("-1-1", "'-1-1"),
        ("-1.5e-3", "-1.5e-3"),
        ("+inf", "+inf"),
        ("\tx", "'\tx"),
        ("\rx", "'\rx"),
        ("a\r\nb", "a\r\nb"),
        ("", ""),
    ],
)
def test_a_text_of_csv_is_no_formula_and_is_read_back(text: str, cell: str) -> None:
    content = csv_bytes(["a", "b"], [[text, -1.5]]).decode()
    _, row = csv.reader(StringIO(content, newline=""))
    assert row == [cell, "-1.5"]
    assert true_text(cell) == text


@pytest.mark.parametrize("form", ["flent", "pcapng", "mahimahi"])
@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({}, "variant: missing; allowed: 'drop-tail, delay 1 ms, limit 20 kB', "),
        ({"variant": "drop-tail"}, "variant: found 'drop-tail', which is 4 settings; allowed: "),
        ({"variant": "x"}, "variant: found 'x'; allowed: 'drop-tail, "),
        ({"variant": "drop-tail, limit 20 kB, delay 1 ms"}, "seed: missing; allowed: 1, 2"),
        (
            {"variant": "drop-tail, limit 20 kB, delay 1 ms", "seed": 4},
            "seed: found 4; allowed: 1, 2",
        ),
    ],
)
def test_a_format_of_one_run_never_takes_the_first_of_several(
    swept: sojourn.Swept, tmp_path: Path, form: str, choice: dict[str, Any], message: str
) -> None:
    point = "home" if form == "pcapng" else None
    direction = "up" if form == "mahimahi" else None
    message = message.replace("delay 1 ms, limit 20 kB", "limit 20 kB, delay 1 ms")
    with pytest.raises(ExportError) as refusal:
        export(swept.directory, form, tmp_path / "x", point=point, direction=direction, **choice)
    assert str(refusal.value).startswith(message)
    assert not (tmp_path / "x").exists()


def test_a_run_of_a_sweep_is_chosen_by_setting_and_seed(tmp_path: Path) -> None:
    swept = sojourn.sweep(
        SCENARIO, {"cable.delay_ms": [1, 2]}, seeds=2, duration_s=1, series=True, out=tmp_path / "o"
    )
    for seed in (1, 2):
        export(swept.directory, "flent", tmp_path / f"{seed}", variant="delay 2 ms", seed=seed)
    first, second = (gzip.decompress((tmp_path / name).read_bytes()) for name in "12")
    assert first != second
    assert len(list(tmp_path.iterdir())) == 3


# flent.


@pytest.fixture(scope="module")
def flent_data(results: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flent") / "run.flent.gz"
    export(results, "flent", path)
    return path


def flent(*arguments: object) -> str:
    command = [Path(sys.executable).with_name("flent"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT_S)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def test_flent_sums_the_run_up(flent_data: Path, result: sojourn.Result) -> None:
    """Its averages are those of the run: throughput over all intervals, the call's round trip."""
    summary = flent("-i", flent_data, "-f", "summary")
    averages = {}
    for line in summary.splitlines():
        name, colon, numbers = line.partition(" : ")
        if colon and (words := numbers.split()) and words[0] != "N/A":
            averages[name.strip()] = float(words[0])
    up = sum(
        row["throughput_mbps"]
        for row in result.flows.to_pylist()
        if (row["traffic"], row["direction"]) in [("marked", "up"), ("dropped", "up")]
    )
    assert averages["TCP upload sum"] == pytest.approx(up, abs=0.02)
    call = [row for row in result.flows.to_pylist() if row["traffic"] == "call"]
    # There and back. The mean of intervals is that of packets but for intervals with one more or
    # less of them.
    there_and_back_ms = sum(row["latency_mean_ms"] for row in call)
    assert averages["Ping (ms) ICMP"] == pytest.approx(there_and_back_ms, rel=0.03)


@pytest.mark.parametrize("plot", ["all_scaled", "ping_cdf", "box_totals"])
def test_flent_plots_the_run(flent_data: Path, tmp_path: Path, plot: str) -> None:
    figure = tmp_path / f"{plot}.png"
    flent("-i", flent_data, "-p", plot, "-o", figure)
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_the_test_of_flent_fits_the_traffic(results: Path, flent_data: Path, alone: Path) -> None:
    def metadata(path: Path) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(gzip.decompress(path.read_bytes()))
        return content["metadata"]

    both = metadata(flent_data)
    assert both["NAME"] == "rrul_be_nflows"
    assert both["TEST_PARAMETERS"] == {"upload_streams": "2", "download_streams": "1"}
    home = flent_data.parent / "home"
    sojourn.run(alone, duration_s=2, set=["metrics.packet_trace=true"]).save(home)
    export(home, "flent", home.with_suffix(".flent.gz"))
    assert metadata(home.with_suffix(".flent.gz"))["NAME"] == "tcp_nup"
    assert flent("-i", home.with_suffix(".flent.gz"), "-f", "summary").count("TCP upload::") == 1


# pcapng.


def tshark(path: Path, fields: str, *options: str) -> list[dict[str, str]]:
    names = fields.split()
    command = ["tshark", "-r", str(path), "-T", "fields"]
    command += ["-E", "separator=/t", "-E", "occurrence=f"]
    command += [word for name in names for word in ("-e", name)]
    command += [*options, "-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"]
    command += ["-o", "udp.check_checksum:TRUE", "-o", "tcp.relative_sequence_numbers:FALSE"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT_S)
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def captures(results: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("pcapng")
    for point in POINTS:
        export(results, "pcapng", directory / f"{point}.pcapng", point=point)
    return {point: directory / f"{point}.pcapng" for point in POINTS}


def passing(result: sojourn.Result, point: str) -> list[tuple[float, dict[str, Any]]]:
    """Packets by when they pass a point: with 1 ms of cable."""
    times = []
    for p in result.packets.to_pylist():
        came = p["ended_s"] if p["outcome"] == "delivered" else None
        left = p["forwarded_s"]
        up = (p["sent_s"], left, left and left + PROPAGATION_S, came)
        down = (came, left, p["reached_cmts_s"], p["sent_s"])
        time = (up if p["direction"] == "up" else down)[list(POINTS).index(point)]
        if time is not None:
            times.append((time, p))
    return sorted(times, key=lambda entry: (entry[0], entry[1]["packet"]))


@needs_tshark
@pytest.mark.parametrize("point", POINTS)
def test_wireshark_sees_each_packet_with_its_headers(
    captures: dict[str, Path], result: sojourn.Result, point: str
) -> None:
    fields = (
        "frame.time_epoch frame.len frame.cap_len ip.len ip.checksum.status ip.dsfield.ecn "
        "ip.dsfield.dscp ip.src ip.id tcp.seq tcp.ack tcp.len tcp.flags.syn tcp.flags.fin "
        "tcp.flags.ece tcp.options.timestamp.tsval tcp.options.timestamp.tsecr "
        "tcp.options.sack.count tcp.options.sack_le udp.length tcp.hdr_len"
    )
    seen = tshark(captures[point], fields)
    want = passing(result, point)
    assert len(seen) == len(want) > 1000
    servers = {"files": "198.18.0.1", "peer": "198.18.0.2"}
    for row, (time, packet) in zip(seen, want, strict=True):
        assert float(row["frame.time_epoch"]) == pytest.approx(time, abs=1e-9)
        assert row["ip.checksum.status"] == "1"
        assert int(row["ip.id"], 16) == packet["packet"] & 0xFFFF
        assert row["frame.len"] == row["ip.len"]
        is_up = packet["direction"] == "up"
        assert row["ip.src"] == ("10.0.0.1" if is_up else servers[packet["server"]])
        if packet["flags"] is None:
            assert int(row["ip.len"]) == packet["size_bytes"]
            assert int(row["udp.length"]) == packet["size_bytes"] - 20
            assert row["ip.dsfield.dscp"] == "46"
            continue
        # A SYN has the options of a real one: MSS and window scale are 8 bytes more.
        more = 8 if "syn" in packet["flags"] else 0
        # The simulation counts Ethernet frames: 18 bytes more than IP, and 64 at least.
        assert max(int(row["ip.len"]) - more + 18, 64) == packet["size_bytes"]
        assert int(row["frame.cap_len"]) == 20 + int(row["tcp.hdr_len"])
        assert int(row["tcp.seq"]) == packet["seq"]
        assert int(row["tcp.ack"]) == (packet["ack"] or 0)
        assert int(row["tcp.len"]) == packet["payload_bytes"]
        assert int(row["tcp.options.timestamp.tsval"]) == int(packet["sent_s"] * 1e3)
        assert int(row["tcp.options.timestamp.tsecr"]) == int(packet["echo_s"] * 1e3)
        for flag in ("syn", "fin", "ece"):
            assert row[f"tcp.flags.{flag}"] in (
                ("1", "True") if flag in packet["flags"].split() else ("0", "False")
            )
        blocks = (packet["sack"] or "").split()
        assert int(row["tcp.options.sack.count"] or 0) == len(blocks)
        if blocks:
            assert row["tcp.options.sack_le"] == blocks[0].split("-")[0]


@needs_tshark
def test_checksums_are_right_where_all_is_captured(captures: dict[str, Path]) -> None:
    rows = tshark(captures["home"], "frame.len frame.cap_len tcp.checksum.status", "-Y", "tcp")
    whole = [row for row in rows if row["frame.len"] == row["frame.cap_len"]]
    assert len(whole) > 500
    assert {row["tcp.checksum.status"] for row in whole} == {"1"}


@needs_tshark
@pytest.mark.parametrize("point", POINTS)
def test_nothing_is_malformed(captures: dict[str, Path], point: str) -> None:
    assert tshark(captures[point], "frame.number", "-Y", "_ws.malformed") == []


@needs_tshark
def test_drops_and_marks_are_comments(captures: dict[str, Path], result: sojourn.Result) -> None:
    at_home, at_cmts = (
        tshark(captures[point], "ip.id ip.dsfield.ecn frame.comment", "-Y", "frame.comment")
        for point in ("home", "cmts")
    )
    packets = [p for p in result.packets.to_pylist() if p["direction"] == "up"]
    marked = [p for p in packets if p["marked"]]
    early = [p for p in packets if p["outcome"] == "aqm"]
    lost = [p for p in packets if p["outcome"] == "link"]
    assert marked and early and lost
    comments = [row["frame.comment"] for row in at_home]
    assert sum("ECN-marked later in the queue" in c for c in comments) == len(marked)
    assert sum("dropped early by the AQM" in c for c in comments) == len(early)
    assert sum("lost at random" in c for c in comments) >= len(lost)
    printed = [row for row in at_cmts if "ECN-marked by the AQM" in row["frame.comment"]]
    assert {row["ip.dsfield.ecn"] for row in printed} == {"3"}
    assert len(printed) == sum(p["forwarded_s"] is not None for p in marked)
    assert not any("early" in row["frame.comment"] for row in at_cmts)


@needs_tshark
def test_servers_have_names_and_the_window_is_never_full(captures: dict[str, Path]) -> None:
    rows = tshark(captures["home"], "ip.dst_host", "-N", "n", "-Y", "udp")
    assert {row["ip.dst_host"] for row in rows} == {"peer", "10.0.0.1"}
    assert tshark(captures["home"], "frame.number", "-Y", "tcp.analysis.window_full") == []


# mahimahi.

FULL = """
duration_s = 3
baseline = false
clock_drift_ppm = 0
servers.near = { delay_ms = 5, rate_mbps = 10_000 }
upstream = { sustained_mbps = 1000, modem.kind = "link", queue.limit_bytes = 30_000 }
downstream = { sustained_mbps = 1000, queue.limit_bytes = 30_000 }
metrics = { packet_trace = true, from_s = 1 }
[traffic]
up = { kind = "stream", purpose = "data", packet_bytes = 1000, interval_ms = 0.5 }
[traffic.down]
kind = "stream"
purpose = "data"
direction = "down"
packet_bytes = 1000
interval_ms = 0.25
"""
RATES = {
    "up": ("upstream", "[{ for_s = 0.7, mbps = 3 }, { for_s = 0.3, mbps = 12 }]"),
    "down": ("downstream", "[{ for_s = 0.5, mbps = 0 }, { for_s = 0.5, mbps = 24 }]"),
}


@pytest.mark.parametrize("direction", ["up", "down"])
def test_a_trace_of_a_full_line_has_its_rates_and_carries_the_same(
    tmp_path: Path, direction: str
) -> None:
    table, steps = RATES[direction]
    text = FULL.replace(f"{table} = {{", f"{table} = {{ capacity.steps = {steps},")
    sojourn.run(text).save(tmp_path / "full")
    trace = tmp_path / "trace"
    export(tmp_path / "full", "mahimahi", trace, direction=direction)
    again = text.replace(f"capacity.steps = {steps}", f"capacity.file = '{trace}'")
    first, second = (sojourn.run(one).flows.to_pylist() for one in (text, again))
    carried = [
        next(row["throughput_mbps"] for row in rows if row["traffic"] == direction)
        for rows in (first, second)
    ]
    # The trace of the 2 s that count repeats itself: 0.7 * 3 + 0.3 * 12 = 5.7 Mbps, 0.5 * 24 = 12.
    assert carried[1] == pytest.approx(carried[0], rel=0.02)
    times = [int(line) for line in trace.read_text().split()]
    assert times == sorted(times)
    assert len(times) * 1500 * 8 / 2e6 == pytest.approx(
        {"up": 5.7, "down": 12}[direction], rel=0.01
    )


def test_a_line_that_was_idle_has_no_trace(tmp_path: Path) -> None:
    sojourn.run(FULL, duration_s=1.5).save(tmp_path / "idle")
    with pytest.raises(
        ExportError, match=r"the line was idle up for 0\.\d+ ms at 1\.\d+ s; allowed"
    ):
        export(tmp_path / "idle", "mahimahi", tmp_path / "x", direction="up")
    assert not (tmp_path / "x").exists()


# Bad input.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--format", "pcap"],
            "error: format: found 'pcap' (did you mean pcapng?); allowed: flent, pcapng, "
            "mahimahi, csv, parquet, arrow",
        ),
        (["--format", "pcapng"], "error: point: missing; allowed: home, channel, cmts, server"),
        (
            ["--format", "pcapng", "--point", "moon"],
            "error: point: found 'moon'; allowed: home, channel, cmts, server",
        ),
        (
            ["--format", "flent", "--point", "home"],
            "error: point: found 'home' with format flent; allowed: only with format pcapng",
        ),
        (
            ["--format", "flent", "--direction", "up"],
            "error: direction: found 'up' with format flent; allowed: only with format mahimahi",
        ),
        (["--format", "mahimahi"], "error: direction: missing; allowed: up, down"),
        (
            ["--format", "flent", "--variant", "x"],
            "error: variant: found 'x'; allowed: this run, idle line",
        ),
    ],
)
def test_what_is_unknown_is_refused(
    cli: Cli, results: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    done = cli.refused("export", results, *arguments, "--out", tmp_path / "x")
    assert done == f"{message}\n"
    assert list(tmp_path.iterdir()) == []


def test_missing_packets_are_told_with_the_key(cli: Cli, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.pcapng"
    command = ("export", saved, "--format", "pcapng", "--point", "home", "--out", out)
    message = cli.refused(*command)
    assert "error: variant: missing; allowed: BufferBloat, Buffer Control, CoDel" in message
    done = cli.refused(*command, "--variant", "CoDel")
    assert done == (
        "error: the run has no packet trace; rerun the scenario with "
        "--set metrics.packet_trace=true\n"
    )


def test_what_is_no_output_directory_is_refused(cli: Cli, tmp_path: Path) -> None:
    message = cli.refused("export", tmp_path, "--format", "csv", "--out", tmp_path / "x")
    assert message == (f"error: {tmp_path}: holds no results of run --out, sweep or study run\n")


def test_tables_do_not_replace_what_is_there(results: Path, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="already exists; give the path of a new directory"):
        export(results, "csv", tmp_path)


def test_the_command_says_what_it_wrote(cli: Cli, results: Path, tmp_path: Path) -> None:
    out = tmp_path / "below" / "home.pcapng"
    printed = cli.printed("export", results, "--format", "pcapng", "--point", "home", "--out", out)
    assert printed == f"{out}: written\n"
    assert [path.name for path in out.parent.iterdir()] == ["home.pcapng"]


# Untrusted traces.

SHORT = """
duration_s = 0.5
metrics.packet_trace = true
upstream.sustained_mbps = 5
downstream.sustained_mbps = 20
servers.files.delay_ms = 9
traffic.call = { kind = "stream", purpose = "voice", server = "files" }

[traffic.web]
kind = "web"
servers = ["files"]
html_bytes = 1000
objects = { kind = "fixed", per_server = 1, bytes = 1000 }
pause_s = 0.01
"""


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with connections that open and close, and with calls both ways."""
    directory = tmp_path_factory.mktemp("short") / "out"
    sojourn.run(SHORT).save(directory)
    return directory


def changed(short: Path, there: Path, table: str, change: Callable[[pa.Table], pa.Table]) -> Path:
    """A copy of the run in which this table is another, and its checksum right."""
    shutil.copytree(short, there)
    path = there / "run" / f"{table}.parquet"
    path.write_bytes(parquet_of(change(pq.read_table(path))))
    resealed(path.parent)
    return path


@pytest.mark.parametrize(
    ("column", "value", "found"),
    [
        ("server", "other", "found 'other' in 'server'; allowed: files"),
        ("traffic", "other", "found 'other' in 'traffic'; allowed: call, web"),
        ("direction", "x", "found 'x' in 'direction'; allowed: up, down"),
        ("flags", "syn x", "found 'syn x' in 'flags'; allowed: each of fin, syn, ack, ece, cwr"),
        ("flags", "ack ack", "found 'ack ack' in 'flags'; allowed: each of fin, syn, ack, ece"),
        ("ecn", "x", "found 'x' in 'ecn'; allowed: not_ect, ect1, ect0, ce"),
        ("outcome", "x", "found 'x' in 'outcome'; allowed: delivered, overflow, aqm, link"),
        ("sack", "1", "found '1' in 'sack'; allowed: 1 to 3 blocks such as 2921-4381"),
        ("sack", "1-2-3", "found '1-2-3' in 'sack'"),
        ("sack", " ".join(["1-2"] * 4), "found '1-2 1-2 1-2 1-2' in 'sack'"),
        ("sack", f"1-{'9' * 5000}", f"found '1-{'9' * 38}' in 'sack'"),
        ("sent_s", -5.0, "found '-5.0' in 'sent_s'; allowed: 0 to 0.5"),
        ("echo_s", 0.6, "found '0.6' in 'echo_s'; allowed: 0 to 0.5"),
        ("forwarded_s", 1e15, "found '1000000000000000.0' in 'forwarded_s'; allowed: 0 to 0.5"),
        ("ended_s", 0.0, "a value of 'ended_s' is before that of 'sent_s'"),
        ("payload_bytes", 65_535, "found '65535' in 'payload_bytes'; allowed: 0 to 16384"),
        ("size_bytes", 65_535, "found '65535' in 'size_bytes'; allowed: 0 to 16384"),
    ],
)
@pytest.mark.parametrize("form", ["pcapng", "flent"])
def test_packets_that_no_run_of_the_scenario_has_are_refused(
    short: Path, tmp_path: Path, inside: Inside, form: str, column: str, value: object, found: str
) -> None:
    kind = pq.read_schema(short / "run/packets.parquet").field(column).type
    values = pa.array([value], getattr(kind, "value_type", kind)).cast(kind)
    path = changed(short, tmp_path / "out", "packets", with_values(column, values))
    point = ["--point", "server"] if form == "pcapng" else []
    words = ("--format", form, *point, "--out", tmp_path / "x")
    printed = inside.refused("export", tmp_path / "out", *words)
    assert printed.startswith(f"error: {path}: damaged ({found}")
    assert [there.name for there in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (with_values("time_s", pa.array([0.0])), "found '0.0' in 'time_s'; allowed: 0.1 to 0.5"),
        (with_values("time_s", pa.array([0.6])), "found '0.6' in 'time_s'; allowed: 0.1 to 0.5"),
        (lambda series: series.slice(0, 0), "the run has no series, as it ends within metrics."),
    ],
)
def test_flent_refuses_series_without_intervals(
    short: Path,
    tmp_path: Path,
    inside: Inside,
    change: Callable[[pa.Table], pa.Table],
    found: str,
) -> None:
    changed(short, tmp_path / "out", "series", change)
    words = ("--format", "flent", "--out", tmp_path / "x")
    assert found in inside.refused("export", tmp_path / "out", *words)


@pytest.mark.parametrize("point", POINTS)
def test_a_segment_that_opens_a_connection_has_no_room_for_blocks(
    short: Path, tmp_path: Path, point: str
) -> None:
    blocks = with_values("sack", pa.array(["1-2 3-4 5-6"]).dictionary_encode())
    path = changed(short, tmp_path / "out", "packets", blocks)
    flags = pq.read_table(path)["flags"].unique().to_pylist()
    assert {"syn", "syn ack", "ack", "ack fin"} <= set(flags)
    export(tmp_path / "out", "pcapng", tmp_path / "x", point=point)


def test_a_capture_is_written_in_parts(
    results: Path,
    captures: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They are of the same bytes, and take less memory than all rows."""
    monkeypatch.setattr(sys.modules["sojourn.export.capture"], "_ROWS_AT_A_TIME", 300)
    tracemalloc.start()
    try:
        export(results, "pcapng", tmp_path / "x", point="channel")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "x").read_bytes() == captures["channel"].read_bytes()
    assert most < 8 * 10**6 < len(pq.read_table(results / "run/packets.parquet")) * 1000
