"""Scripts that run a sweep in parts on a cluster."""

import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sojourn.store.cluster import _quieten
from stores import Inside, bytes_of, command
from test_shards import SCENARIO, SWEEP

STRANGE = 'it\'s a "дом" $HOME `x`'
"""The name of a directory."""

OPTIONS = ("--seeds", "1", "--set", 'title="a $b"')

SBATCH = """#!/bin/bash
echo "$*" >> sbatch.log
while [[ $1 == --* ]]; do
    case $1 in --array=*) IFS=- read -r first last <<< "${1#--array=}" ;; esac
    shift
done
export SLURM_CPUS_PER_TASK=1
if [[ -v first ]]; then
    for ((n = first; n <= last; n++)); do SLURM_ARRAY_TASK_ID=$n bash "$@" || exit; done
    echo '17;cluster'
else
    bash "$@"
fi
"""
"""Stands in for SLURM: it runs the tasks of an array at once, then names the array."""


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A sweep below a directory with a name that a shell would split."""
    place = tmp_path / STRANGE
    place.mkdir()
    (place / "line.toml").write_text(SCENARIO)
    (place / "a sweep.toml").write_text(SWEEP)
    return place / "a sweep.toml"


@pytest.fixture
def script_of(
    strange: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> Callable[[str], Path]:
    """The script for two parts of the sweep."""

    def printed(system: str) -> Path:
        monkeypatch.chdir(tmp_path)
        options = ("--shards", "2", *OPTIONS, "--out", f"{STRANGE} 2")
        script = inside.printed("jobs", strange.relative_to(tmp_path), system, *options)
        (tmp_path / "the script").write_text(script)
        return tmp_path / "the script"

    return printed


def with_programs(place: Path) -> dict[str, str]:
    """An environment in which jobs find this sojourn, and what stands in for SLURM."""
    programs = place / "bin"
    programs.mkdir()
    for name, text in (
        ("sbatch", SBATCH),
        ("sojourn", f'#!/bin/sh\nexec {sys.executable} -m sojourn "$@"\n'),
    ):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    return {**os.environ, "PATH": f"{programs}:{os.environ['PATH']}"}


def whole_of(strange: Path, place: Path) -> Path:
    """This sweep without parts."""
    assert command("sweep", strange, *OPTIONS, "--quiet", "--out", place / "whole") == 0
    return place / "whole"


def test_a_script_for_slurm(
    strange: Path, script_of: Callable[[str], Path], tmp_path: Path
) -> None:
    environment = with_programs(tmp_path)
    done = subprocess.run(["bash", script_of("--slurm")], env=environment, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
    array, merging = (tmp_path / "sbatch.log").read_text().splitlines()
    assert array.startswith("--parsable --array=1-2 ")
    assert merging.startswith("--dependency=afterok:17 --kill-on-invalid-dep=yes ")
    assert bytes_of(tmp_path / f"{STRANGE} 2") == bytes_of(whole_of(strange, tmp_path))


@pytest.mark.skipif(not shutil.which("snakemake"), reason="needs snakemake, which is not locked")
def test_a_script_for_snakemake(
    strange: Path, script_of: Callable[[str], Path], tmp_path: Path
) -> None:
    words = ["snakemake", "--cores", "2", "--snakefile", str(script_of("--snakemake"))]
    subprocess.run(words, env=with_programs(tmp_path), check=True, capture_output=True)
    joined = bytes_of(tmp_path / f"{STRANGE} 2")
    assert {name: joined[name] for name in joined if name != ".snakemake_timestamp"} == bytes_of(
        whole_of(strange, tmp_path)
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "--slurm, --snakemake: found none; allowed: one of them"),
        (["--slurm", "--snakemake"], "--slurm, --snakemake: found both; allowed: one of them"),
        (["--slurm", "--shards", "5"], "--shards: found 5; allowed: 1 to 4, one for each run"),
        (["--slurm", "--out", "a\nb"], "a\\nb-parts: found an invisible character; allowed in"),
        (["--snakemake", "--out", "{a}"], "{a}-parts: found a brace; allowed in scripts: none"),
        (["--slurm", "--out", ""], "--out: found '.'; allowed: the path of a new directory"),
        (["--slurm", "--out", "/"], "--out: found '/'; allowed: the path of a new directory"),
        (["--slurm", "--out", "a/.."], "--out: found 'a/..'; allowed: the path of a new directory"),
        (["--slurm", "--out=-x"], "--out: found '-x'; allowed: the path of a new directory"),
        (["--slurm", "--out", "/dev/null"], "--out: found '/dev/null', which holds something else"),
        (["--slurm", "--out", "/usr"], "--out: found '/usr', which holds something else; allowed"),
        (["--slurm", "--duration", "-1"], "--duration: found -1; allowed: a number"),
        (["--slurm", "--set", "a.b=1"], "--set a.b=1: a: unknown key"),
    ],
)
def test_jobs_refuses(strange: Path, options: list[str], message: str, inside: Inside) -> None:
    assert inside.refused("jobs", strange, *options).startswith(f"error: {message}")


def test_reports_of_dask_are_left_out_and_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("distributed", "distributed.core", "distributed_not", "own.distributed")
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        monkeypatch.setattr(logger, "level", logging.NOTSET)
    _quieten()
    assert [logger.isEnabledFor(logging.ERROR) for logger in loggers] == [False, False, True, True]
