"""Parts in WebAssembly: the templates, and modules that are hostile."""

import shutil
import subprocess
from pathlib import Path

import pytest
import sojourn
import wasm_modules
from conftest import ROOT
from stores import Inside

TEMPLATES = ROOT / "docs" / "own"
RUST = TEMPLATES / "codel-rust.wasm"

HOME = """
duration_s = 10
baseline = false
upstream.sustained_mbps = 20
downstream.sustained_mbps = 200
servers.near.delay_ms = 10
[traffic]
game = { kind = "stream", purpose = "game" }
upload = { kind = "transfer", direction = "up", start_s = 1 }
[compare]
"""


def compared(variants: dict[str, str], *parts: Path | str) -> dict[str, sojourn.Result]:
    lines = "".join(f"{name} = {{ {keys} }}\n" for name, keys in variants.items())
    return dict(sojourn.run(HOME + lines, parts=[str(part) for part in parts]).runs)


def fingerprints(runs: dict[str, sojourn.Result]) -> list[str]:
    return [str(run.meta["fingerprint"]) for run in runs.values()]


def of_traffic(name: str, column: str, run: sojourn.Result) -> float:
    """What the row of `flows` upstream has."""
    rows = [row for row in run.flows.to_pylist() if row["direction"] == "up"]
    return float(next(row[column] for row in rows if row["traffic"] == name))


def is_codel(name: str, file: Path) -> None:
    """It drops what the built-in law drops."""
    law = 'upstream.queue.law = { kind = "%s", target_ms = 10, interval_ms = 20 }'
    runs = compared({kind: law % kind for kind in (name, "codel")}, file)
    assert of_traffic("upload", "dropped_aqm_packets", runs[name]) > 10
    assert len(set(fingerprints(runs))) == 1


def is_aimd(name: str, file: Path) -> None:
    """With losses and timeouts it sends what the template in Python sends."""
    control = 'servers.near.loss_percent = 12, tcp.congestion_control = { kind = "%s", gain = 2 }'
    python = f"{TEMPLATES}/aimd.py:Aimd"
    runs = compared({kind: control % kind for kind in (name, "aimd")}, file, python)
    assert of_traffic("upload", "retransmitted_packets", runs[name]) > 10
    assert of_traffic("upload", "timeouts", runs[name]) > 0
    assert len(set(fingerprints(runs))) == 1


def is_backup(name: str, file: Path) -> None:
    """Its files come at times that go by the seed."""
    entry = f'traffic.backup = {{ kind = "{name}", file_bytes = 5000, mean_pause_s = 0.1 }}'
    runs = compared({"one": entry, "other": f"{entry}, seed = 2"}, file)
    # In 10 s; the standard deviation is 0.58 of the root.
    assert 80 < of_traffic("backup", "transfers_completed", runs["one"]) < 120
    one, other = fingerprints(runs)
    assert [one] == fingerprints(compared({"one": entry}, file)) != [other]


def is_prague(name: str, file: Path) -> None:
    """It has the marks of the built-in control."""
    keys = "upstream.queue.scheduler.kind = 'dualq', tcp.congestion_control = { kind = '%s' }"
    runs = compared({kind: keys % kind for kind in (name, "prague")}, file)
    assert of_traffic("upload", "marked_packets", runs[name]) > 100
    assert len(set(fingerprints(runs))) == 1


def is_autorate(name: str, file: Path) -> None:
    """It sets what the built-in controller sets."""
    line = "upstream.capacity.steps = [{ for_s = 3, mbps = 5 }, { for_s = 3, mbps = 15 }]"
    link = f"{line}, upstream.modem.kind = 'link', router.upstream.rate_mbps = 10"
    own = {name: "up_mbps = [4, 10, 16]", "autorate": "min_up_mbps = 4, max_up_mbps = 16"}
    keys = {
        kind: f"{link}, router.controller = {{ kind = '{kind}', {limits} }}"
        for kind, limits in own.items()
    }
    runs = compared(keys, file)
    assert of_traffic("router controller", "shaper_decreases", runs[name]) > 3
    assert len(set(fingerprints(runs))) == 1


TEMPLATES_ARE = {
    "codel": is_codel,
    "aimd": is_aimd,
    "backup": is_backup,
    "prague": is_prague,
    "autorate": is_autorate,
}


in_each_language = pytest.mark.parametrize(
    ("part", "language"), [*((part, "rust") for part in TEMPLATES_ARE), ("codel", "c")]
)


@in_each_language
def test_a_template_does_what_it_says(part: str, language: str) -> None:
    TEMPLATES_ARE[part](f"{part}_{language}", TEMPLATES / f"{part}-{language}.wasm")


def command_in(source: Path) -> list[str]:
    """The command that the head of a template names."""
    lines = source.read_text().split("Build it with")[1].splitlines()
    text = " ".join(line.lstrip("/!* ").rstrip("\\") for line in lines[1:5])
    return text.partition(".wasm")[0].split()[:-1]


@in_each_language
def test_a_template_is_built_as_it_says(part: str, language: str, tmp_path: Path) -> None:
    suffix = {"rust": "rs", "c": "c"}[language]
    command = command_in(TEMPLATES / f"{part}.{suffix}")
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    own = tmp_path / "own.wasm"
    command = [word for word in command if word != "-o"]
    done = subprocess.run([*command, "-o", own], cwd=TEMPLATES, capture_output=True, text=True)
    if "target may not be installed" in done.stderr or "unable to find" in done.stderr:
        pytest.skip(f"{command[0]} has no target wasm32")
    assert done.returncode == 0, done.stderr
    TEMPLATES_ARE[part](f"{part}_{language}", own)


HOSTILE = {
    "text": (b"law", "found no WebAssembly module"),
    "other version": (wasm_modules.law(abi=3), "sojourn_abi: found 3; allowed: 1, 2"),
    "imports": (
        b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x09\x01\x03env\x01f\0\0",
        "found the imports env.f; allowed: a module without imports",
    ),
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
def test_a_hostile_module_ends_in_one_message(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> None:
    content, printed = HOSTILE[name]
    monkeypatch.chdir(tmp_path)
    Path("bad.wasm").write_bytes(content)
    Path("home.toml").write_text(HOME + 'own = { upstream.queue.law = { kind = "mine" } }\n')
    done = inside("run", "home.toml", "--part", "bad.wasm", "--out", "out")
    assert done.returncode == 2
    said = done.stderr
    assert printed in said and "Traceback" not in said
    assert len([line for line in said.splitlines() if "error" in line]) == 1
    assert not (tmp_path / "out").exists()


def test_an_own_law_runs_in_each_bin() -> None:
    queue = 'scheduler = { kind = "sfq", bins = 200 }, law = { kind = "%s" }'
    table = f"upstream.queue = {{ {queue} }}, duration_s = 3"
    runs = compared({kind: table % kind for kind in ("codel", "codel_rust")}, RUST)
    assert len(set(fingerprints(runs))) == 1
