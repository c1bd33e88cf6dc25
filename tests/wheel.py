"""Installs a wheel into a fresh environment without Rust and uses it there.

`python tests/wheel.py out/wheels/*.whl`; `make wheel` does so.
`--of-sdist`: it is one for this machine alone.
"""

import json
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

from fingerprints import recorded

ROOT = Path(__file__).resolve().parent.parent

PACKAGES = ("python/sojourn", "python/sojourn_studies")

STATIC = "sojourn/lab/static"
GENERATED = (
    "sojourn/_sojourn.abi3.so",
    f"{STATIC}/sojourn.wasm",
    f"{STATIC}/sojourn-fast.wasm",
)

PLATFORMS = {"linux": "manylinux", "darwin": "macosx"}

LICENCES = ("LICENSE-APACHE", "LICENSE-MIT")


def main() -> None:
    """Tests the wheel that is given."""
    given, *options = sys.argv[1:]
    wheel = Path(given).resolve()
    of_sdist = options == ["--of-sdist"]
    check_name(wheel, "linux" if of_sdist else PLATFORMS[sys.platform])
    check_content(wheel)
    if not of_sdist:
        check_compiler(wheel)
    with tempfile.TemporaryDirectory() as place:
        use(wheel, Path(place))
    print(f"{wheel.name}: installed and used in a fresh environment")


def check_name(wheel: Path, expected: str) -> None:
    """One wheel for every Python from 3.11 on, and for every Linux since 2014."""
    *_, python, abi, platform = wheel.stem.split("-")
    if (python, abi) != ("cp311", "abi3") or not platform.startswith(expected):
        raise SystemExit(f"{wheel.name}: expected cp311-abi3-{expected}")


def check_content(wheel: Path) -> None:
    """All files of the packages are there, licences, and the list of Rust packages."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    command = ["git", "ls-files", "-z", "--", *PACKAGES]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    expected = {name.removeprefix("python/") for name in listed.stdout.split("\0") if name}
    if missing := sorted({*expected, *GENERATED} - set(names)):
        raise SystemExit(f"{wheel.name}: lacks {', '.join(missing)}")
    for end in (*LICENCES, "sojourn-py.cyclonedx.json"):
        if not any(name.endswith(end) for name in names):
            raise SystemExit(f"{wheel.name}: lacks {end}")


def check_compiler(wheel: Path) -> None:
    """It compiles parts in WebAssembly, as the list of its Rust packages says."""
    with zipfile.ZipFile(wheel) as archive:
        (listed,) = (
            name for name in archive.namelist() if name.endswith("sojourn-py.cyclonedx.json")
        )
        packages = {one["name"] for one in json.loads(archive.read(listed))["components"]}
    if "wasmtime" not in packages:
        raise SystemExit(f"{wheel.name}: lacks wasmtime; build it with --features compiler")


def use(wheel: Path, place: Path) -> None:
    """Does what a new user does first, away from the repository."""
    venv.create(place / "venv", with_pip=True)
    programs = place / "venv" / "bin"
    environment = {**os.environ, "PATH": f"{programs}:/usr/bin:/bin"}
    environment.pop("PYTHONPATH", None)
    if not run(["sh", "-c", "command -v cargo rustc"], place, environment).returncode:
        raise SystemExit("Rust is on the path, so this proves nothing")
    for line in (
        f"pip install --quiet --disable-pip-version-check --only-binary :all: {wheel}",
        "sojourn --version",
        "sojourn init home.toml",
        "sojourn validate home.toml",
        "sojourn run home.toml --duration 2 --out out",
        "sojourn verify out",
        "sojourn report out --out page.html",
        "sojourn plot out --kind cdf --out game.svg",
        "sojourn schema",
        "sojourn run home --duration 10 --set traffic.game.direction=up "
        "--set traffic.call.direction=up --out home",
        "sojourn study run white2012 --table 7 --experiment D01/C01 --duration-scale 0.001 "
        "--out study",
        "sojourn report study",
        f"sojourn run home.toml --duration 2 --part {ROOT}/docs/own/codel-rust.wasm "
        "--set upstream.queue.law.kind=codel_rust",
        f"pip install --quiet --disable-pip-version-check --only-binary :all: {wheel}[plot]",
        "sojourn plot out --kind cdf --out game.pdf",
    ):
        done = run(line.split(), place, environment)
        if done.returncode:
            raise SystemExit(f"{line}: status {done.returncode}\n{done.stderr}")
    version = wheel.name.split("-")[1]
    if run(["sojourn", "--version"], place, environment).stdout != f"sojourn {version}\n":
        raise SystemExit(f"sojourn --version does not tell {version}")
    check_fingerprints(place / "home")


def check_fingerprints(home: Path) -> None:
    """The optimised build has the same bits as the debug build that Rust tests."""
    expected = recorded(ROOT)
    runs = json.loads((home / "summary.json").read_text())["variants"]
    got = {run["name"]: (run["fingerprint"], run["events"]) for run in runs}
    got.pop("idle line")
    if not got or got != {name: expected[name] for name in got}:
        raise SystemExit(f"fingerprints differ from those recorded: {got}")


def run(
    command: list[str], place: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    """Runs a command in the environment."""
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)


if __name__ == "__main__":
    main()
