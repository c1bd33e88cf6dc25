"""What a release needs: one version, hashes of all packages, a workflow that calls what exists."""

import re
from pathlib import Path

import pytest
import sojourn
import yaml
from conftest import ROOT

WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == sojourn.__version__
    assert f'version = "{sojourn.__version__}"' in (ROOT / "Cargo.toml").read_text()


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock", "release.lock"])
def test_every_locked_package_has_hashes(name: str) -> None:
    lines = (ROOT / name).read_text().splitlines()
    entries = [number for number, line in enumerate(lines) if re.match(r"[A-Za-z]", line)]
    assert entries
    for number in entries:
        assert re.fullmatch(r"\S+==\S+ \\", lines[number])
        assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", lines[number + 1])


def test_the_release_workflow_calls_what_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    commands = "\n".join(step["run"] for step in steps if "run" in step)
    targets = re.findall(r"make (\w+)", commands)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"python3 (\S+)", commands):
        assert Path(ROOT, script).is_file()


def test_the_minimum_versions_of_the_workflow_are_those_of_the_packages() -> None:
    pythons = WORKFLOW["jobs"]["newer-python"]["strategy"]["matrix"]["python"]
    assert f'requires-python = ">={pythons[0]}"' in (ROOT / "pyproject.toml").read_text()
    rust = re.search(r'rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text())
    assert rust
    steps = WORKFLOW["jobs"]["wheel"]["steps"]
    assert any(f"install {rust[1]} " in step.get("run", "") for step in steps)


def test_the_wheel_of_a_release_is_built_with_a_profile() -> None:
    steps = WORKFLOW["jobs"]["wheel"]["steps"]
    commands = [step.get("run", "") for step in steps]
    assert any(re.search(r"--component \S*\bllvm-tools\b", command) for command in commands)
    recipe = re.search(r"^wheel:.*?^(?=\S)", (ROOT / "Makefile").read_text(), re.M | re.S)
    assert recipe and "profile.sh" in recipe[0]
