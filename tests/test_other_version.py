"""Results of the last release: refused in one sentence, with the command that makes them again."""

import json
import shlex
from pathlib import Path

import pytest
import sojourn
from conftest import Cli
from sojourn.store.checksums import StoreError
from sojourn.store.read import read_results
from sojourn.store.verify import verify
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.running import run_plan
from stores import resealed

SCENARIO = """
duration_s = 0.5
baseline = false
upstream = { sustained_mbps = 5, peak_mbps = 5 }
downstream = { sustained_mbps = 20, peak_mbps = 20 }
servers.near.delay_ms = 10
traffic.game = { kind = "stream", purpose = "game" }
"""


def _date_back(directory: Path, name: str, form: str) -> None:
    """Makes a directory one of 0.2.0, whose checksums cover the file that names the version."""
    file = directory / name
    old = {**json.loads(file.read_text()), "format": form, "version": "0.2.0"}
    file.write_text(json.dumps(old))
    resealed(directory)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths in messages are from the working directory."""
    monkeypatch.chdir(tmp_path)


def _refusal(cli: Cli, place: Path) -> str:
    """What commands and Python say of these results, after the versions."""
    message = cli.refused("report", place, cwd=place.parent)
    for read in (sojourn.open, read_results, verify):
        with pytest.raises(StoreError) as refused:
            read(place)
        assert message == f"error: {refused.value}\n"
    now = sojourn.__version__
    assert f"{place}: written by sojourn 0.2.0, whose results sojourn {now} does" in message
    return message.strip().partition(": sojourn ")[2]


def test_results_of_run_are_refused_with_their_command(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    (tmp_path / "a b.toml").write_text(SCENARIO)
    assert cli("run", "a b.toml", "--out", out, "--quiet", cwd=tmp_path).returncode == 0
    _date_back(out, "summary.json", "sojourn-output-4")
    command = shlex.split(_refusal(cli, out))
    assert command == ["run", "a b.toml", "--out", str(out), "--overwrite"]
    assert cli(*command, cwd=tmp_path).returncode == 0
    assert sojourn.open(out).meta["version"] == sojourn.__version__


def test_a_sweep_is_refused_with_its_command(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    sweep, out = tmp_path / "sweep.toml", tmp_path / "out"
    sweep.write_text('scenario = "s.toml"\n[keys]\n"upstream.peak_mbps" = [5, 6]\n')
    sojourn.sweep(sweep, out=out)
    _date_back(out, "store.json", "sojourn-store-3")
    assert _refusal(cli, out) == "sweep sweep.toml --out DIRECTORY"


def test_a_part_of_a_sweep_is_refused_with_its_command(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    (tmp_path / "sweep.toml").write_text(
        'scenario = "s.toml"\nkeys."upstream.peak_mbps" = [5, 6]\n'
    )
    part = ("sweep", "sweep.toml", "--shard", "2/2")
    assert cli(*part, "--out", "part", "--quiet", cwd=tmp_path).returncode == 0
    _date_back(tmp_path / "part", "store.json", "sojourn-store-3")
    assert _refusal(cli, tmp_path / "part") == f"{' '.join(part)} --out DIRECTORY"


def test_a_search_is_refused_with_its_command(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO)
    out, key, until = tmp_path / "out", "upstream.sustained_mbps", "game p99 < 500"
    search = ("find", "s.toml", "--key", key, "--until", until, "--from", "4", "--to", "5")
    assert cli(*search, "--seeds", "1", "--out", out, "--quiet", cwd=tmp_path).returncode == 0
    _date_back(out, "store.json", "sojourn-store-3")
    command = shlex.split(_refusal(cli, out))
    assert command == [*search[:4], "--until", "game p99 < 500.0", "--out", "DIRECTORY"]


def test_a_study_is_refused_with_its_command(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "out"
    run_plan(Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.01), out)
    _date_back(out, "store.json", "sojourn-store-3")
    options = "white2012 --table 7 --experiment D01/C01 --duration-scale 0.01"
    assert _refusal(cli, out) == f"study run {options} --out DIRECTORY"
