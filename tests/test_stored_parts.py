"""Results of runs with parts of one's own are read without them: in all roles, by all readers."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import ROOT
from sojourn.runs.parts import use
from stores import Inside

OWN = ROOT / "docs" / "own"
LINE: dict[str, Any] = {
    "duration_s": 1,
    "baseline": False,
    "upstream": {"sustained_mbps": 10},
    "downstream": {"sustained_mbps": 50},
    "servers": {"near": {"delay_ms": 10}},
    "metrics": {"watch_connections": 1},
    "traffic": {
        "u": {"kind": "transfer", "direction": "up"},
        "call": {"kind": "stream", "purpose": "voice"},
    },
}

SCORED = """
from sojourn import *

class Scored(Traffic):
    score = Score("bad_percent", good=1, fair=5, poor=20)
    gauges = {"bad_percent": "%"}
    bad_percent = 7.0
    two_way = True
    mode = parameter("fast", choices=["fast", "slow"])
    sizes = parameter([1, 2], range=(0, 9))
    is_on = parameter(True)
    table = parameter("own.py", file=True)
    pause_ms = parameter(5, unit="ms", range=(1, 9))

    def on_timer(self, now_us):
        self.datagram(HOME, 100)
        self.wake(now_us + 100_000)

class Law2(Law):
    kind = "scored"
    update_ms = parameter(5, unit="ms", range=(1, 9))

    def on_update(self, *numbers):
        return 0
"""

ROUTER = "router={{ upstream.rate_mbps = 9, downstream.rate_mbps = 40, controller.kind = '{}' }}"
OF_TCP, OF_ENTRY = "tcp.congestion_control.kind='{}'", "traffic.u.tcp.congestion_control.kind='{}'"
OF_QUEUE = "upstream.queue.law.kind='{}'"
CASES = {
    "law": (["codel.py:OwnCodel"], [OF_QUEUE.format("own_codel")]),
    "law with updates": (["pie.py:OwnPie"], [OF_QUEUE.format("own_pie")]),
    "law, module": (["codel-rust.wasm"], [OF_QUEUE.format("codel_rust")]),
    "control": (["aimd.py:Aimd"], [OF_TCP.format("aimd")]),
    "control of an entry": (["aimd.py:Aimd"], [OF_ENTRY.format("aimd")]),
    "control with samples": (["bbr.py:Bbr"], [OF_ENTRY.format("bbr")]),
    "control with feedback": (["prague.py:OwnPrague"], [OF_ENTRY.format("own_prague")]),
    "control, module": (["prague-rust.wasm"], [OF_TCP.format("prague_rust")]),
    "traffic": (["backup.py:Backup"], ["traffic.b={ kind='backup', mean_pause_s=0.3 }"]),
    "traffic with a score": (["call.py:OwnCall"], ["traffic.c.kind='own_call'"]),
    "traffic, module": (["backup-rust.wasm"], ["traffic.b.kind='backup_rust'"]),
    "controller": (["follow.py:Follow"], [ROUTER.format("follow")]),
    "controller, module": (["autorate-rust.wasm"], [ROUTER.format("autorate_rust")]),
    "two of a file, twice, with names of roles": (
        ["own.py:Scored", "own.py:Law2"],
        [
            "traffic.law={ kind='scored', mode='slow', pause_ms=2 }",
            "traffic.controller={ kind='scored', sizes=[], is_on=false }",
            "traffic.congestion_control.kind='scored'",
            OF_QUEUE.format("scored"),
        ],
    ),
}


@pytest.fixture
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """The result of a run, and the directory in which it is while its part is gone."""
    files, sets = CASES[request.param]
    place = tmp_path / "parts"
    place.mkdir()
    (place / "own.py").write_text(SCORED)
    for file in {file.partition(":")[0] for file in files} - {"own.py"}:
        shutil.copy(OWN / file, place)
    result = sojourn.run(LINE, set=sets, parts=[str(place / file) for file in files])
    result.save(tmp_path / "out")
    shutil.rmtree(place)
    use(())
    return result, tmp_path / "out"


@pytest.mark.parametrize("stored", CASES, indirect=True)
def test_results_are_read_without_their_parts(stored: Any, tmp_path: Path, inside: Inside) -> None:
    result, out = stored
    (read,) = sojourn.open(out).runs.values()
    assert read.scenario == result.scenario and read.series.equals(result.series)
    assert read.settings
    # What was declared is known: grades and verdict are those of the run.
    for name in ("measures", "loaded", "traffic"):
        assert getattr(read.facts, name) == getattr(result.facts, name)
    assert read.verdict == result.verdict
    inside.printed("verify", out)
    inside.printed("report", out)
    window = ["--kind", "timeseries", "--metric", "congestion_window"]
    inside.printed("plot", out, *window, "--out", tmp_path / "w.svg")
    inside.printed("export", out, "--format", "csv", "--out", tmp_path / "csv")


def test_a_sweep_with_a_control_is_joined_without_it(tmp_path: Path, inside: Inside) -> None:
    file = shutil.copy(OWN / "aimd.py", tmp_path)
    (tmp_path / "line.toml").write_text(sojourn.load(LINE)[0].to_toml())
    (tmp_path / "sweep.toml").write_text('scenario = "line.toml"\nseeds = 2\n')
    chosen = ["--set", OF_ENTRY.format("aimd"), "--part", f"{file}:Aimd"]
    parts = [tmp_path / "1", tmp_path / "2"]
    for part in parts:
        shard = ["--shard", f"{part.name}/2", "--out", part]
        inside.printed("sweep", tmp_path / "sweep.toml", *chosen, *shard)
    Path(file).unlink()
    use(())
    inside.printed("merge", *parts, "--out", tmp_path / "whole")
    for command in ("verify", "report"):
        inside.printed(command, tmp_path / "whole")
    inside.printed("export", tmp_path / "whole", "--format", "csv", "--out", tmp_path / "csv")
    assert len(sojourn.open(tmp_path / "whole")) > 0
