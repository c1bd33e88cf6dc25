"""The Python interface."""

import pickle
import re
import subprocess
import sys
import tomllib
from dataclasses import FrozenInstanceError
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
import sojourn
from conftest import HOME, ROOT, SHORT_S, VARIANTS
from sojourn.analysis.tables import ALL_TABLES, TABLES


def address(column: pa.ChunkedArray) -> int:
    (chunk,) = column.chunks
    return chunk.buffers()[1].address


def test_comparison_is_a_mapping_in_the_order_of_the_file(comparison: sojourn.Comparison) -> None:
    assert list(comparison) == VARIANTS
    assert comparison["CoDel"].name == "CoDel"
    assert comparison.runs is comparison


def test_meta(traced: sojourn.Result) -> None:
    assert traced.meta["version"] == sojourn.__version__
    assert (traced.meta["seed"], traced.meta["duration_s"]) == (1, SHORT_S)
    delivered = sum(traced.flows["delivered_packets"].to_pylist())
    # Those forwarded carried payload; acknowledgements are delivered too.
    assert 0 < traced.meta["forwarded_packets"] < delivered < traced.meta["events"]


def test_a_shared_channel_has_a_row() -> None:
    shared = sojourn.run(HOME.with_name("neighbourhood.toml"), duration_s=1)
    rows = shared.channels.to_pylist()
    assert {row["channel"] for row in rows} == {"upstream"}
    assert all(0 < row["utilisation_percent"] < 100 for row in rows)
    assert all(0 < row["collisions"] < row["contention_requests"] for row in rows)


@pytest.mark.parametrize("table", ALL_TABLES)
def test_tables_reach_pandas_and_polars(traced: sojourn.Result, table: str) -> None:
    arrow = getattr(traced, table)
    assert isinstance(arrow, pa.Table)
    # Only low-latency aggregates count their latencies (tests/low_latency.rs).
    assert (arrow.num_rows > 0) == (table not in ("latency_histogram", "channels"))
    assert pl.DataFrame(arrow).shape == arrow.to_pandas().shape == arrow.shape


def test_tables_leave_rust_without_a_copy(traced: sojourn.Result) -> None:
    once, twice = (
        pa.table(traced._native.table("packets")),
        pa.table(traced._native.table("packets")),
    )
    assert address(once["sent_s"]) == address(twice["sent_s"])


def test_polars_takes_numbers_without_a_copy(traced: sojourn.Result) -> None:
    array = pl.DataFrame(traced.packets)["sent_s"].to_numpy(allow_copy=False)
    assert array.__array_interface__["data"][0] == address(traced.packets["sent_s"])


def test_pandas_takes_numbers_without_a_copy(traced: sojourn.Result) -> None:
    frame: pd.DataFrame = traced.packets.to_pandas(split_blocks=True)
    array = frame["sent_s"].to_numpy()
    assert array.__array_interface__["data"][0] == address(traced.packets["sent_s"])


def test_repeated_words_are_dictionaries(traced: sojourn.Result) -> None:
    assert pa.types.is_dictionary(traced.packets.schema.field("outcome").type)
    assert pa.types.is_dictionary(traced.series.schema.field("metric").type)


def test_series_have_one_value_per_interval_at_its_end(traced: sojourn.Result) -> None:
    frame = pl.DataFrame(traced.series).filter(subject="upstream", metric="queue_delay")
    assert frame.height == SHORT_S * 10
    assert frame["time_s"].to_list() == pytest.approx([0.1 * (k + 1) for k in range(SHORT_S * 10)])
    assert frame["unit"].unique().to_list() == ["ms"]


def test_series_have_nulls_where_there_was_nothing_to_measure(alone: Path) -> None:
    sets = {f"traffic.{name}.start_s": 1 for name in ("game", "call", "web", "upload")}
    series = pl.DataFrame(sojourn.run(alone, duration_s=2, set=sets).series)
    delay = series.filter(subject="upstream", metric="queue_delay")["value"]
    assert delay[0] is None
    assert delay.is_nan().sum() == 0


def test_packets_agree_with_flows(traced: sojourn.Result) -> None:
    packets, flows = pl.DataFrame(traced.packets), pl.DataFrame(traced.flows)
    delivered = packets.filter(outcome="delivered").group_by("traffic", "direction").len()
    assert keyed(delivered, "len") == keyed(flows, "delivered_packets")
    # Datagrams belong to no connection.
    assert packets.filter(traffic="game")["flow"].is_null().all()
    assert packets.filter(traffic="upload")["flow"].is_not_null().all()


def keyed(frame: pl.DataFrame, value: str) -> dict[tuple[str, str], int]:
    return {(row["traffic"], row["direction"]): row[value] for row in frame.to_dicts()}


def test_latencies_hold_every_delivered_packet(traced: sojourn.Result) -> None:
    total = sum(traced.latencies["packets"].to_pylist())
    assert total == sum(traced.flows["delivered_packets"].to_pylist())


def test_a_scenario_may_be_a_path_a_text_or_a_dict(alone: Path) -> None:
    text = alone.read_text()
    runs = [
        sojourn.run(form, duration_s=1) for form in (alone, str(alone), text, tomllib.loads(text))
    ]
    assert len({run.meta["fingerprint"] for run in runs}) == 1


def test_settings_may_be_a_list_or_a_dict(alone: Path) -> None:
    (listed,) = sojourn.load(alone, set=["upstream.sustained_mbps=7", "upstream.mac={}"])
    (mapped,) = sojourn.load(alone, set={"upstream.sustained_mbps": 7, "upstream.mac": {}})
    assert listed.to_toml() == mapped.to_toml()
    with pytest.raises(TypeError, match="found one string"):
        sojourn.load(alone, set="seed=3")


def test_what_is_no_scenario_is_refused_by_name(alone: Path) -> None:
    for bad, message in (
        (b"abc", "scenario: found b'abc'; allowed: a path, "),
        ({1: 2}, "found the key 1; allowed: keys that are strings"),
        ({"servers": {"near": {2: 3}}}, "servers.near: found the key 2; allowed: "),
        ({"tcp": {"min_rto_s": 1j}}, "tcp.min_rto_s: found 1j; allowed: a number, "),
    ):
        with pytest.raises(TypeError, match=f"^{re.escape(message)}"):
            sojourn.load(bad)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"^seed: found a whole number of over 100 digits"):
        sojourn.load(alone, seed=10**5000)
    endless: dict[str, object] = {}
    endless["a"] = endless
    for ask in (lambda: sojourn.load(endless), lambda: sojourn.load(alone, set={"a": endless})):
        with pytest.raises(sojourn.ScenarioError, match="nested without end; allowed: finite"):
            ask()
    for ask in (
        lambda: sojourn.load({"title": "a\ud800"}),
        lambda: sojourn.load({"a\ud800": 1}),
        lambda: sojourn.load(alone, set=['title="a\ud800"']),
    ):
        with pytest.raises(sojourn.ScenarioError, match=r"a.ud800, which ends") as bad:
            ask()
        assert str(bad.value).isascii()
    with pytest.raises(sojourn.ScenarioError, match='found a string "3"; allowed: a number'):
        sojourn.load(alone, duration_s="3")  # type: ignore[arg-type]


def test_strings_of_a_dict_survive(alone: Path) -> None:
    title = 'tab\t quote" back\\slash é 𝄞 \x01 \x7f'
    (variant,) = sojourn.load(tomllib.loads(alone.read_text()) | {"title": title})
    assert tomllib.loads(variant.to_toml())["title"] == title


def test_seed_and_duration(alone: Path) -> None:
    (variant,) = sojourn.load(alone, seed=5, duration_s=2.5)
    assert (variant.name, variant.seed, variant.duration_s) == ("", 5, 2.5)


def test_the_resolved_scenario_loads_to_the_same(alone: Path) -> None:
    (variant,) = sojourn.load(alone)
    (again,) = sojourn.load(variant.to_toml())
    assert again.to_json() == variant.to_json()


def test_scenario_errors_name_source_and_key(alone: Path) -> None:
    with pytest.raises(sojourn.ScenarioError) as caught:
        sojourn.load(alone, set=["upstream.peak_mbps=-1"])
    assert isinstance(caught.value, ValueError)
    assert caught.value.path == "upstream.peak_mbps"
    assert "upstream.peak_mbps" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_progress_reaches_the_end() -> None:
    calls = []
    sojourn.run(HOME, duration_s=SHORT_S, progress=lambda *values: calls.append(values))
    assert calls[-1] == pytest.approx((6 * SHORT_S, 6 * SHORT_S))  # five variants and the idle line
    assert calls == sorted(calls)


def test_an_error_in_progress_stops_the_run() -> None:
    def fail(*_: float) -> None:
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        sojourn.run(HOME, duration_s=1e6, progress=fail)


def test_summary_prints(comparison: sojourn.Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    comparison.summary()
    assert "SFQ-CoDel" in capsys.readouterr().out


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="simulate"):
        sojourn.simulate  # noqa: B018


def test_tables_of_a_comparison_are_those_of_its_results(comparison: sojourn.Comparison) -> None:
    flows = comparison.flows
    assert flows.column_names[0] == "variant"
    assert flows.num_rows == sum(result.flows.num_rows for result in comparison.values())
    of_codel = flows.filter(pc.equal(flows["variant"], "CoDel")).drop_columns("variant")
    assert of_codel.combine_chunks() == comparison["CoDel"].flows.combine_chunks()
    for name in TABLES[1:]:
        assert getattr(comparison, name).column_names[0] == "variant"


def test_the_old_name_of_a_table_leads_to_the_new_one(traced: sojourn.Result) -> None:
    with pytest.raises(ValueError, match="use 'traffic_classes'"):
        traced.table("qualities")
    with pytest.raises(AttributeError, match="use 'traffic_classes'"):
        traced.qualities  # noqa: B018
    with pytest.raises(ValueError, match="did you mean queues"):
        traced.table("queus")


def test_all_problems_are_listed(alone: Path) -> None:
    with pytest.raises(sojourn.ScenarioError) as caught:
        sojourn.load(alone.read_text() + "\nspeed = 1\n", set=["seed=-1", "upstream.aqm=3"])
    problems = caught.value.problems
    assert {(p.source, p.path) for p in problems} == {
        ("--set seed=-1", "seed"),
        ("--set upstream.aqm=3", "upstream.aqm"),
        ("scenario", problems[-1].path),
    }
    assert len(str(caught.value).splitlines()) == len(problems) == 3
    assert all(problem.message in str(caught.value) for problem in problems)


def test_frames_name_the_run_of_each_row(comparison: sojourn.Comparison) -> None:
    frame = comparison.to_polars("queues")
    assert frame.columns[:2] == ["variant", "seed"]
    assert list(dict.fromkeys(frame["variant"])) == list(comparison)
    assert len(frame) == len(comparison.queues)
    assert list(comparison["CoDel"].to_pandas()["variant"].unique()) == ["CoDel"]
    with pytest.raises(ValueError, match="did you mean queues"):
        comparison.tidy("queus")


@pytest.mark.parametrize(
    ("table", "key"), [("packets", "packet_trace"), ("modem_events", "modem_trace")]
)
def test_a_trace_that_was_not_recorded_is_an_error_with_its_key(
    comparison: sojourn.Comparison, two_seeds: sojourn.Comparison, table: str, key: str
) -> None:
    of_one = comparison["CoDel"]
    again = pickle.loads(pickle.dumps(of_one))
    for result in (comparison, of_one, again, two_seeds):
        for read in (result.to_pandas, result.to_polars, result.tidy, result.table):
            with pytest.raises(
                sojourn.InputError, match=rf"'{table}': .* set metrics.{key} = true"
            ):
                read(table)
        with pytest.raises(sojourn.InputError, match="not recorded"):
            getattr(result, table)


def test_variants_without_a_trace_have_no_rows_of_it() -> None:
    traced = {"metrics": {"packet_trace": True}}
    both = sojourn.run("upload", duration_s=0.1, set={"compare": {"without": {}, "with": traced}})
    for table in (both.packets, both.tidy("packets")):
        assert len(table) > 0
        assert "without" not in table["variant"].to_pylist()


def test_a_missing_library_is_named(
    comparison: sojourn.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ModuleNotFoundError, match="to_polars: polars is not installed; install it"):
        comparison.to_polars()


def test_several_scenarios_side_by_side(alone: Path) -> None:
    both = sojourn.compare(alone, HOME, duration_s=1)
    assert list(both)[:2] == ["alone", "home: BufferBloat"]
    assert both["home: CoDel"].meta == sojourn.run(HOME, duration_s=1)["CoDel"].meta
    with pytest.raises(KeyError, match="the scenario has no variants"):
        sojourn.run(alone, duration_s=1)["CoDel"]
    table = tomllib.loads(alone.read_text())
    unnamed = [{**table, "duration_s": length_s} for length_s in (0.1, 0.2, 0.3)]
    assert list(sojourn.compare(*unnamed))[:3] == ["scenario", "scenario (2)", "scenario (3)"]


USE = """
import sojourn

result = sojourn.run("home.toml")
print(result["CoDel"].flows.num_rows, result.tidy("queues"), result.to_polars())
mos: object = sojourn.compare("a.toml", "b.toml")["a"].meta["seed"]
swept = sojourn.sweep("home.toml", {"seed": [1]})
print(len(swept), swept.to_polars().columns)
verdict: sojourn.Verdict = result.verdict
game: sojourn.Assessment = result["CoDel"].grades["game"]
print(verdict.best, game.grade is sojourn.Grade.GOOD, swept.verdict.sentences)
"""


def test_the_ways_of_use_pass_strict_types(tmp_path: Path) -> None:
    file = tmp_path / "use.py"
    file.write_text(USE)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", file]
    outcome = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.fixture(scope="module")
def two_seeds() -> sojourn.Comparison:
    return sojourn.run(HOME.with_name("upload.toml"), duration_s=0.3, seeds=2)


@pytest.mark.parametrize("name", ["two_seeds", "traced"])
def test_opened_results_are_those_that_were_saved(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, comparison: sojourn.Comparison
) -> None:
    """And others do not replace them unasked."""
    fresh = request.getfixturevalue(name)
    fresh.save(tmp_path / "out")
    with pytest.raises(FileExistsError, match="overwrite"):
        comparison.save(tmp_path / "out")
    opened = sojourn.open(tmp_path / "out")
    again = pickle.loads(pickle.dumps(opened))
    for result in (opened, again):
        assert repr(result) == repr(fresh)
        assert list(result.runs) == list(fresh.runs)
        assert result.means().equals(fresh.means())
        for table in filter(fresh.runs[next(iter(fresh.runs))].keeps, ALL_TABLES):
            assert result.tidy(table).equals(fresh.tidy(table)), table
            for variant, run in fresh.runs.items():
                assert result.runs[variant].table(table).equals(run.table(table)), table
    assert opened._repr_html_() == fresh._repr_html_()
    with pytest.raises(ValueError, match="table: found 'flow'"):
        opened.tidy("flow")


def test_an_opened_sweep_is_the_one_that_was_run(tmp_path: Path) -> None:
    keys = {"cable.delay_ms": [1, 2]}
    scenario, out = HOME.with_name("upload.toml"), tmp_path / "out"
    fresh = sojourn.sweep(scenario, keys, seeds=2, duration_s=0.2, out=out)
    opened = sojourn.open(out)
    for table in ("flows", "latencies"):
        assert opened.tidy(table).equals(fresh.tidy(table))
    assert opened.means().equals(fresh.means())
    assert list(opened.settings) == list(fresh.settings)
    assert [len(runs) for runs in opened.settings.values()] == [2] * 4
    assert len(pickle.loads(pickle.dumps(opened))) == len(fresh) == 8


def test_what_is_no_result_is_not_opened(traced: sojourn.Result, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no such directory: '.*nothing'"):
        sojourn.open(tmp_path / "nothing")
    with pytest.raises(sojourn.StoreError, match=r"holds no results of run --out, sweep or"):
        sojourn.open(tmp_path)
    traced.save(tmp_path / "out")
    table = tmp_path / "out" / "run" / "flows.parquet"
    table.write_bytes(table.read_bytes()[:-1])
    with pytest.raises(sojourn.StoreError, match=r"flows\.parquet: damaged"):
        sojourn.open(tmp_path / "out")
    (tmp_path / "out" / "summary.json").write_text("[]")
    with pytest.raises(sojourn.StoreError, match=r"summary\.json: damaged"):
        sojourn.open(tmp_path / "out")


def test_names_after_a_bracket_are_completed(
    comparison: sojourn.Comparison, traced: sojourn.Result
) -> None:
    assert comparison._ipython_key_completions_() == list(comparison)
    assert comparison["CoDel"]._ipython_key_completions_() == ["CoDel"]
    assert traced._ipython_key_completions_() == []


def test_grades_are_those_of_the_verdict(comparison: sojourn.Comparison) -> None:
    verdict = comparison.verdict
    assert list(comparison.grades) == list(verdict.groups) == list(comparison)
    for name, graded in comparison.grades.items():
        assert list(graded.values()) == verdict.groups[name]
    with pytest.raises(FrozenInstanceError):
        verdict.best = "CoDel"  # type: ignore[misc]


def test_a_single_run_has_its_grades_by_name() -> None:
    result = sojourn.run("upload", duration_s=1, set={"compare": {"one": {}}, "baseline": False})
    graded = result["one"].grades
    assert all(one.application == name for name, one in graded.items())
    assert graded == result.grades["one"]
