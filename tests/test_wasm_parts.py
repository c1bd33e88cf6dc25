"""Parts in WebAssembly: the templates, and modules that are hostile."""

import shutil
import subprocess
from pathlib import Path

import pytest
import sojourn
import wasm_modules
from conftest import ROOT, Cli

TEMPLATES = ROOT / "docs" / "own"
RUST = TEMPLATES / "codel-rust.wasm"
C = TEMPLATES / "codel-c.wasm"

HOME = """
duration_s = 20
upstream.sustained_mbps = 20
downstream.sustained_mbps = 200
servers.near.delay_ms = 10
[traffic]
game = { kind = "stream", purpose = "game" }
upload = { kind = "transfer", direction = "up", start_s = 5 }
[compare]
built-in = { upstream.queue.law = { kind = "codel", target_ms = 15 } }
"""
OWN = 'own = { upstream.queue.law = { kind = "%s", target_ms = 15 } }\n'


def drops(name: str, file: Path) -> dict[str, tuple[int, str]]:
    """The drops of CoDel and of a law, and the fingerprints of their runs."""
    runs = sojourn.run(HOME + OWN % name, parts=[str(file)]).runs
    dropped = {key: run.flows["dropped_aqm_packets"].to_pylist() for key, run in runs.items()}
    return {key: (sum(dropped[key]), run.meta["fingerprint"]) for key, run in runs.items()}


@pytest.mark.parametrize(("name", "file"), [("codel_rust", RUST), ("codel_c", C)])
def test_a_template_drops_what_codel_drops(name: str, file: Path) -> None:
    found = drops(name, file)
    assert found["own"] == found["built-in"] and found["own"][0] > 10


def command_in(source: Path) -> list[str]:
    """The command that the head of a template names."""
    lines = source.read_text().split("Build it with")[1].splitlines()
    text = " ".join(line.lstrip("/!* ").rstrip("\\") for line in lines[1:5])
    return text.partition(".wasm")[0].split()[:-1]


@pytest.mark.parametrize(("source", "name"), [("codel.rs", "codel_rust"), ("codel.c", "codel_c")])
def test_a_template_is_built_as_it_says(source: str, name: str, tmp_path: Path) -> None:
    command = command_in(TEMPLATES / source)
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    own = tmp_path / "own.wasm"
    command = [word for word in command if word != "-o"]
    done = subprocess.run([*command, "-o", own], cwd=TEMPLATES, capture_output=True, text=True)
    if "target may not be installed" in done.stderr or "unable to find" in done.stderr:
        pytest.skip(f"{command[0]} has no target wasm32")
    assert done.returncode == 0, done.stderr
    found = drops(name, own)
    assert found["own"] == found["built-in"]


HOSTILE = {
    "text": (b"law", "found no WebAssembly module"),
    "other version": (wasm_modules.law(abi=2), "sojourn_abi: found 2; allowed: 1"),
    "no exports": (b"\0asm\x01\0\0\0", "found no memory called memory"),
    "no room": (b"\0asm\x01\0\0\0" + b"\0" * (1 << 20), "allowed: 1048576 at most"),
    "endless start": (
        wasm_modules.law(start=wasm_modules.ENDLESS),
        "found no end after 20 million",
    ),
    "endless hook": (wasm_modules.law(wasm_modules.ENDLESS), "found no end after 20 million"),
    "trap": (wasm_modules.law(wasm_modules.TRAP), "unreachable"),
    "memory": (wasm_modules.law(wasm_modules.GROW), "found more than 16 MiB of memory"),
    "NaN": (wasm_modules.law(wasm_modules.NAN), "found NaN as what to do with a packet"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_module_ends_in_one_message(cli: Cli, tmp_path: Path, name: str) -> None:
    content, told = HOSTILE[name]
    (tmp_path / "bad.wasm").write_bytes(content)
    (tmp_path / "home.toml").write_text(HOME + 'own = { upstream.queue.law = { kind = "mine" } }\n')
    outcome = cli("run", "home.toml", "--part", "bad.wasm", "--out", "out", cwd=tmp_path)
    assert outcome.returncode == 2
    assert told in outcome.stderr and "Traceback" not in outcome.stderr
    assert len([line for line in outcome.stderr.splitlines() if "error" in line]) == 1
    assert not (tmp_path / "out").exists()


def test_an_own_law_runs_in_each_bin(tmp_path: Path) -> None:
    queue = 'queue = { scheduler = { kind = "sfq", bins = 200 }, law = { kind = "%s" } }'
    scenario = HOME.partition("[compare]")[0].replace("20\nup", "3\nup")
    scenario += "[compare]\n" + "".join(
        f"{kind} = {{ upstream.{queue % kind} }}\n" for kind in ("codel", "codel_rust")
    )
    runs = sojourn.run(scenario, parts=[str(RUST)]).runs
    assert len({run.meta["fingerprint"] for run in runs.values()}) == 1
