"""The module of the live page gives the results of the native build, bit for bit."""

import json
import random
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import PATIENT_S, ROOT
from lab_page import FAST, SMALL, needs_fast, needs_module
from sojourn._sojourn import digits, presets_json
from sojourn.lab.server import STATIC
from sojourn.runs.draft import AQMS, draft

WEB = ROOT / "tests" / "web"
# Binaryen takes an eighth off.
MOST_BYTES = 4_450_000 if shutil.which("wasm-opt") else 4_700_000

MOST_FAST_BYTES = 6_450_000

# Scenarios of each kind of part, with a duration in which all of it is at work.
SCENARIOS = {
    "home.toml": 60,
    "low-latency.toml": 20,
    "neighbourhood.toml": 3,
    "two-queues.toml": 60,
    "tiers.toml": 10,
    "fibre.toml": 20,
}

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")


def read_by_node(script: str, *arguments: Path) -> Any:
    command = ["node", WEB / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENT_S)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_module
@needs_node
@pytest.mark.parametrize("module", [SMALL, pytest.param(FAST, marks=needs_fast)])
def test_runs_are_those_of_the_native_build(module: Path, tmp_path: Path) -> None:
    files = []
    for name, duration_s in SCENARIOS.items():
        text = (ROOT / "scenarios" / name).read_text()
        files.append(tmp_path / name)
        files[-1].write_text(
            re.sub(r"^duration_s = .*", f"duration_s = {duration_s}", text, flags=re.M)
        )
    native = {file: sojourn.run(file).runs for file in files}
    printed = read_by_node("fingerprints.mjs", module, STATIC / "core.js", *files)
    assert printed["imports"] == [{"module": "parts", "name": "call", "kind": "function"}]
    for file, runs in native.items():
        web = {run["name"]: run["fingerprint"] for run in printed["runs"][str(file)]}
        assert web == {name: runs[name].meta["fingerprint"] for name in web}
        # A run in slices is the same as one at once: it had some.
        assert max(run["slices"] for run in printed["runs"][str(file)]) > 1


@needs_node
def test_a_number_has_the_same_digits_on_the_page(tmp_path: Path) -> None:
    draw = random.Random(1)
    values = [0.0, 1.0, -0.00001, 9.995, 9.9951, 99.95, 999.51, 1234.6, 0.00005, 0.00015, 1e6]
    values += [draw.choice((-1, 1)) * 10 ** draw.uniform(-7, 7) for _ in range(1000)]
    (tmp_path / "values.json").write_text(json.dumps(values))
    page = read_by_node("digits.mjs", STATIC / "curves.js", tmp_path / "values.json")
    assert page == [digits(value) for value in values]


@needs_module
@needs_node
def test_a_queue_manager_is_the_same_on_the_page_and_in_a_first_scenario() -> None:
    page = read_by_node("presets.mjs", SMALL, STATIC)
    presets = json.loads(presets_json())
    assert list(page["fingerprints"]) == list(presets)
    drafted = tomllib.loads(draft(down_mbps=20, up_mbps=5, aqms=AQMS, neighbours="none"))["compare"]
    # Those of a study are not for a line of today.
    of_studies = {one["label"]: {"upstream": {"queue": one["queue"]}} for one in presets.values()}
    runs = sojourn.run(page["scenario"] | {"compare": of_studies | drafted}).runs
    for name, preset in presets.items():
        at = " at 90 %" if preset.get("where") == "router" else ""
        assert runs[preset["label"] + at].meta["fingerprint"] == page["fingerprints"][name], name


@needs_module
def test_the_small_module_is_small() -> None:
    assert SMALL.stat().st_size < MOST_BYTES


@needs_fast
def test_the_fast_module_is_small() -> None:
    assert FAST.stat().st_size < MOST_FAST_BYTES
