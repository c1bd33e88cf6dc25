"""Sweeps."""

from pathlib import Path

import polars as pl
import pytest
import sojourn
from conftest import HOME, Cli
from sojourn.sweep import read_sweep

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
        ("seeds = 2", "scenario: found nothing; allowed: the path of a scenario"),
        ("scenario = 'a'\nseed = 2", "seed: found an unknown key"),
        ("scenario = 'a'\nseeds = 0", "seeds: found 0; allowed: 1 to 10000"),
        ("scenario = 'a'\nseeds = true", "seeds: found True; allowed: 1 to 10000"),
        ("scenario = 'a'\nkeys.seed = 3", "keys.seed: found 3; allowed: a list of one value"),
        ("scenario = ", "Invalid value"),
    ],
)
def test_bad_sweeps_are_refused(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.toml"
    file.write_text(text)
    with pytest.raises(sojourn.ScenarioError, match=str(file)) as refusal:
        read_sweep(file)
    assert message in str(refusal.value)
