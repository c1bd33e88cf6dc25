"""Runs with several seeds: tables, intervals, files, and which results are replaced."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
import sojourn
from conftest import HOME, PATIENT_S
from sojourn.analysis.grids import drop_grid
from sojourn.analysis.precision import Target
from sojourn.analysis.statistics import over_seeds
from sojourn.base.grid import Grid
from sojourn.base.terminal import print_grids
from sojourn.store import write
from sojourn.store.read import read_results, side_by_side
from sojourn.store.replace import Wanted, reserved
from stores import Inside

FIBRE = HOME.with_name("fibre.toml")
ALONE = FIBRE.read_text().partition("[compare")[0]
SHORT_S = 0.5


@pytest.fixture(scope="module", autouse=True)
def undrawn() -> Iterator[None]:
    """Saves results without figures, which take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "report_of", lambda results: "")
        patch.setattr(write, "latency_cdf_svg", lambda results: None)
        yield


@pytest.fixture(scope="module")
def three() -> sojourn.Result | sojourn.Comparison:
    return sojourn.run(FIBRE, seed=4, seeds=3, duration_s=SHORT_S)


@pytest.fixture(scope="module")
def saved(three: sojourn.Comparison, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("seeds") / "out"
    three.save(out)
    return out


def test_each_seed_gives_the_run_of_that_seed(three: sojourn.Comparison) -> None:
    for name, result in three.items():
        assert list(result.seeds) == [4, 5, 6], name  # of the idle line too
    alone = sojourn.run(FIBRE, seed=6, duration_s=SHORT_S)["Cable"]
    assert three["Cable"].seeds[6].meta["fingerprint"] == alone.meta["fingerprint"]
    assert list(alone.seeds.values()) == [alone]


def test_tables_have_a_column_of_seeds(three: sojourn.Comparison) -> None:
    assert three["Cable"].flows.column_names[:2] == ["seed", "traffic"]
    assert three.flows.column_names[:3] == ["variant", "seed", "traffic"]
    assert three.tidy().column_names == three.flows.column_names
    assert set(three["Cable"].tidy("queues")["seed"].to_pylist()) == {4, 5, 6}
    assert three["Cable"].meta["seeds"] == [4, 5, 6]
    assert repr(three["Cable"]) == "<Result 'Cable', seeds 4 to 6, 0.5 s simulated>"
    with pytest.raises(ValueError, match=r"found the results of seeds 4 to 6; .*seeds\[4\]\.fair"):
        three["Cable"].fairness(["upload"])


def test_a_single_run_has_an_idle_line_of_each_seed() -> None:
    result = sojourn.run(ALONE, seeds=2, duration_s=SHORT_S)
    assert list(result.idle_line.seeds) == [1, 2]
    assert [len(group.runs) for group in result.groups.groups] == [2, 2]


def test_means_are_those_of_the_runs(three: sojourn.Comparison) -> None:
    key = "game_rtt_p99_ms"
    values = [run.facts.measures[key] for run in three["Cable"].seeds.values()]
    (row,) = (
        row
        for row in three.means().to_pylist()
        if (row["variant"], row["measure"]) == ("Cable", key)
    )
    value = over_seeds(values)
    assert (row["mean"], row["low"], row["high"], row["n"]) == (
        value.mean,
        value.low,
        value.high,
        3,
    )
    assert row["low"] < row["mean"] < row["high"]


def test_the_summary_lists_every_run_and_the_means(inside: Inside) -> None:
    printed = inside.printed("run", FIBRE, "--seeds", 2, "--duration", SHORT_S, "--json")
    summary = json.loads(printed)
    idle = ["idle line of Cable", "idle line of Fibre"]
    variants = [*(variant.name for variant in sojourn.load(FIBRE)), *idle]
    assert [(run["name"], run["seed"]) for run in summary["variants"]] == [
        (name, seed) for name in variants for seed in (1, 2)
    ]
    for of in summary["means"]:
        assert of["seeds"] == [1, 2]
        values = [run["summary"] for run in summary["variants"] if run["name"] == of["name"]]
        for key, value in of["summary"].items():
            there = [one[key] for one in values if one[key] is not None]
            assert value["n"] == len(there)
            assert value["mean"] == pytest.approx(sum(there) / len(there) if there else None)


def test_what_was_saved_is_read_back_by_variant_and_seed(
    saved: Path, three: sojourn.Comparison, inside: Inside
) -> None:
    results = read_results(saved)
    assert [group.name for group in results.groups] == list(three)
    for group in results.groups:
        assert [run.meta["seed"] for run in group.runs] == [4, 5, 6]
    assert inside.printed("verify", saved) == f"{3 * len(three)} runs verified in {saved}\n"


def test_a_table_too_wide_has_intervals_below_means(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = Grid("", ["variant", *map(str, range(6))], [["A", *["100.25 ± 10.25"] * 6]])
    for width, lines in ((120, 1), (80, 2)):
        monkeypatch.setattr("sojourn.base.terminal._WIDTH_OF_FILES", width)
        print_grids([grid])
        rows = [line for line in capsys.readouterr().out.splitlines() if "±" in line]
        assert len(rows) == 1
        assert ("100.25" in rows[0]) == (lines == 1)


def test_seeds_without_drops_count_in_the_mean() -> None:
    small = {"upstream.queue.limit_bytes": 20_000}
    result = sojourn.run(ALONE, seeds=3, duration_s=1, set=small)
    grid = drop_grid({"": result.groups.groups[0].runs})
    column = [heading.split()[0] for heading in grid.headings].index("loss")
    for traffic, direction, *cells in grid.rows:
        losses = [
            row["loss_percent"]
            for run in result.seeds.values()
            for row in run.flows.to_pylist()
            if (row["traffic"], row["direction"]) == (traffic, direction)
        ]
        assert cells[column - 2].startswith(f"{sum(losses) / 3:.2f} ± ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seeds", "0"], "--seeds: found 0; allowed: a whole number of 1 or more"),
        (["--seeds", "10001"], "--seeds: found 10001; allowed: 1 to 10000"),
        (["--seeds", "two"], "--seeds: found two; allowed: a whole number of 1 or more"),
        (
            ["--seed", f"{2**64 - 1}", "--seeds", "3"],
            f"--seeds: found 3 from seed {2**64 - 1} on; allowed: up to seed {2**64 - 1}, so a "
            "smaller first seed or fewer",
        ),
        (["--until", "nonsense"], "--until: found 'nonsense'; allowed: a measure and a percentage"),
        (["--until", "game p99 5%", "--seeds", "2"], "--seeds: found 2; allowed: 3 to 10000"),
        (["--until", "page load 5%"], "--until: found 'page load', which is not measured here"),
    ],
)
def test_bad_seeds_are_refused(
    arguments: list[str], message: str, tmp_path: Path, inside: Inside
) -> None:
    scenario, out = tmp_path / "s.toml", tmp_path / "out"
    scenario.write_text(ALONE)
    printed = inside.refused("run", scenario, *arguments, "--duration", 0.1, "--out", out)
    assert printed.startswith(f"error: {message}")
    assert not out.exists()


def test_seeds_are_added_until_the_mean_is_precise() -> None:
    target = Target.of("game p99 4%")
    printed: list[tuple[float, float]] = []
    result = sojourn.run(
        ALONE,
        until="game p99 4%",
        duration_s=SHORT_S,
        progress=lambda *values: printed.append(values),
    )
    reached = target.reached(result.groups)
    assert reached.is_enough
    assert reached.seeds == len(result.seeds) > 3
    fewer = sojourn.run(ALONE, seeds=3, duration_s=SHORT_S)
    assert not target.reached(fewer.groups).is_enough
    assert all(before[0] <= after[0] for before, after in pairwise(printed))
    assert printed[-1] == pytest.approx([2 * reached.seeds * SHORT_S] * 2)


def test_the_bound_ends_it_and_is_reported(inside: Inside, tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(ALONE)
    out = tmp_path / "out"
    run = ("run", scenario, "--seeds", 4, "--duration", 0.2, "--out", out, "--until")
    printed = inside.printed(*run, "game p99 0.001%")
    assert re.search(
        r"game RTT p99: ± [\d.]+ % of its mean with 4 seeds \(least precise in .+\); "
        r"not the ± 0\.001 % that was wanted\.\n",
        printed,
    )
    (entry,) = json.loads((out / "summary.json").read_text())["until"]
    assert (entry["until"], entry["is_reached"]) == ("game p99 0.001%", False)
    inside.printed(*run, "game p99 0.001%")  # the same runs again
    printed = inside.refused(*run, "game p99 1%")
    assert "with seeds until game p99 0.001% instead of seeds until game p99 1%; " in printed
    printed = inside.printed(*run[:-3], "--until", "game p99 1e-300%")
    assert "not the ± 1e-300 % that was wanted" in printed


def test_directories_that_differ_in_their_seed_are_one_setting(tmp_path: Path) -> None:
    places = [tmp_path / name for name in "abc"]
    for seed, place in zip((3, 1, 2), places, strict=True):
        sojourn.run(FIBRE, seed=seed, duration_s=SHORT_S).save(place)
    merged = side_by_side(places)
    idle = ["idle line of Cable", "idle line of Fibre"]
    names = [*(variant.name for variant in sojourn.load(FIBRE)), *idle]
    assert [group.name for group in merged.groups] == names
    for group in merged.groups:
        assert [run.meta["seed"] for run in group.runs] == [1, 2, 3]
    # With other settings beside them, names say where each is from.
    sojourn.run(FIBRE, duration_s=SHORT_S / 2).save(tmp_path / "d")
    beside = side_by_side([*places, tmp_path / "d"])
    assert [(group.name, len(group.runs)) for group in beside.groups] == [
        *((f"a and 2 more: {name}", 3) for name in names),
        *((f"d: {name}", 1) for name in names),
    ]


def test_a_run_without_variants_is_merged_too(tmp_path: Path) -> None:
    for seed in (1, 2):
        sojourn.run(ALONE, seed=seed, duration_s=SHORT_S).save(tmp_path / f"{seed}")
    merged = side_by_side([tmp_path / "1", tmp_path / "2"])
    assert [(group.name, len(group.runs)) for group in merged.groups] == [
        ("this run", 2),
        ("idle line", 2),
    ]
    assert not merged.is_comparison


@pytest.mark.parametrize(
    ("arguments", "difference"),
    [
        (["--seed", "2"], "seed 1 instead of seed 2"),
        (["--seeds", "2"], "seed 1 instead of seeds 1 to 2"),
        (
            ["--set", "downstream.sustained_mbps=40"],
            "downstream.sustained_mbps 100.0 instead of 40.0",
        ),
        (["--duration", "0.2"], "duration_s 0.1 instead of 0.2"),
        (
            ["--vary", "cable.delay_ms=2"],
            "variants this run, idle line instead of variants s, s, delay 2 ms, idle line",
        ),
    ],
)
def test_results_of_other_runs_are_not_replaced(
    arguments: list[str], difference: str, tmp_path: Path, inside: Inside
) -> None:
    scenario, out = tmp_path / "s.toml", tmp_path / "out"
    scenario.write_text(ALONE)
    run = ("run", scenario, "--duration", 0.1, "--out", out, "--quiet")
    assert inside.printed(*run) == inside.printed(*run) == ""
    before = (out / "summary.json").read_bytes()
    printed = inside.refused(*run, *arguments)
    assert f" with {difference}" in printed
    assert "; allowed: another directory, or --overwrite (" in printed
    assert (out / "summary.json").read_bytes() == before
    assert inside.printed(*run, *arguments, "--overwrite") == ""


def test_an_edited_scenario_is_another(tmp_path: Path, inside: Inside) -> None:
    scenario = tmp_path / "s.toml"
    run = ("run", scenario, "--duration", 0.1, "--out", tmp_path / "out", "--quiet")
    for text in (ALONE, f"# The same, with a comment.\n{ALONE}"):
        scenario.write_text(text)
        assert inside.printed(*run) == ""
    scenario.write_text(ALONE.replace("delay_ms = 9", "delay_ms = 8"))
    printed = inside.refused(*run)
    assert "with servers.files.delay_ms 9.0 instead of 8.0; allowed: another directory" in printed


def test_a_directory_has_one_writer_at_a_time(tmp_path: Path, inside: Inside) -> None:
    out = tmp_path / "out"
    busy = f"error: {out}: another sojourn process is writing here; wait for it, or give "
    with reserved(out, Wanted({}, {})):
        ended = inside.refused("run", FIBRE, "--duration", 0.1, "--out", out)
        assert ended == f"{busy}another directory\n"
    assert list(tmp_path.iterdir()) == []


def test_of_sweeps_at_once_one_wins_whole(tmp_path: Path, inside: Inside) -> None:
    (tmp_path / "s.toml").write_text(ALONE)
    (tmp_path / "sweep.toml").write_text('scenario = "s.toml"\nseeds = 2\n')
    typed = [sys.executable, "-m", "sojourn", "sweep", "sweep.toml", "--out", "out"]
    both = [
        subprocess.Popen(typed, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    for process in both:
        printed = process.communicate(timeout=PATIENT_S)[1].decode()
        assert process.returncode == (2 if printed else 0)
        assert printed in ("", "error: out: " + printed.partition("out: ")[2])
        assert "another sojourn process is writing here; wait for it" in printed or not printed
    inside.printed("verify", tmp_path / "out")
    assert not [name for name in os.listdir(tmp_path / "out") if name.startswith(".")]


def test_a_sweep_does_not_replace_other_runs(tmp_path: Path, inside: Inside) -> None:
    file, out = tmp_path / "sweep.toml", tmp_path / "out"
    (tmp_path / "s.toml").write_text(ALONE)

    def swept(seeds: int, *options: str) -> subprocess.CompletedProcess[str]:
        file.write_text(f'scenario = "s.toml"\nseeds = {seeds}\nduration_s = 0.1\n')
        return inside("sweep", file, "--out", out, *options)

    assert [swept(2).returncode, swept(2).returncode] == [0, 0]
    other = swept(1)
    assert other.returncode == 2
    assert (
        "sweep.toml, and 1 of its 2 runs are not in this sweep, since seeds, values or"
        in other.stderr
    )
    assert swept(3, "--resume").returncode == 0
    assert "3 runs verified" in inside.printed("verify", out)
    assert swept(1, "--overwrite").returncode == 0
    assert "1 run verified" in inside.printed("verify", out)


def test_a_plain_scenario_is_swept_over_seeds(tmp_path: Path) -> None:
    scenario, file, out = tmp_path / "s.toml", tmp_path / "sweep.toml", tmp_path / "out"
    scenario.write_text(ALONE)
    swept = sojourn.sweep(scenario, seeds=3, duration_s=0.1, out=out)
    assert sorted(set(swept.tidy()["seed"].to_pylist())) == [1, 2, 3]
    assert [len(group.runs) for group in read_results(out).groups] == [3]
    # What is given in Python overrides the file of a sweep.
    file.write_text('scenario = "s.toml"\nseeds = 3\nduration_s = 0.1\n')
    assert len(sojourn.sweep(file, seeds=2, out=tmp_path / "two")) == 2
