"""Sweeps."""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sojourn
from conftest import HOME, ROOT, Cli
from sojourn.analysis.measures import MEASURES
from sojourn.analysis.tables import TABLES
from sojourn.runs.request import Request
from sojourn.store.read import read_results
from sojourn.store.sweep import read_sweep
from stores import Inside, bytes_of, command

SWEEP = f"""
scenario = "{HOME}"
seeds = 2
duration_s = 0.5
[keys]
"upstream.sustained_mbps" = [5, 10]
"cable.delay_ms" = [1.0]
"""


def test_every_combination_is_run(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(SWEEP)
    cli.printed("sweep", file, "--out", tmp_path / "out")
    runs = pl.read_csv(tmp_path / "out" / "runs.csv")
    variants = len(sojourn.load(HOME))
    assert len(runs) == runs["run"].n_unique() == 2 * 1 * 2 * variants
    assert runs.columns == ["upstream.sustained_mbps", "cable.delay_ms", "variant", "seed", "run"]
    flows = pl.read_parquet(tmp_path / "out" / "runs" / "*" / "flows.parquet")
    joined = flows.with_columns(pl.col("run").cast(pl.String)).join(runs, on="run")
    assert len(joined) == len(flows) > 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 2", "scenario: missing; allowed: a string (The path of the scenario, relative"),
        ("scenario = 'a'\nseed = 2", "seed: unknown key; allowed here: scenario, seeds,"),
        ("scenario = 'a'\nseeds = 0", "seeds: found 0; allowed: a whole number from 1 to 10000"),
        ("scenario = 'a'\nseeds = true", "seeds: found true; allowed: a whole number from 1 to"),
        ("scenario = 'a'\nkeys.seed = 3", "keys.seed: found 3; allowed: a list of 1 or more items"),
        (
            "scenario = 'a'\nkeys.title = ['b', \"c\\u202ed\"]",
            r"keys.title: found c\u202ed; allowed: values of one line without invisible characters",
        ),
        (
            "scenario = 'a'\nkeys.seed = []",
            "keys.seed: found an empty list; allowed: 1 or more items",
        ),
        (
            "scenario = 'a'\n[keys]\nupstream.queue.limit_bytes = [3]",
            'found a table; allowed: a list, whose key is in quotes, as "upstream.queue.limit',
        ),
        ("scenario = 'a'\nkeys.seed = [3]", "keys.seed: not allowed here; set seeds = N"),
        (
            "scenario = 'a'\nduration_s = 1\nkeys.duration_s = [3]",
            "keys.duration_s: duration_s is set too; allowed: one of them",
        ),
        (
            "scenario = 'a'\nkeys.seed = [1, [1979-05-27]]",
            "keys.seed.1.0: found a date or time; allowed: numbers, strings, true, false, lists,",
        ),
        (
            f"scenario = 'a'\nseeds = 1001\nkeys.x = {[1] * 50}\ntogether = [{{ y = [1, 2] }}]",
            "keys: found 100100 combinations of values and seeds; allowed: 100000 or fewer",
        ),
        ("scenario = ", "line 1, column 12: not valid TOML: found the end of the line"),
    ],
)
def test_bad_sweeps_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(text)
    with pytest.raises(sojourn.ScenarioError, match=str(file)) as refusal:
        read_sweep(file)
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            'keys."upstream.sustained_mbps" = [5, -1]',
            "keys.upstream.sustained_mbps: found -1; allowed: a number from 0.001 to 100000",
        ),
        ('keys."upstream.sustained" = [5]', "keys.upstream.sustained: unknown key; allowed here:"),
        (
            'keys."upstream..x" = [5]',
            "keys.upstream..x: not a valid key; allowed: a dotted TOML key",
        ),
        ("keys.compare = [5]", "keys.compare: found 5; allowed: a table of 1 to 10000 entries"),
        (
            'keys."compare.CoDel.upstream.aqm" = ["x"]',
            "keys.compare.CoDel.upstream.aqm: variant CoDel: upstream.aqm: found a string",
        ),
        ("duration_s = -3", "duration_s: found -3; allowed: a number from 0.001"),
        # What is wrong with the scenario itself at some value names both.
        (
            'keys."upstream.sustained_mbps" = [500]',
            f"keys: at upstream.sustained_mbps = 500: {HOME}:16: upstream.peak_mbps: found 20;",
        ),
    ],
)
def test_values_that_a_scenario_refuses_are_the_sweeps(
    lines: str, problem: str, tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{HOME}"\n{lines}')
    message = cli.refused("sweep", file, "--out", tmp_path / "out")
    assert message.startswith(f"error: {file}: {problem}")
    assert not (tmp_path / "out").exists()


def test_a_directory_holds_a_study_or_a_sweep(tmp_path: Path, cli: Cli) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text(f'scenario = "{HOME}"\nduration_s = 1\n')
    part = ("study", "run", "white2012", "--experiment", "D01", "--duration-scale", "0.001")
    first, second = tmp_path / "first", tmp_path / "second"
    assert cli(*part, "--out", first).returncode == 0
    before = bytes_of(first)
    ended = cli("sweep", sweep, "--out", first)
    assert ended.stderr == f"error: {first}: holds a study; allowed: another directory\n"
    assert bytes_of(first) == before
    assert cli("sweep", sweep, "--out", second).returncode == 0
    ended = cli(*part, "--out", second)
    assert ended.stderr == f"error: {second}: holds a sweep; allowed: another directory\n"


def test_a_sweep_of_no_scenario_is_refused(tmp_path: Path, cli: Cli) -> None:
    sweep = tmp_path / "sweep.toml"
    sweep.write_text('scenario = "nothing.toml"\n')
    message = cli.refused("sweep", sweep, "--out", tmp_path / "out")
    assert message.startswith(f'error: {sweep}: scenario: found "nothing.toml"; allowed: ')


def test_keys_that_change_together_are_one_axis(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f"""
scenario = "{HOME.with_name("fibre.toml")}"
duration_s = 0.2
[keys]
"upstream.queue.limit_bytes" = [50_000, 100_000]
[[together]]
"downstream.sustained_mbps" = [50, 80, 100]
"upstream.sustained_mbps" = [10, 15, 20]
""")
    cli.printed("sweep", file, "--out", tmp_path / "out")
    runs = pl.read_csv(tmp_path / "out" / "runs.csv")
    pairs = runs.select("downstream.sustained_mbps", "upstream.sustained_mbps").unique()
    assert sorted(pairs.rows()) == [(50, 10), (80, 15), (100, 20)]
    assert len(runs) == 2 * 3 * len(sojourn.load(HOME.with_name("fibre.toml")))


@pytest.mark.parametrize(
    ("lines", "problems"),
    [
        (
            '[[together]]\n"a.b" = [1, 2]\n"a.c" = [1]',
            ["together.0.a.c: found 1 values; allowed: 2, as many as a.b has"],
        ),
        (
            '[keys]\n"a.b" = [1]\nseed = [1]\n[[together]]\n"a.b" = [1]',
            [
                "keys.seed: not allowed here; set seeds = N to run the seeds 1 to N",
                "together.0.a.b: found in keys too; allowed: in one of them",
            ],
        ),
        (
            '[keys]\n"a" = [{}]\n"a.b" = [1]\n[[together]]\n"a.b.c" = [1]',
            [
                "keys.a.b: found in keys as a; allowed: in one of them",
                "together.0.a.b.c: found in keys as a; allowed: in one of them",
            ],
        ),
        (
            """[keys]\n'a."b"' = [1]\n"a . c" = [1]\n'"seed"' = [1]\n'a."b c"' = [1]""",
            [
                'keys.a."b": found a."b"; allowed: a.b',
                "keys.a . c: found a . c; allowed: a.c",
                'keys."seed": found "seed"; allowed: seed',
            ],
        ),
        (
            '[[together]]\n"upstream.sustained_mbps" = [-1]\n"upstream.aqm" = [3]',
            [
                "together.0.upstream.sustained_mbps: found -1; allowed: a number from",
                "together.0.upstream.aqm: found 3; allowed: true, false",
            ],
        ),
    ],
)
def test_faults_of_keys_that_change_together(
    lines: str, problems: list[str], tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{HOME}"\n{lines}\n')
    done = cli("sweep", file, "--out", tmp_path / "out")
    printed = done.stderr.splitlines()
    assert (done.returncode, len(printed)) == (2, len(problems))
    for line, problem in zip(printed, problems, strict=True):
        assert line.startswith(f"error: {file}: {problem}")


@pytest.mark.parametrize("option", ["set", "vary"])
@pytest.mark.parametrize(
    "change", ['"seed"=3', ' "upstream" . sustained_mbps = 3', '"upstream"={}']
)
@pytest.mark.parametrize("command", [["sweep"], ["jobs", "--slurm"]])
def test_a_swept_key_is_not_set_too_however_it_is_written(
    option: str, change: str, command: list[str], tmp_path: Path, cli: Cli
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{HOME}"\nkeys."upstream.sustained_mbps" = [5, 10]\n')
    message = cli.refused(*command, file, f"--{option}={change}", "--out", tmp_path / "out")
    found = "not allowed here" if "seed" in change else "found, where"
    assert message.startswith(f"error: --{option} {change}: {found}")
    assert not (tmp_path / "out").exists()


def test_a_sweep_from_python_is_one_frame(tmp_path: Path) -> None:
    scenario = HOME.with_name("fibre.toml")
    keys = {"downstream.sustained_mbps": [50, 100]}
    swept = sojourn.sweep(scenario, keys, seeds=2, duration_s=0.5, out=tmp_path / "out")
    variants = len(sojourn.load(scenario))
    assert len(swept) == 2 * 2 * variants
    frame = swept.to_polars()
    assert frame.columns[:3] == ["downstream.sustained_mbps", "variant", "seed"]
    assert sorted(set(frame["downstream.sustained_mbps"])) == [50, 100]
    assert set(frame["seed"]) == {1, 2}
    run = sojourn.run(scenario, seed=2, duration_s=0.5, set={"downstream.sustained_mbps": 100})
    alone = run["Cable"].flows.to_pylist()
    there = frame.filter(
        (pl.col("seed") == 2)
        & (pl.col("downstream.sustained_mbps") == 100)
        & (pl.col("variant") == "Cable")
    )
    assert there["delivered_packets"].to_list() == [row["delivered_packets"] for row in alone]
    assert len(swept.to_pandas("queues")) == len(swept.tidy("queues"))
    with pytest.raises(sojourn.ScenarioError, match=r"sweep: keys\.seed: not allowed here"):
        sojourn.sweep(scenario, {"seed": [1]}, out=tmp_path / "other")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"keys": {"upstream.queue.limit_bytes": 5}}, "found 5; allowed: a list of 1 or more"),
        ({"keys": {"upstream.queue.limit_bytes": []}}, "found []; allowed: a list of 1 or more"),
        ({"together": [{"seed": "12"}]}, "together.0.seed: found '12'; allowed: a list of"),
        ({"keys": {}, "seeds": 0}, "sweep: seeds: found 0; allowed: 1 to 10000"),
    ],
)
def test_a_sweep_from_python_is_checked(
    wrong: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(sojourn.ScenarioError, match=re.escape(message)):
        sojourn.sweep(HOME, duration_s=0.1, out=tmp_path / "out", **wrong)
    assert not (tmp_path / "out").exists()


def test_keys_that_end_alike_are_named_in_full(tmp_path: Path) -> None:
    keys = {"upstream.sustained_mbps": [4], "downstream.sustained_mbps": [40]}
    scenario = HOME.with_name("fibre.toml")
    sojourn.sweep(scenario, keys, duration_s=0.1, out=tmp_path / "out")
    name = read_results(tmp_path / "out").groups[0].name
    assert name.endswith(", upstream sustained 4 Mbps, downstream sustained 40 Mbps")
    names = [v.name for v in Request.of(scenario, vary=[f"{key}=4" for key in keys]).load()]
    assert "Cable, upstream sustained 4 Mbps" in names
    assert "Cable, downstream sustained 4 Mbps" in names


def test_a_sweep_says_which_of_its_variants_are_equal(tmp_path: Path, cli: Cli) -> None:
    scenario = tmp_path / "home.toml"
    head = HOME.with_name("fibre.toml").read_text().partition("[compare")[0]
    limits = (f"[compare.b{n}]\nupstream.queue.limit_bytes = {n}_000\n" for n in (50, 60))
    scenario.write_text(head + "".join(limits))
    file = tmp_path / "sweep.toml"
    file.write_text(
        'scenario = "home.toml"\nduration_s = 0.1\nseeds = 2\n'
        'keys."upstream.queue.limit_bytes" = [40_000, 50_000]'
    )
    printed = cli("sweep", file, "--out", tmp_path / "out").stderr.splitlines()
    assert len(printed) == 2
    assert printed[0].startswith("warning: 2 variants are equal, because limit 40 kB overrides")


UPLOAD = HOME.with_name("upload.toml")
MODEM = ROOT / "tests" / "data" / "modem-configs" / "home-5x20.cm"


@pytest.fixture
def modems(tmp_path: Path) -> list[Path]:
    """Two modem configuration files that differ in a rate."""
    first = MODEM.read_bytes()
    text = sojourn.ConfigFile.from_bytes(first, "a").to_toml()
    other = sojourn.ConfigFile.from_toml(text.replace("= 5000000", "= 7000000"), "b")
    for name, content in (("a.cm", first), ("b.cm", other.to_bytes())):
        (tmp_path / name).write_bytes(content)
    return [tmp_path / "a.cm", tmp_path / "b.cm"]


def test_modem_files_are_swept_side_by_side(tmp_path: Path, modems: Sequence[Path]) -> None:
    """From the file, from the command line and from Python, with the service of each."""
    file = tmp_path / "sweep.toml"
    base = f'scenario = "{UPLOAD}"\nduration_s = 0.2\nkeys."cable.delay_ms" = [1, 2]\n'
    file.write_text(f'{base}config = ["a.cm", "b.cm"]\n')
    assert command("sweep", file, "--out", tmp_path / "file") == 0
    file.write_text(base)
    options = [word for modem in modems for word in ("--config", modem)]
    assert command("sweep", file, *options, "--out", tmp_path / "options") == 0
    sojourn.sweep(file, config=modems, out=tmp_path / "python")
    lists = [(tmp_path / name / "runs.csv").read_bytes() for name in ("file", "options", "python")]
    assert lists[0] == lists[1] == lists[2]
    swept = sojourn.open(tmp_path / "file")
    names = {name.partition(",")[0].partition(":")[0] for name in swept.settings}
    assert names == {"a.cm", "b.cm"}
    for name, (run,) in swept.settings.items():
        modem = tmp_path / name[:4]
        (alone, *_) = sojourn.load(UPLOAD, config=modem)
        rates = json.loads(alone.to_json())["upstream"]
        assert run.settings["upstream"]["sustained_mbps"] == rates["sustained_mbps"]
        assert any(one.path == "upstream.priority" for one in run.warnings)


def test_a_sweep_takes_the_options_of_a_run(tmp_path: Path, inside: Inside) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{UPLOAD}"\nseeds = 9\nkeys."cable.delay_ms" = [1, 2]\n')
    options = ["--set", "upstream.burst_bytes=9_000", "--vary", "upstream.sustained_mbps=7"]
    options += ["--seeds", "2", "--duration", "0.3"]
    sweep = ("sweep", file, *options, "--out", tmp_path / "out")
    summary = json.loads(inside.printed(*sweep, "--json"))
    assert summary["format"] == 1 and summary["verdict"]["sentences"]
    assert [one["seeds"] for one in summary["means"]] == [[1, 2]] * 8
    assert {one["variant"] for one in summary["means"]} == {
        f"{variant}{change}"
        for variant in ("drop-tail", "DOCSIS-PIE")
        for change in ("", ", sustained 7 Mbps")
    }
    swept = sojourn.open(tmp_path / "out")
    for name, runs in swept.settings.items():
        for run in runs:
            upstream = run.settings["upstream"]
            assert (upstream["burst_bytes"], run.meta["duration_s"]) == (9_000, 0.3)
            assert (upstream["sustained_mbps"] == 7) == ("sustained 7 Mbps" in name)
    for one in summary["means"]:
        runs = swept.settings[one["name"]]
        measure = next(m for m in MEASURES if m.key == "upload_mbps")
        assert one["summary"]["upload_mbps"] == asdict(measure.over(runs))
        assert one["settings"] == {"cable.delay_ms": runs[0].settings["cable"]["delay_ms"]}
    shown = inside.printed(*sweep, "--resume")
    assert " ".join(summary["verdict"]["sentences"][0].split()) in " ".join(shown.split())
    assert "16 of 16 runs were there already" in shown
    assert inside.printed(*sweep, "--resume", "--quiet") == ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--set", "cable.delay_ms=3"],
            "--set cable.delay_ms=3: found, where FILE sweeps cable.delay_ms in keys; allowed: one",
        ),
        (["--vary", "cable={}"], "--vary cable={}: found, where FILE sweeps cable.delay_ms in key"),
        (["--set", "seed=3"], "--set seed=3: not allowed here; set seeds = N to run the seeds"),
        (["--vary", "a.b=3"], "--vary a.b=3: a: unknown key; allowed here: title, description"),
        (["--set", "a.b=3"], "--set a.b=3: a: unknown key; allowed here: title, description"),
        (["--duration", "-3"], "--duration: found -3; allowed: a number from 0.001 to"),
        (["--seeds", "0"], "--seeds: found 0; allowed: a whole number from 1 to 10000"),
        (["--config", "none.cm"], "none.cm: No such file or directory; allowed: the path of"),
        (["--set", "duration_s=3", "--duration", "2"], "--set duration_s=3: duration_s is set t"),
    ],
)
def test_options_that_a_sweep_refuses(
    options: Sequence[str], message: str, tmp_path: Path, inside: Inside
) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{UPLOAD}"\nkeys."cable.delay_ms" = [1, 2]\n')
    printed = inside.refused("sweep", file, *options, "--out", tmp_path / "out")
    assert printed.startswith(f"error: {message.replace('FILE', str(file))}")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("config", ['"none.cm"', "3", '["a.cm", ["b"]]'])
def test_a_modem_file_of_a_sweep_must_exist(tmp_path: Path, config: str) -> None:
    (tmp_path / "a.cm").write_bytes(MODEM.read_bytes())
    file = tmp_path / "sweep.toml"
    file.write_text(f'scenario = "{UPLOAD}"\nconfig = {config}\n')
    with pytest.raises(sojourn.ScenarioError, match=r"config: found .*; allowed: the path of an"):
        read_sweep(file)


def test_a_sweep_keeps_the_short_tables_and_recorded_traces(tmp_path: Path) -> None:
    traced = {"metrics.packet_trace": True}
    swept = sojourn.sweep(UPLOAD, duration_s=0.2, set=traced, series=True, out=tmp_path / "out")
    for table in (*TABLES, "packets"):
        assert swept.tidy(table).column_names[:2] == ["variant", "seed"]
    with pytest.raises(sojourn.StoreError, match="the table 'series' was not stored"):
        sojourn.sweep(UPLOAD, duration_s=0.2, out=tmp_path / "other").tidy("series")


def test_a_report_is_kept_while_nothing_changes(tmp_path: Path) -> None:
    file, report = tmp_path / "sweep.toml", tmp_path / "out" / "report.html"
    file.write_text(f'scenario = "{UPLOAD}"\nduration_s = 0.1\nseeds = 2\n')
    sweep = ("sweep", file, "--out", tmp_path / "out", "--quiet")
    for again, stays in [
        (["--resume"], True),
        (["--resume", "--seeds", "3"], False),  # a run is added
        (["--resume", "--seeds", "1"], False),  # the list of runs is shorter
        ([], False),
    ]:
        assert command(*sweep, "--resume") == 0
        report.write_text("kept")
        assert command(*sweep, *again) == 0
        assert report.exists() == stays, again
    study, report = ("study", "run", "white2012", "--experiment", "D01"), tmp_path / "s/report.html"
    study = (*study, "--duration-scale", "0.001", "--out", tmp_path / "s")
    assert command(*study) == 0
    report.write_text("kept")
    assert command(*study, "--resume") == 0
    assert report.read_text() == "kept"


def counts(variant: sojourn.Variant) -> dict[str, int]:
    homes: dict[str, dict[str, int]] = json.loads(variant.to_json())["homes"]
    return {name: home["count"] for name, home in homes.items()}


def test_a_factor_multiplies_what_the_scenario_sets() -> None:
    scenario = {
        "upstream": {"sustained_mbps": 10, "modem": {"kind": "shared_channel"}},
        "downstream": {"sustained_mbps": 50},
        "servers": {"s": {"delay_ms": 9}},
        "homes": {"a": {"count": 4}, "b": {}, "c": {"count": 3}},
        "traffic": {"up": {"kind": "transfer", "server": "s"}},
        "compare": {"more": {"homes": {"c": {"count": 8}}}, "same": {}},
    }
    more, same = sojourn.load(scenario, scale=["homes.*.count=0.5", "upstream.sustained_mbps=0.25"])
    assert counts(more) == {"a": 2, "b": 1, "c": 4} and counts(same) == {"a": 2, "b": 1, "c": 2}
    assert json.loads(more.to_json())["upstream"]["sustained_mbps"] == 2.5
    varied = Request.of(scenario, vary=["homes.*.count=2"]).load()
    assert [one.name for one in varied][-1] == "same, homes count × 2"
    assert counts(varied[-1]) == {"a": 8, "b": 1, "c": 6}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"scale": ["homes.*.cont=2"]},
            "scale: found homes.*.cont, but the scenario does not set homes.*.cont",
        ),
        ({"scale": ["homes.*.count=0"]}, "scale homes.*.count: found 0; allowed: a factor above 0"),
        ({"scale": ["traffic.*.kind=2"]}, "scale traffic.call.kind: found "),
        (
            {"scale": ["homes.*.count=1e9"]},
            "homes.senders.count: found 10000000000; allowed: a whole",
        ),
        (
            {"set": ["homes.*.count=2"]},
            "set homes.*.count=2: found a key with *; allowed: one without",
        ),
    ],
)
def test_factors_are_numbers_of_keys_that_are_set(given: dict[str, Any], message: str) -> None:
    with pytest.raises(sojourn.InputError) as caught:
        sojourn.load("neighbourhood", **given)
    assert message in str(caught.value)


def test_a_sweep_over_a_factor_names_it(tmp_path: Path) -> None:
    keys = {"homes.*.count": [0.5, 1]}
    swept = sojourn.sweep("neighbourhood", keys, duration_s=0.1, out=tmp_path / "out")
    assert swept.tidy().column_names[0] == "homes.*.count"
    assert next(iter(swept.settings)) == "two channels, homes count × 0.5"
    with pytest.raises(
        sojourn.ScenarioError, match=r"sweeps homes\.\*\.count in keys; allowed: one"
    ):
        sojourn.sweep("neighbourhood", keys, set={"homes.senders.count": 1}, out=tmp_path / "other")
