"""Stored results of studies are those of this code: some of them are run again at full length."""

from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from sojourn_studies.framework.cells import cell_text
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.registry import STUDIES
from sojourn_studies.framework.running import run_plan
from sojourn_studies.framework.snapshot import CELLS_DIRECTORY, stored

SELECTED: dict[str, dict[str, Any]] = {
    "white2012": {"experiment": ["D19"]},
    "white2013": {"table": ["sec-4.4"]},
    "white2014": {"load": ["N=1:rf=none"]},
    "hong2015": {"table": ["4.2"], "load": ["ftp=1"]},
    "linux": {"experiment": ["a_reno_f1_r5_rtt20_b50", "d_cubic_f5_codel20"], "seeds": 5},
    "l4s": {"experiment": ["5-5", "prague20-cubic20", "prague-reno"]},
    "lld": {"table": ["50-mbps-map-1"], "experiment": ["cubic-8", "idle"]},
    "rfc7928": {
        "experiment": ["l4s-cubic"],
        "scheme": ["ared", "fq-pie", "dualpi2"],
        "load": ["docsis"],
        "seeds": 5,
    },
    "lines": {"table": ["lab"], "load": ["interconnect=0"], "seeds": 5},
}
"""Little work, and all queue managers or dialects that the study has, or some of very many."""


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.long) if n == "hong2015" else n for n in STUDIES]
)
def test_cells_run_again_are_those_stored(name: str, tmp_path: Path) -> None:
    """Where they differ, run the whole study and renew them by `sojourn study snapshot`."""
    plan = Plan(name, **SELECTED[name])
    again = run_plan(plan, tmp_path / "study").means
    known = stored(plan.study, ROOT / CELLS_DIRECTORY / name).baseline
    assert again, "the selection has cells"
    for row, value in again.items():
        assert cell_text(value) == cell_text(known[row]), row
