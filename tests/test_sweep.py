"""Sweeps."""

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import sojourn
from conftest import HOME, Cli
from sojourn.runs.scenario import load_all
from sojourn.store.read import read_results
from sojourn.store.sweep import read_sweep
from test_store import bytes_of

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
    done = cli("sweep", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
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
    done = cli("sweep", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.startswith(f"error: {file}: {problem}")
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
    ended = cli("sweep", sweep, "--out", tmp_path / "out")
    assert ended.returncode == 2
    assert ended.stderr.startswith(f'error: {sweep}: scenario: found "nothing.toml"; allowed: ')


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
    done = cli("sweep", file, "--out", tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
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
    told = done.stderr.splitlines()
    assert (done.returncode, len(told)) == (2, len(problems))
    for line, problem in zip(told, problems, strict=True):
        assert line.startswith(f"error: {file}: {problem}")


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
    names = [v.name for v in load_all([scenario], vary=[f"{key}=4" for key in keys])]
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
    told = cli("sweep", file, "--out", tmp_path / "out").stderr.splitlines()
    assert len(told) == 2
    assert told[0].startswith("warning: 2 variants are equal, because limit 40 kB overrides")
