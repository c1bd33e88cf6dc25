"""Stores whose checksums are right and whose content is not what sojourn writes."""

import json
import math
import os
import shutil
import tomllib
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sojourn
from conftest import warning_data
from sojourn.analysis.tables import TABLES
from sojourn.base.files import remove
from sojourn.base.plain_text import plain
from sojourn.base.toml_text import toml_document
from sojourn.store.checksums import SUMS, DamagedError, StoreError, sums_of
from sojourn.store.listing import SUMMARY
from sojourn.store.merge import PartsError
from sojourn.store.read import read_results
from sojourn.store.row_limits import most_rows
from sojourn.store.store import MARKER, PLAN, RUN_LIST, Store
from sojourn.store.stored_run import StoredRun
from sojourn.store.verify import require_whole
from stores import (
    SCENARIO,
    Copied,
    Inside,
    bytes_of,
    changed_table,
    command,
    resealed,
    with_values,
)

NOT_FINITE = "a value of 'latency_p99_ms' is not finite"


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda table: table.drop_columns(["latency_p99_ms"]), "it has no column 'latency_p99_ms'"),
        (with_values("latency_p99_ms", pa.array([math.inf])), NOT_FINITE),
        (with_values("latency_p99_ms", pa.array([math.nan])), NOT_FINITE),
        (
            with_values("latency_p99_ms", pa.array(["long"])),
            "the values of 'latency_p99_ms' are of type string",
        ),
        (
            with_values("sent_packets", pa.array([None], pa.uint64())),
            "a value of 'sent_packets' is missing",
        ),
    ],
)
@pytest.mark.parametrize("words", ["report", "plot --kind cdf", "export --format csv"])
def test_a_store_of_other_tables_is_refused_in_a_line(
    copied: Copied,
    inside: Inside,
    change: Callable[[pa.Table], pa.Table],
    found: str,
    words: str,
) -> None:
    directory = copied("run")
    flows = next(directory.rglob("flows.parquet"))
    changed_table(flows, change)
    name, *options = words.split()
    message = inside.refused(name, directory, *options, "--out", directory.with_name("x.svg"))
    assert message.startswith(f"error: {flows}: damaged ({found})"), message


NOT_WRITTEN = "not what sojourn writes of a run"
OF_ANOTHER = "of another run than its scenario"
NO_LIST = "not a list of runs as sojourn writes it"


@pytest.mark.parametrize(
    ("file", "before", "after", "found"),
    [
        ("run/meta.json", '"warnings": [', '"warnings": 3, "told": [', NOT_WRITTEN),
        ("run/meta.json", '"warnings": [', '"warnings": [{}], "told": [', NOT_WRITTEN),
        ("run/meta.json", '"seed": 1', '"seed": null', NOT_WRITTEN),
        ("run/meta.json", '"version": "', '"version": "1', NOT_WRITTEN),
        ("run/meta.json", '"seed": 1', '"seed": 2', OF_ANOTHER),
        ("run/meta.json", '"duration_s": ', '"duration_s": 1', OF_ANOTHER),
        ("run/scenario.toml", "delay_ms = 9.0", "delay_ms = -9.0", "found -9"),
        ("run/scenario.toml", "delay_ms = 9.0", "", "missing; allowed: "),
        ("run/scenario.toml", "seed = 1\n", "", "not a complete scenario as sojourn writes it"),
        ("run/summary.json", '"name": ', '"nome": ', "not a summary that sojourn wrote"),
        ("sweep/meta.json", '"seed": ', '"seed": 1', "has seed 1"),
        ("sweep/runs.csv", ",1,", ",2,", "has seed 1"),
        ("sweep/runs.csv", ",", ",,", NO_LIST),
        ("sweep/runs.csv", "\n", "\n\n", NO_LIST),
        ("sweep/runs.csv", "run", "walk", "lists no runs"),
    ],
)
def test_other_content_is_refused_in_a_line(
    copied: Copied, inside: Inside, file: str, before: str, after: str, found: str
) -> None:
    """Its checksum is right."""
    kind, name = file.split("/")
    directory = copied(kind)
    path = next(directory.rglob(name))
    text = path.read_text()
    path.write_text(text.replace(before, after, 1))
    assert path.read_text() != text
    resealed(path.parent)
    message = inside.refused("report", directory, "--out", directory.with_name("page.html"))
    assert message.startswith(f"error: {directory}") and found in message


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("run", ["meta.json", "scenario.toml", "flows.parquet", SUMMARY, SUMS]),
        ("sweep", [RUN_LIST, MARKER]),
        ("study", [PLAN]),
    ],
)
def test_a_store_with_what_is_no_file_is_refused_in_a_line(
    copied: Copied, inside: Inside, kind: str, names: Sequence[str]
) -> None:
    """Reading a device might never end, and reading a pipe never begin."""
    directory = copied(kind)
    changes: Mapping[str, Callable[[Path], object]] = {
        "found a link; allowed: a regular file": lambda path: path.symlink_to("/dev/zero"),
        "found a pipe; allowed: a regular file": os.mkfifo,
        "found a directory; allowed: a regular file": Path.mkdir,
        "found 1099511627776 bytes; allowed:": of_a_terabyte,
    }
    checked = [next(directory.rglob(name)) for name in names]
    for path, (found, change) in product(checked, changes.items()):
        path.rename(aside := directory.with_name("aside"))
        change(path)
        message = inside.refused("verify", directory)
        assert str(path) in message and found in message, message
        remove(path)
        aside.rename(path)
    assert command("verify", directory) == 0


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_results_are_not_read_through_links(copied: Copied, inside: Inside, kind: str) -> None:
    """They may lead to anything, even if it is as it was written."""
    directory = copied(kind)
    run = next(directory.rglob("meta.json")).parent
    for path in (run / "flows.parquet", run):
        path.rename(aside := directory.with_name("aside"))
        path.symlink_to(aside)
        for name, *more in (["verify"], ["report", "--out", directory.with_name("page.html")]):
            message = inside.refused(name, directory, *more)
            assert message.startswith(f"error: {path}: ") and "found a link; allowed: " in message
        with pytest.raises(StoreError, match="found a link"):
            sojourn.open(directory)
        path.unlink()
        aside.rename(path)
    assert command("verify", directory) == 0


@pytest.mark.parametrize("name", ["runs", "one run"])
def test_resume_leaves_alone_what_links_lead_to(
    copied: Copied, stored: Path, tmp_path: Path, inside: Inside, name: str
) -> None:
    """It sweeps drafts from the directory of runs, and replaces what is damaged there."""
    for file in ("home.toml", "sweep.toml"):
        (tmp_path / file).write_text((stored / file).read_text())
    directory = copied("sweep")
    runs = directory / "runs"
    path = runs if name == "runs" else next(runs.iterdir())
    shutil.rmtree(path)
    (tmp_path / "letters" / "mine").mkdir(parents=True)
    for letter in ("letters/.draft", "letters/mine/letter"):
        (tmp_path / letter).write_text("dear")
    path.symlink_to(tmp_path / "letters")
    before = bytes_of(tmp_path / "letters")
    done = inside("sweep", tmp_path / "sweep.toml", "--out", directory, "--resume", "--quiet")
    assert bytes_of(tmp_path / "letters") == before
    assert f"{path}: " in done.stderr and "found a link; allowed: a directory" in done.stderr
    status = done.returncode
    assert status == (2 if name == "runs" else 0)
    # A link in the place of a run has become the run.
    assert (command("verify", directory), path.is_symlink()) == (status, name == "runs")


@pytest.mark.parametrize("name", ["a\0b", "..", "a\u202eb"])
def test_checksums_of_what_is_no_name_are_refused(
    copied: Copied, inside: Inside, name: str
) -> None:
    directory = copied("run")
    path = next(directory.rglob("meta.json")).with_name(SUMS)
    path.write_bytes(sums_of({name: b""}))
    assert f"{path}: damaged (not a list of checksums" in inside.refused("verify", directory)


@pytest.mark.parametrize("line", [b"\n", b"\r", b"1,a\n"])
def test_a_list_of_too_many_runs_is_refused(copied: Copied, inside: Inside, line: bytes) -> None:
    """The lines of a file of 60 MB filled 7 GB."""
    path = copied("sweep") / RUN_LIST
    path.write_bytes(b"seed,run\n" + line * 1_000_001)
    resealed(path.parent)
    message = inside.refused("verify", path.parent)
    assert f"{path}: damaged (found more than 1000000 cells)" in message


def test_a_run_that_is_listed_again_is_read_once(copied: Copied) -> None:
    path = copied("sweep") / RUN_LIST
    heading, first, *_ = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(heading + first * 3)
    resealed(path.parent)
    (group,) = read_results(path.parent).groups
    assert len(group.runs) == 3 and len({id(run) for run in group.runs}) == 1


@pytest.mark.parametrize(
    ("key", "values", "found"),
    [
        ("upstream.sustained_mbps", ["5", "6.0000001"], "upstream.sustained_mbps"),
        ("upstream.queue.law.kind", ['"codel"', '"pie"'], "upstream.queue.law.kind"),
        (
            "upstream.queue",
            [f"{{ limit_packets = 50, limit_bytes = {size} }}" for size in (9000, 8000)],
            "upstream.queue",
        ),
        ("compare.one.upstream.sustained_mbps", ["5", "6"], "compare.one.upstream.sustained_mbps"),
    ],
)
def test_runs_that_were_exchanged_in_the_list_are_refused(
    tmp_path: Path, inside: Inside, key: str, values: Sequence[str], found: str
) -> None:
    """Its checksum is right, and each run is as it was written."""
    scenario = {**SCENARIO, "duration_s": 0.5, "compare": {"one": {"title": "one"}}}
    (tmp_path / "home.toml").write_text(toml_document(scenario))
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f"scenario = 'home.toml'\nkeys.'{key}' = [{', '.join(values)}]\n")
    directory = tmp_path / "out"
    assert command("sweep", sweep, "--out", directory) == 0
    read_results(directory)
    path = directory / RUN_LIST
    heading, (first, _, one), (second, _, other) = (
        line.rpartition(",") for line in path.read_text().splitlines()
    )
    path.write_text(f"{''.join(heading)}\n{first},{other}\n{second},{one}\n")
    resealed(directory)
    message = inside.refused("report", directory, "--out", tmp_path / "page.html")
    assert (
        message.startswith(f"error: {path}: damaged (run ") and f" has another {found})" in message
    )


def test_a_swept_key_may_have_the_name_of_a_column(copied: Copied) -> None:
    """As `traffic` has, whose values are then tables."""
    path = copied("sweep") / RUN_LIST
    heading, *rows = path.read_text().splitlines()
    path.write_text("\n".join([f"traffic,{heading}", *(f"1,{row}" for row in rows), ""]))
    resealed(path.parent)
    table = sojourn.open(path.parent).tidy("flows")
    assert table.column_names[:4] == ["swept_traffic", "variant", "seed", "traffic"]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_a_text_longer_than_any_name_is_refused(copied: Copied, kind: pa.DataType) -> None:
    """A small file can hold a few that fill the memory, and say that they are short."""
    flows = next(copied("run").rglob("flows.parquet"))
    path = flows if kind == pa.string() else flows.with_name("series.parquet")
    table = pq.read_table(path)
    column = next(field.name for field in table.schema if field.type.id == kind.id)
    text = pa.array(["a" * 100_000]).cast(table.schema.field(column).type)
    changed_table(path, with_values(column, text))
    with pytest.raises(DamagedError, match="a text is too long"):
        StoredRun(path.parent).table(path.stem)


def nested(key: str) -> str:
    """A JSON text deeper than a reader can go."""
    return f'{{"{key}": {"[" * 200_000}{"]" * 200_000}}}'


@pytest.mark.parametrize("plan", [None, '{"name": "$(x)"}', '{"name": [1]}', nested("name")])
def test_a_plan_of_another_version_is_not_believed(tmp_path: Path, plan: str | None) -> None:
    """Nothing checks its checksum, and the message has a command that users copy."""
    Store(tmp_path)
    marker = tmp_path / MARKER
    marker.write_text(json.dumps({**json.loads(marker.read_text()), "version": "0.0.1"}))
    path = tmp_path / PLAN
    path.write_text(plan) if plan else path.symlink_to("/dev/zero")
    with pytest.raises(StoreError, match=r"again in .*: sojourn (sweep FILE|study run '\$\(x\)') "):
        Store(tmp_path)


def of_a_terabyte(path: Path) -> None:
    """A file without any block on the disk."""
    path.touch()
    os.truncate(path, 1 << 40)


@pytest.mark.parametrize(
    ("file", "key"),
    [("run/meta.json", "version"), ("run/summary.json", "format"), ("study/study.json", "name")],
)
def test_json_too_deep_is_refused_in_a_line(
    copied: Copied, inside: Inside, file: str, key: str
) -> None:
    kind, name = file.split("/")
    directory = copied(kind)
    path = next(directory.rglob(name))
    path.write_text(nested(key))
    resealed(path.parent)
    assert str(path) in inside.refused(
        "report", directory, "--out", directory.with_name("page.html")
    )


def test_summaries_name_only_directories_within(copied: Copied, inside: Inside) -> None:
    path = copied("run") / "summary.json"
    summary = json.loads(path.read_text())
    for place in ("..", ".", "/dev", "a/b"):
        summary["variants"][0]["directory"] = place
        path.write_text(json.dumps(summary))
        resealed(path.parent)
        assert "not a summary that sojourn wrote" in inside.refused("verify", path.parent)


def test_warnings_of_strangers_are_shown_with_escapes(copied: Copied, inside: Inside) -> None:
    directory = copied("run")
    for path in directory.rglob("meta.json"):
        meta = json.loads(path.read_text())
        warnings = [warning_data("a\x1b[2Jb\u202ec\ud800")]
        path.write_text(json.dumps({**meta, "warnings": warnings}))
        resealed(path.parent)
    sojourn.open(directory).summary()
    printed, shown = inside.capfd.readouterr().out, r"a\x1b[2Jb\u202ec\ud800"
    page = directory.with_name("page.html")
    inside.printed("report", directory, "--out", page)
    assert shown in printed and shown in page.read_text()


@pytest.mark.parametrize(
    ("kind", "marker"), [("run", "summary.json"), ("sweep", "store.json"), ("study", "store.json")]
)
def test_versions_of_strangers_are_shown_with_escapes(
    copied: Copied, kind: str, marker: str
) -> None:
    path = copied(kind) / marker
    version = "\x1b[31m9\n\u202e\ufe0f"
    path.write_text(json.dumps({**json.loads(path.read_text()), "version": version}))
    resealed(path.parent)
    with pytest.raises(StoreError) as refused:
        sojourn.open(path.parent)
    assert r"written by sojourn \x1b[31m9\n\u202e\ufe0f, whose" in str(refused.value)


def test_names_in_stores_of_strangers_are_shown_with_escapes(copied: Copied) -> None:
    """No error of a store needs to think of it."""
    directory = copied("sweep")
    next((directory / "runs").iterdir()).joinpath("a\x1b[2J\u202e").touch()
    with pytest.raises(StoreError, match=r"a\\x1b\[2J\\u202e: damaged"):
        require_whole(directory)
    assert str(PartsError(["a\0", "b\u2800"])) == r"a\x00; b\u2800"


def test_titles_are_shown_with_escapes(tmp_path: Path, inside: Inside) -> None:
    title, shown = "a\x1b[2Jb\u202ec\x07\x7f", r"a\x1b[2Jb\u202ec\x07\x7f"
    scenario = tmp_path / "home.toml"
    scenario.write_text(toml_document({**SCENARIO, "title": title}))
    printed = inside.printed("run", scenario, "--duration", 1, "--out", tmp_path / "run", "--json")
    assert plain(printed) == printed and json.loads(printed)["title"] == title
    page = (tmp_path / "run" / "report.html").read_text()
    assert plain(page) == page and shown in page
    assert command("report", tmp_path / "run") == 0


@pytest.mark.parametrize("packets", [2**53 + 1, 2**62, 2**64 - 1])
def test_counts_that_no_run_has_are_refused(copied: Copied, inside: Inside, packets: int) -> None:
    directory = copied("run")
    path = next(directory.rglob("latencies.parquet"))
    changed_table(path, with_values("packets", pa.array([packets], pa.uint64())))
    message = inside.refused("report", directory, "--out", directory.with_name("page.html"))
    assert "a value of 'packets' is too large" in message


@pytest.mark.parametrize(
    ("table", "rows", "most"),
    [
        ("flows", 100_000, 2000),
        ("latencies", 2**22, 2**21),
        ("series", 10**6, 200_000),
        ("connections", 10**6, 100),
        ("latencies", 10**6, 0),
    ],
)
def test_a_small_file_of_many_rows_is_not_read(
    copied: Copied, monkeypatch: pytest.MonkeyPatch, table: str, rows: int, most: int
) -> None:
    """No run of this scenario has so many, or they would fill the memory."""
    path = next(copied("run").rglob(f"{table}.parquet"))
    changed_table(path, lambda table: table.take(pa.repeat(0, rows)))
    assert path.stat().st_size < 200_000
    if most:
        with pytest.raises(DamagedError, match=rf"found {rows} rows; allowed: \d+ or") as refusal:
            StoredRun(path.parent).table(table)
        assert int(str(refusal.value).split("allowed: ")[1].split()[0]) < most
    else:
        assert len(StoredRun(path.parent).table(table)) == rows
        monkeypatch.setattr("sojourn.store.table_file.allowed_bytes", lambda: 2 * 10**6)
        with pytest.raises(DamagedError, match=r"found \d+ bytes .*; allowed: 2000000 or fewer"):
            StoredRun(path.parent).table(table)


def test_a_run_with_many_series_connections_and_pages_is_within_the_limits() -> None:
    """Groups of homes have a few values each, and all series of two queues."""
    dualq = {"queue": {"scheduler": {"kind": "dualq"}}}
    page = {"html_bytes": 1000, "objects": {"kind": "fixed", "per_server": 1, "bytes": 1000}}
    web = {"kind": "web", "servers": ["files"], "pause_s": 0.01, "users": 2, **page}
    homes = {f"home{number}": {"count": 1} for number in range(30)}
    result = sojourn.run(
        {
            "duration_s": 0.4,
            "upstream": {"sustained_mbps": 50, **dualq},
            "downstream": {"sustained_mbps": 50, **dualq},
            "servers": {"files": {"delay_ms": 1}},
            "homes": homes,
            "traffic": {name: {**web, "home": name} for name in homes},
            "metrics": {"series_interval_ms": 10, "connections": 2, "watch_flows": 4},
        }
    )
    settings = tomllib.loads(result.scenario)
    for name in TABLES:
        assert len(result.table(name)) <= most_rows(name, settings), name
    assert len(result.connections) == most_rows("connections", settings)
    assert len(result.series) > 30 * 2 * 28 * 39 and len(result.pages) > 200


def test_a_user_opens_pages_one_after_the_other_and_a_series_has_4096_values() -> None:
    web = {"kind": "web", "pause_s": 2, "users": 3}
    scenario = {
        "duration_s": 9,
        "homes": {"ours": {"count": 1}, "others": {"count": 4}},
        "traffic": {"web": web, "call": {"kind": "stream"}},
        "metrics": {"series_interval_ms": 100, "connections": 0, "watch_flows": 0},
    }
    assert most_rows("pages", scenario) == 3 * 5 * 5
    assert most_rows("pages", {**scenario, "homes": {}}) == 3 * 5
    assert most_rows("series", scenario) == 32 * 10 * 2 * 91
    assert most_rows("series", {**scenario, "duration_s": 9000}) == 32 * 10 * 2 * 4096
    assert most_rows("packets", scenario) == 2**24


@pytest.mark.parametrize("is_packed", [True, False])
def test_a_small_file_of_long_texts_is_not_read(copied: Copied, is_packed: bool) -> None:
    """They would have to be unpacked, or built from one another, to see how long they are."""
    path = next(copied("run").rglob("flows.parquet"))
    table = with_values("traffic", pa.array(["a" * 10**6]))(pq.read_table(path))
    if is_packed:
        pq.write_table(table, path, compression="zstd")
    else:
        others = [name for name in table.column_names if name != "traffic"]
        encoding = {"traffic": "DELTA_BYTE_ARRAY"}
        pq.write_table(
            table, path, compression="none", use_dictionary=others, column_encoding=encoding
        )
    resealed(path.parent)
    assert path.stat().st_size < 2 * 10**6
    with pytest.raises(DamagedError, match="the texts of 'traffic' are packed"):
        StoredRun(path.parent).table(path.stem)
