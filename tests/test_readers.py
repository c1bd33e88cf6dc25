"""Each reader of what several parts write agrees with them, over all parts of the schema.

`networks.py` draws them, so that a stage, table or key that a reader does not know fails here.
`docs/validation.md` lists the readers.
"""

import html
import itertools
import json
import pickle
import re
import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
import sojourn
from conftest import ROOT
from lab_page import SMALL, needs_module
from networks import KINDS, Keys, Network, exempt, keys_of_schema, networks, udp, words
from sojourn._sojourn import Job, stored_scenario
from sojourn._sojourn import run as native_run
from sojourn.analysis.entries import router_of_first_home
from sojourn.analysis.grids import first_grids
from sojourn.analysis.groups import Results
from sojourn.analysis.measures import judged_flows, payload_flows
from sojourn.analysis.summary import summary_json
from sojourn.analysis.tables import ALL_TABLES, TABLES, RunTables
from sojourn.analysis.verdict import verdict_json
from sojourn.base.grid import digits
from sojourn.base.toml_text import toml_document
from sojourn.export import POINTS, ExportError, export
from sojourn.export.cable import way_back_ms
from sojourn.export.capture import capture, passing_s
from sojourn.export.mahimahi import mahimahi
from sojourn.lab.server import STATIC
from sojourn.report.html import report_of
from sojourn.runs.result import Result
from sojourn.store.merge import merge
from sojourn.store.read import read_results
from sojourn.store.shard import Shard
from sojourn.store.stored_run import StoredRun
from sojourn.store.sweep import read_sweep, run_sweep
from sojourn.store.write import save
from test_web_module import needs_node, read_by_node

Row = dict[str, Any]
Flow = tuple[str, str]
Runs = Mapping[str, Result]
"""The result of each network, by a name that says what it is of."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("captures")


@pytest.fixture(scope="module")
def drawn(folder: Path) -> Mapping[str, Network]:
    return {
        f"{number} {one.of} {dict(one.changed)}": one for number, one in enumerate(networks(folder))
    }


@pytest.fixture(scope="module")
def runs(drawn: Mapping[str, Network]) -> Runs:
    return {name: run_of(network) for name, network in drawn.items()}


def run_of(network: Network) -> Result:
    return Result(network.variant, native_run(network.variant, Job()))


def flow(row: Row) -> Flow:
    return row["traffic"], row["direction"]


def rows_by_flow(run: Result, table: str = "flows") -> dict[Flow, Row]:
    return {flow(row): row for row in run.table(table).to_pylist()}


REFUSED = {
    # Another record than the scenario's line made needs `anyway`, which is exempt.
    ("Entry/outside", "record"),
}

REFUSED_WORDS = {
    # They need other words beside them, which the cases of controls, dialects and bit rates have.
    ("TcpOptions", "recovery", "linux"),
    ("TcpOptions", "ecn", "l4s"),
}


def test_every_part_of_the_schema_is_drawn(drawn: Mapping[str, Network], runs: Runs) -> None:
    assert {network.of for network in drawn.values()} >= KINDS
    keys = {(network.of, key) for network in drawn.values() for key in (*network.changed, "kind")}
    assert keys_of_schema() - keys == exempt() | REFUSED
    written = {
        (network.of, key, word)
        for network in drawn.values()
        for key, word in network.changed.items()
        if isinstance(word, str)
    }
    settings = "\n".join(run.scenario for run in runs.values())
    missing = {
        (of, key, word)
        for of, key, word in words() - written
        if not re.search(rf'\b{key} = "{word}"', settings) and (of, key) not in exempt()
    }
    assert missing == REFUSED_WORDS


# Tables and packets.


def test_tables_are_those_of_the_packets(runs: Runs) -> None:
    """Counts, bytes, losses by reason and latencies of each flow and class, from the trace."""
    for name, run in runs.items():
        from_s = run.settings["metrics"]["from_s"]
        packets = pl.DataFrame(pl.from_arrow(run.packets.select(_OF_PACKETS)))
        counted = packets.filter(pl.col("sent_s") >= from_s).with_columns(
            pl.col("traffic", "direction", "outcome").cast(pl.String),
            ms=(pl.col("ended_s") - pl.col("sent_s")) * 1e3,
        )
        found = counted.group_by("traffic", "direction", "outcome").agg(
            pl.len(),
            pl.col("size_bytes").sum(),
            pl.col("ms").mean(),
            pl.col("ms").max().alias("max"),
        )
        outcomes = {(*flow(row), row["outcome"]): row for row in found.to_dicts()}
        flows = rows_by_flow(run)
        assert {one[:2] for one in outcomes} <= set(flows), name
        for one, row in flows.items():
            came = outcomes.pop((*one, "delivered"), {"len": 0, "size_bytes": 0})
            counts = row["delivered_packets"], row["delivered_bytes"]
            assert counts == (came["len"], came["size_bytes"]), (name, one)
            if came["len"]:
                found_ms = row["latency_mean_ms"], row["latency_max_ms"]
                assert found_ms == pytest.approx((came["ms"], came["max"]), rel=1e-3), (name, one)
            lost = {
                column: value
                for column, value in row.items()
                if (column.startswith("dropped_") or column == "superseded_packets") and value
            }
            ended = {
                _COLUMNS.get(what, f"dropped_{what}_packets"): outcomes.pop((*one, what))["len"]
                for *of, what in list(outcomes)
                if tuple(of) == one
            }
            assert lost == ended, (name, one)
        assert not outcomes, name
        of_classes = sum(run.traffic_classes["sent_packets"].to_pylist())
        assert of_classes == sum(row["sent_packets"] for row in flows.values()), name
        cells = pl.DataFrame(pl.from_arrow(run.latencies))
        assert cells["packets"].sum() == sum(r["delivered_packets"] for r in flows.values()), name


_OF_PACKETS = ["traffic", "direction", "outcome", "size_bytes", "sent_s", "ended_s"]
_COLUMNS = {"superseded": "superseded_packets"}


def test_parts_of_the_delay_are_the_latency(runs: Runs) -> None:
    """They add up, and to the times of the packets where all of these came to an end."""
    for name, run in runs.items():
        parts = run.delay_parts.to_pylist()
        found: dict[Flow, dict[str, float]] = {}
        for row in parts:
            found.setdefault(flow(row), {})[row["part"]] = row["mean_ms"]
        for one, row in rows_by_flow(run).items():
            of = found.pop(one)
            total = of.pop("total")
            assert sum(of.values()) == pytest.approx(total, rel=1e-9, abs=1e-9), (name, one)
            if row["delivered_packets"] == row["sent_packets"] > 0:
                assert total == pytest.approx(row["latency_mean_ms"], rel=1e-9), (name, one)
        assert not found, name


def test_what_is_observed_adds_up_to_the_tables(drawn: Mapping[str, Network], runs: Runs) -> None:
    """Looks at five times, of each kind of part."""
    for name in firsts(drawn):
        simulation = sojourn.Simulation(drawn[name].variant)
        looks = []
        for step in range(1, 6):
            simulation.run_until(simulation.duration_s * step / 5)
            looks.append(simulation.observe())
        run = runs[name]
        assert simulation.finish().meta == run.meta, name
        flows = rows_by_flow(run)
        for number, last in enumerate(looks[-1].traffic):
            all_looks = [look.traffic[number] for look in looks]
            row = flows.pop((last.traffic, last.direction), {})  # none if it sent nothing
            for column in ("sent_packets", "delivered_packets"):
                found = sum(getattr(one, column) for one in all_looks)
                assert found == row.get(column, 0), (name, column)
            lost = sum(value for key, value in row.items() if key.startswith("dropped_"))
            assert sum(one.lost_packets for one in all_looks) == lost, name
        assert not flows, name
        # Rows of the members of a queue of two are not observed.
        queues = [row for row in run.queues.to_pylist() if not row["queue"].endswith(_MEMBERS)]
        assert [row["queue"] for row in queues] == [q.queue for q in looks[-1].queues], name
        for number, row in enumerate(queues):
            of = [look.queues[number] for look in looks]
            for column in ("departed_packets", "dropped_aqm_packets", "marked_packets"):
                assert sum(getattr(one, column) for one in of) == row[column], (name, column)


def firsts(drawn: Mapping[str, Network]) -> list[str]:
    """A network of each definition and kind."""
    found: dict[str, str] = {}
    for name, network in drawn.items():
        found.setdefault(network.of, name)
    return [*found.values()]


_MEMBERS = (" low_latency", " classic")


# Answers and summaries.


def test_values_of_grades_are_those_of_the_tables(runs: Runs) -> None:
    """Each metric is a column of its traffic or queue, a share of packets or of a part."""
    for name, run in runs.items():
        flows, queues = run.flows.to_pylist(), run.queues.to_pylist()
        (group,) = verdict_json(run.groups)["groups"]
        parts = {one["traffic"]: one for one in group["transfers"]}
        for one in group["assessments"]:
            its = [row for row in flows if row["traffic"] == one["traffic"]] or queues
            for metric, value in one["values"].items():
                if metric == "share_percent" and value is not None:
                    of = parts[one["traffic"]]
                    share = min(100, 100 * of["mbps"] / of["part_mbps"])
                    assert value == pytest.approx(share), (name, one)
                elif metric.startswith("kept_"):
                    # What the line gives is no column.
                    assert value is None or 0 <= value <= 100, (name, one)
                elif metric == "wait_mean_ms":
                    way = {"upstream wait": "up", "downstream wait": "down"}[one["application"]]
                    assert value is None or value in waits(run, way), (name, one)
                elif metric == "loss_percent" and value not in of_rows(its, metric):
                    # What had not come, and waited for too long, is given up.
                    sent, come = (
                        [row[f"{of}_packets"] for row in its] for of in ("sent", "delivered")
                    )
                    missing = (
                        100 * (1 - there / all_) for all_, there in zip(sent, come, strict=True)
                    )
                    assert max(of_rows(its, metric)) < value <= max(missing), (name, one)
                elif value is not None:
                    assert value in of_rows(its, metric), (name, one, metric)


_WAITS = re.compile("queue|_wait$|contention|shaping|stall")


def waits(run: Result, way: str) -> list[Any]:
    """What each entry waits in a direction on average."""
    found: defaultdict[str, float] = defaultdict(float)
    for row in run.delay_parts.to_pylist():
        if row["direction"] == way and _WAITS.search(row["part"]):
            found[row["traffic"]] += row["mean_ms"] or 0.0
    return [pytest.approx(ms) for ms in (*found.values(), 0.0)]


def of_rows(rows: Sequence[Row], metric: str) -> list[Any]:
    if metric == "queue_lost_percent":
        found = []
        for row in rows:
            lost = row["dropped_overflow_packets"] + row["dropped_aqm_packets"]
            found.append(pytest.approx(100 * lost / max(1, lost + row["departed_packets"])))
        return found
    column = metric.replace("queue_", "sojourn_") if metric.startswith("queue_") else metric
    return [row[column] for row in rows]


_MS = re.compile(r"([\d.]+) ms")


def test_causes_are_those_of_the_parts(runs: Runs) -> None:
    """Each number of a sentence is a sum of parts or a part, in or of all delays of its traffic."""
    said = 0
    for name, run in runs.items():
        (group,) = verdict_json(run.groups)["groups"]
        parts: dict[str, list[Row]] = {}
        for row in run.delay_parts.to_pylist():
            parts.setdefault(row["traffic"], []).append(row)
        for sentence in group["causes"]:
            traffic = sentence.removeprefix("traffic.").partition(" takes ")[0]
            values: dict[str, list[float]] = {}
            for row in parts[traffic]:
                values.setdefault(row["part"], []).append(row["mean_ms"])
            up_and_down, _, of_parts = sentence.partition(":")
            totals = {*map(digits, values.pop("total"))}
            assert set(_MS.findall(up_and_down)) <= totals, (name, sentence)
            there = {digits(ms) for of in values.values() for ms in (*of, sum(of))}
            assert set(_MS.findall(of_parts)) <= there, (name, sentence, values)
            said += 1
    assert said > 100


def test_the_summary_is_that_of_the_tables(
    runs: Runs, few: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every judged flow has its row, and the parts shown are nearly all of the delay."""
    for name, run in runs.items():
        noticed, *of_time = first_grids(run.groups)
        rows = payload_flows(run)
        places = [noticed.headings.index(one) for one in ("traffic", "direction")]
        shown = [[row[place] for place in places] for row in noticed.rows]
        assert shown == [[row["traffic"], row["direction"]] for row in rows], name
        for heading, column in (("rate\nMbps", "rate_mbps"), ("loss\n%", "loss_percent")):
            if heading in noticed.headings:
                place = noticed.headings.index(heading)
                found = [row[place] for row in noticed.rows]
                values = [row[column] for row in rows]
                if column == "rate_mbps":  # of what loads nothing, that of the whole run
                    values = [row["rate_mbps"] or row["throughput_mbps"] for row in rows]
                assert found == [*map(digits, values)], (name, column)
        totals: dict[str, float] = {}
        judged = {flow(row) for row in judged_flows(run) if row["quality"]}
        for row in run.delay_parts.to_pylist():
            if row["part"] == "total" and flow(row) in judged:
                totals[row["traffic"]] = totals.get(row["traffic"], 0.0) + row["mean_ms"]
        for grid in of_time:
            for traffic, in_all, *of in grid.rows:
                assert in_all == digits(totals[traffic]), (name, traffic)
                parts = sum(float(part) for part in of if part != "–")
                # Parts below 1 % are not shown.
                assert parts == pytest.approx(totals[traffic], rel=0.05), (name, traffic)
    for name, run in few.items():
        run.summary(in_full=True)
        printed = capsys.readouterr().out
        assert all(row["traffic"] in printed for row in run.flows.to_pylist()), name


def test_json_is_that_of_the_result(drawn: Mapping[str, Network], runs: Runs) -> None:
    """What `--json` prints, as it is read again."""
    for name in firsts(drawn):
        run = runs[name]
        found = json.loads(json.dumps(summary_json(run.groups)))
        (one,) = found["variants"]
        tables = {table: one.pop(table) for table in [*one] if table in ALL_TABLES}
        assert set(tables) >= {"flows", "traffic_classes", "service_flows", "queues"}
        for table, rows in tables.items():
            assert rows == run.table(table).to_pylist(), (name, table)
        assert one.pop("summary") == run.facts.measures, name
        assert one == {"name": "", **json.loads(json.dumps(run.meta))}, name


# The page.


@needs_module
@needs_node
def test_the_page_has_tables_and_verdict_of_the_command(
    drawn: Mapping[str, Network], runs: Runs, folder: Path, tmp_path: Path
) -> None:
    """Every column of every table, of each kind of part, bit for bit. It traces no packets."""
    names = firsts(drawn)
    sets = {"duration_s": 1.2, "baseline": False}
    texts = {
        name: toml_document({**drawn[name].keys, **sets}).replace(f"{folder}/", "")
        for name in names
    }
    files = {path.name: str(path) for path in folder.iterdir()}
    (tmp_path / "input.json").write_text(json.dumps({"scenarios": texts, "files": files}))
    page = read_by_node("tables.mjs", SMALL, STATIC / "core.js", tmp_path / "input.json")
    for name in names:
        run, found = runs[name], page[name]
        assert found["fingerprint"] == run.meta["fingerprint"], name
        assert set(found["tables"]) == set(ALL_TABLES)
        for table in TABLES:
            columns = digests(run.table(table))
            for column in set(columns) - (_TRACED if table == "delay_parts" else set()):
                assert found["tables"][table][column] == columns[column], (name, table, column)
        assert found["verdict"] == verdict_json(run.groups), name


_TRACED = {"p50_ms", "p90_ms", "p99_ms", "max_ms"}
"""Columns that only traces give."""


def digests(table: pa.Table) -> dict[str, str]:
    """Of each column, as numbers; of texts, as they come, and their numbers in that order."""
    return {name: digest(table[name].combine_chunks()) for name in table.column_names}


def digest(column: pa.Array) -> str:
    texts = []
    if isinstance(column, pa.DictionaryArray):
        column = column.cast(pa.string())
    if pa.types.is_string(column.type):
        coded = column.dictionary_encode()
        texts, values = coded.dictionary.to_pylist(), coded.indices.fill_null(-1)
    else:
        values = column.cast(pa.float64()).fill_null(np.nan)
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    content = json.dumps(texts, separators=(",", ":"), ensure_ascii=False).encode()
    return sha256(content + numbers.tobytes()).hexdigest()


# What is written and read again.


@pytest.fixture(scope="module")
def kept(drawn: Mapping[str, Network], runs: Runs) -> Runs:
    """Runs of each definition and kind, by these."""
    return {drawn[name].of or "all": runs[name] for name in firsts(drawn)}


@pytest.fixture(scope="module")
def few(kept: Runs) -> Runs:
    """Some runs that together have a value in each column in which any has one."""
    columns = {
        name: {
            (table, column)
            for table in filter(run.keeps, ALL_TABLES)
            for column, values in columns_of(getattr(run, table))
            if values.null_count < len(values)
        }
        for name, run in kept.items()
    }
    found: dict[str, Result] = {}
    missing = set().union(*columns.values())
    while missing:
        best = max(columns, key=lambda name: len(columns[name] & missing))
        found[best] = kept[best]
        missing -= columns[best]
    return found


def columns_of(table: pa.Table) -> Iterator[tuple[str, pa.ChunkedArray]]:
    return zip(table.column_names, table.columns, strict=True)


@pytest.fixture(scope="module")
def saved(few: Runs, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with those runs, and their report."""
    directory = tmp_path_factory.mktemp("saved") / "out"
    save(Results.of(few), directory)
    return directory


@pytest.fixture(scope="module")
def opened(saved: Path) -> Mapping[str, StoredRun]:
    return {group.name: cast(StoredRun, group.first) for group in read_results(saved).groups}


def test_what_is_opened_is_what_was_stored(few: Runs, opened: Mapping[str, StoredRun]) -> None:
    """Every column of every table that some run has values in."""
    assert list(opened) == list(few)
    for name, run in few.items():
        stored = opened[name]
        assert stored.meta == json.loads(json.dumps(run.meta)), name
        assert stored.settings == without_nulls(run.settings), name
        assert stored.scenario == run.scenario, name
        for table in filter(run.keeps, ALL_TABLES):
            found = stored.table(table)
            assert found.equals(run.table(table).cast(found.schema)), (name, table)


def test_stored_scenarios_and_tables_give_the_same_answer(kept: Runs) -> None:
    """Those of all kinds are read, and what is judged of them is what was judged."""
    for name, run in kept.items():
        assert stored_scenario(run.scenario, name, "null") == run.scenario, name
        stored = pickle.loads(pickle.dumps(run))
        assert stored.facts.measures == run.facts.measures, name
        assert verdict_json(stored.groups) == verdict_json(run.groups), name


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_nulls(one) for key, one in value.items() if one is not None}
    return [*map(without_nulls, value)] if isinstance(value, list) else value


def test_exported_tables_are_those_of_the_runs(saved: Path, tmp_path: Path) -> None:
    """As CSV, Parquet and in pandas: every column of every table that some run has values in."""
    opened = sojourn.open(saved)
    for form in ("csv", "parquet"):
        export(saved, form, tmp_path / form)
    for table in ALL_TABLES:
        tidy = pl.DataFrame(pl.from_arrow(opened.tidy(table)))
        tidy = tidy.with_columns(pl.col(pl.Categorical).cast(pl.String))
        from_parquet = pl.read_parquet(tmp_path / "parquet" / f"{table}.parquet")
        assert from_parquet.equals(tidy), table
        types = {name: kind for name, kind in tidy.schema.items() if kind != pl.Null}
        from_csv = pl.read_csv(tmp_path / "csv" / f"{table}.csv", schema_overrides=types)
        assert from_csv.columns == tidy.columns, table
        for column in tidy.columns:
            assert from_csv[column].equals(tidy[column], null_equal=True), (table, column)
        frame = opened.to_pandas(table)
        assert frame.shape[0] == len(tidy), table
        for column in set(frame.columns) - {"variant"}:
            assert int(frame[column].notna().sum()) == len(tidy) - tidy[column].null_count()


def test_captures_have_the_packets_at_their_times(opened: Mapping[str, StoredRun]) -> None:
    for name, run in opened.items():
        for point in POINTS:
            times = passing_s(run.packets, point, run.settings).to_pylist()
            numbers = run.packets["packet"].to_pylist()
            want = sorted(
                (round(time_s * 1e9), number & 0xFFFF)
                for time_s, number in zip(times, numbers, strict=True)
                if time_s is not None
            )
            found = sorted(captured(run, point))
            # Real packets have their own headers, with no number of ours.
            is_real = any("record" in entry for entry in run.settings["traffic"].values())
            both = [[at for at, _ in all_] for all_ in (found, want)] if is_real else [found, want]
            assert both[0] == both[1], (name, point)


def test_points_of_captures_lie_in_order(runs: Runs) -> None:
    """No packet is sooner at the next point, nor quicker from the CMTS than the links there."""
    for name, run in runs.items():
        if not run.keeps("packets"):
            continue
        packets = run.packets
        passed = {
            point: passing_s(packets, point, run.settings).to_numpy(zero_copy_only=False)
            for point in POINTS
        }
        is_up = np.array(packets["direction"].to_pylist()) == "up"
        for point, after in itertools.pairwise(POINTS):
            took = (passed[after] - passed[point]) * np.where(is_up, 1, -1)
            assert not (took < -1e-12).any(), (name, point)
        least_ms = {
            server: of["delay_ms"] + sum(core_delays_ms(run))
            for server, of in run.settings["servers"].items()
        }
        links_s = np.array([least_ms[one] for one in packets["server"].to_pylist()]) / 1e3
        took = (passed["server"] - passed["cmts"])[is_up]
        assert not (took < links_s[is_up] - 1e-9).any(), name


def core_delays_ms(run: RunTables) -> list[float]:
    links = [of.get("upstream") for of in (run.settings.get("core") or {}).values()]
    return [link["delay_ms"] for link in links if link]


def captured(run: StoredRun, point: str) -> Iterator[tuple[int, int]]:
    """Times in ns and IP identifications of the packets in a capture."""
    content = b"".join(capture(run, point))
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        if kind == 6:
            high, low = struct.unpack_from("<II", content, at + 12)
            (number,) = struct.unpack_from(">H", content, at + 28 + 4)
            yield high << 32 | low, number
        at += size


def test_traces_of_a_line_have_the_bytes_that_it_carried(kept: Runs) -> None:
    """Or they are refused: a line that was not full, or may not have been, has none."""
    written = 0
    for name, run in kept.items():
        packets = packets_of_run(run).filter(pl.col("home") == 1)
        packets = packets.filter(pl.col("forwarded_s") > run.settings["metrics"]["from_s"])
        for direction in ("up", "down"):
            try:
                chances = len(list(mahimahi(cast(StoredRun, run), direction)))
            except ExportError:
                continue
            assert direction == "down" or "upstream" not in router_of_first_home(run.settings)
            carried = packets.filter(pl.col("direction") == direction)["size_bytes"].sum()
            assert chances == carried // 1500, (name, direction)
            written += 1
    assert written > 0


def test_pings_of_flent_come_back_over_all_links(runs: Runs) -> None:
    """No packet from a server is quicker, and the quickest is hardly slower than without queues."""
    for name, run in runs.items():
        if run.keeps("packets"):
            came = packets_of_run(run).filter(
                pl.col("home") == 1, direction="down", outcome="delivered"
            )
            took_ms = (pl.col("ended_s") - pl.col("sent_s")).min() * 1e3
            for server, ms in came.group_by("server").agg(took_ms).iter_rows():
                # Clocks of hosts are off by up to 100 ppm.
                assert way_back_ms(run.settings, server) < ms * 1.0001, (name, server)


def packets_of_run(run: RunTables) -> pl.DataFrame:
    packets = pl.DataFrame(pl.from_arrow(run.table("packets")))
    return packets.with_columns(pl.col(pl.Categorical).cast(pl.String))


def test_the_report_has_the_numbers_of_the_tables(kept: Runs, few: Runs) -> None:
    """All kinds stand in one page with the cells of the summary; some are shown in full."""
    results = Results.of(kept)
    cells = cells_of(report_of(results))
    assert set(kept) <= cells
    for grid in first_grids(results):
        assert {cell for row in grid.rows for cell in row} <= cells, grid.title
    for name, run in few.items():
        cells = cells_of(report_of(run.groups))
        for row in payload_flows(run):
            shown = {row["traffic"], row["quality"], digits(row["latency_p50_ms"])}
            assert shown <= cells, (name, row["traffic"])


def cells_of(page: str) -> set[str]:
    return set(re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", html.unescape(page)))


# Sweeps, searches and records.


def kinds_of(definition: str) -> list[Keys]:
    """A table of each kind, without other keys."""
    return [
        {"kind": of.partition("/")[2]} for of in sorted(KINDS) if of.startswith(definition + "/")
    ]


LINE: Keys = {
    "duration_s": 0.4,
    "baseline": False,
    "upstream": {"sustained_mbps": 5, "modem": {"kind": "link"}},
    "downstream": {"sustained_mbps": 20},
    "servers": {"near": {"delay_ms": 9}},
    "traffic": {
        "upload": {"kind": "transfer", "server": "near", "connections": 2},
        "game": {"kind": "stream", "purpose": "game", "server": "near"},
    },
}
AXES = {
    "upstream.queue.law": kinds_of("AqmSpec"),
    "router.upstream.queue.scheduler": kinds_of("SchedulerSpec"),
    "tcp.congestion_control": kinds_of("CongestionSpec"),
}


@pytest.mark.parametrize("key", AXES)
def test_sweeps_and_their_joined_parts_have_the_single_runs(tmp_path: Path, key: str) -> None:
    line = {**LINE, "router": {"upstream": {"rate_mbps": 4}}}
    (tmp_path / "line.toml").write_text(toml_document(line))
    values = ", ".join(f'{{ kind = "{one["kind"]}" }}' for one in AXES[key])
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "line.toml"\nseries = true\nkeys."{key}" = [{values}]\n')
    parts = [tmp_path / f"part-{number}" for number in (1, 2)]
    for number, part in enumerate(parts, 1):
        shard = Shard.of(f"{number}/2", ["sojourn", "sweep", "sweep.toml"])
        run_sweep(read_sweep(sweep), part, shard=shard, quiet=True)
    merge(parts, tmp_path / "joined", lambda there: {})
    swept = read_results(tmp_path / "joined")
    assert len(swept.groups) == len(AXES[key])
    for value, group in zip(AXES[key], swept.groups, strict=True):
        alone, stored = sojourn.run(line, set={key: value}), group.first
        assert isinstance(alone, Result)
        assert stored.meta["fingerprint"] == alone.meta["fingerprint"], value
        for table in filter(stored.keeps, ALL_TABLES):
            found = stored.table(table)
            assert found.equals(alone.table(table).cast(found.schema)), (value, table)


def test_a_search_finds_what_all_single_runs_say(tmp_path: Path) -> None:
    key, limits = "upstream.queue.limit_bytes", range(10_000, 70_000, 4_000)
    delays = []
    for limit in limits:
        run = sojourn.run(LINE, set={key: limit})
        assert isinstance(run, Result)
        delays.append(run.facts.measures["game_rtt_p90_ms"])
    bound_ms = round(sorted(filter(None, delays))[len(delays) // 2], 1)
    found = sojourn.find(
        LINE, key=key, until=f"game_rtt_p90_ms < {bound_ms}", low=limits[0], high=limits[-1],
        step=limits.step, seeds=1, out=tmp_path / "out",
    )  # fmt: skip
    holds = [ms is not None and ms < bound_ms for ms in delays]
    # It holds up to an edge, as delay grows with the buffer.
    assert holds == sorted(holds, reverse=True) and any(holds) and not all(holds)
    assert found[""].answer == limits[holds.index(False) - 1]


WITHOUT_REAL = ("Activity", "Metrics")
"""A home that rests has no real packets, and counting begins at 1 s."""


def test_records_of_real_packets_are_replayed_to_the_same_bits(
    drawn: Mapping[str, Network], tmp_path: Path
) -> None:
    """Both ways, on a third of the lines; what is emulated is recorded so too."""
    for number, name in enumerate(firsts(drawn)[::3]):
        network = drawn[name]
        if network.of in WITHOUT_REAL:
            continue
        keys = {**network.keys, "baseline": False}
        keys["traffic"] = {**keys["traffic"], "real": {"kind": "outside"}}
        record = tmp_path / f"{number}.pcapng"
        simulation = sojourn.Simulation(keys, duration_s=0.15, record=record)
        for packet in range(20):
            direction = "down" if packet % 3 else "up"
            content = udp(100 + 50 * packet, up=direction == "up")
            simulation.inject("real", direction, content, at_s=0.005 * packet + 0.003)
        simulation.run_until(1)
        result = simulation.finish()
        del keys["traffic"]["real"]
        again = sojourn.run(keys, duration_s=0.15, replay=record)
        assert isinstance(again, Result)
        assert again.meta["fingerprint"] == result.meta["fingerprint"], name
        for table in ("flows", "queues", "delay_parts", "series"):
            assert again.table(table).equals(result.table(table)), (name, table)


def test_the_table_of_readers_names_tests() -> None:
    """Each reader has some, and all tests of this file are in the table."""
    text = (ROOT / "docs" / "validation.md").read_text()
    section = text.partition("## Readers and their tests\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| ")][2:]
    named = [re.findall(r"`([\w/]+\.(?:py|rs))::(\w+)`", row) for row in rows]
    assert len(rows) >= 15 and all(named)
    for file, name in itertools.chain(*named):
        folder = ROOT / ("tests" if file.endswith(".py") else "crates/sojourn/tests")
        define = "def" if file.endswith(".py") else "fn"
        assert re.search(rf"^ *{define} {name}\(", (folder / file).read_text(), re.M), name
    own = set(re.findall(r"^def (test_\w+)", Path(__file__).read_text(), re.M))
    of_readers = {name for file, name in itertools.chain(*named) if file == Path(__file__).name}
    assert own - of_readers == {
        "test_every_part_of_the_schema_is_drawn",
        "test_the_table_of_readers_names_tests",
    }
