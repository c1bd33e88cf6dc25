"""Every scenario that comes with Sojourn, run briefly."""

from pathlib import Path

import pytest
import sojourn
from conftest import ROOT

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))

# Uploads that start at random do so within the first two seconds.
BRIEF_S = 2


def test_there_are_scenarios() -> None:
    assert SCENARIOS


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_scenario_is_valid_and_every_variant_delivers(path: Path) -> None:
    names = [variant.name for variant in sojourn.load(path)]
    runs = sojourn.run(path, duration_s=BRIEF_S).runs
    # The idle line, which is run beside them, comes last.
    assert list(runs)[: len(names)] == names
    assert all(
        name.startswith("idle line") or name.endswith("without uploads and downloads")
        for name in list(runs)[len(names) :]
    )
    for name, result in runs.items():
        assert result.meta["duration_s"] == BRIEF_S
        assert result.meta["forwarded_packets"] > 0, name
        assert sum(result.flows["delivered_packets"].to_pylist()) > 0, name
