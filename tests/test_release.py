"""What a release needs: one version, hashes of all packages, workflows that call what exists."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sojourn
import yaml
from conftest import ROOT

WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text())
    for path in (ROOT / ".github" / "workflows").glob("*.yml")
}
RELEASE = WORKFLOWS["release"]["jobs"]


def steps_of(*workflows: str) -> list[dict[str, Any]]:
    jobs = [job for name in workflows for job in WORKFLOWS[name]["jobs"].values()]
    return [step for job in jobs for step in job.get("steps", ())]


def test_the_version_is_the_same_everywhere() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == sojourn.__version__
    assert f'version = "{sojourn.__version__}"' in (ROOT / "Cargo.toml").read_text()
    pages = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    assert set(re.findall(r"sojourn-([\d.]+)-cp", pages)) == {sojourn.__version__}


def test_the_newest_version_has_a_date_when_it_is_released() -> None:
    """In the changelog and in the citation, or in neither; older ones came before."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    headings = re.findall(r"^## (\S+)(?: \((.*)\))?$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    version, said = headings[0]
    assert version == sojourn.__version__
    released = citation.get("date-released")
    assert said == (released.isoformat() if released else "not yet released")


def test_the_first_command_of_the_readme_installs_what_there_is() -> None:
    """A build of the repository before the first release, and a wheel afterwards."""
    readme = (ROOT / "README.md").read_text()
    command = re.search(r"^```(?:console|sh)\n\$ ([^#\n]*)", readme, re.M)
    assert command
    released = "date-released" in yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert ("There is no release to download yet." in readme) is not released
    assert command[1].startswith("pip install " if released else "make run")


def test_the_recipe_for_conda_is_that_of_the_package() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text())
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert recipe["context"]["version"] == sojourn.__version__

    def words(names: list[str]) -> set[str]:
        return {name.replace(" ", "") for name in names}

    python = {f"python{project['project']['requires-python']}"}
    needed = recipe["requirements"]
    assert words(needed["run"]) == words(project["project"]["dependencies"]) | python
    assert words(needed["host"]) == words(project["build-system"]["requires"]) | python | {"pip"}
    [entry] = recipe["build"]["python"]["entry_points"]
    name, _, place = entry.partition(" = ")
    assert project["project"]["scripts"] == {name: place}
    assert recipe["about"]["summary"] == project["project"]["description"]
    assert recipe["about"]["license"] == project["project"]["license"]
    assert recipe["about"]["license_file"] == project["project"]["license-files"]


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-dev.lock", "release.lock"])
def test_every_locked_package_has_hashes(name: str) -> None:
    lines = (ROOT / name).read_text().splitlines()
    entries = [number for number, line in enumerate(lines) if re.match(r"[A-Za-z]", line)]
    assert entries
    for number in entries:
        assert re.fullmatch(r"\S+==\S+ \\", lines[number])
        assert re.fullmatch(r"    --hash=sha256:[0-9a-f]{64}( \\)?", lines[number + 1])


def test_workflows_call_what_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    commands = "\n".join(step.get("run", "") for step in steps_of(*WORKFLOWS))
    targets = re.findall(r"make (\w+)", commands)
    targets += WORKFLOWS["checks"]["jobs"]["make"]["strategy"]["matrix"]["target"]
    assert {"lint", "test", "docs", "guard", "audit", "wheel", "sdist"} <= set(targets)
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    scripts = set(re.findall(r"tests/\w+\.\w+", commands))
    assert scripts == {"tests/programs.sh", "tests/wheel.py"}
    assert all(Path(ROOT, script).is_file() for script in scripts)


def test_actions_are_pinned_by_commit_and_know_no_password() -> None:
    used = [step for step in steps_of(*WORKFLOWS) if "uses" in step]
    for step in used:
        assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"]), step
        if "checkout" in step["uses"]:
            assert step["with"] == {"persist-credentials": False}
    assert {workflow["permissions"]["contents"] for workflow in WORKFLOWS.values()} == {"read"}


def test_nothing_is_published_before_all_checks_have_passed() -> None:
    names = set(RELEASE) - {"publish", "wheel"}
    assert set(RELEASE["publish"]["needs"]) == names
    assert RELEASE["python"]["needs"] == "wheel"
    actions = [step.get("uses", step.get("run", "")) for step in RELEASE["publish"]["steps"]]
    attest, release = (
        next(place for place, action in enumerate(actions) if action.startswith(word))
        for word in ("actions/attest-build-provenance", "gh release create")
    )
    assert attest < release


def test_the_minimum_versions_of_workflows_are_those_of_the_packages() -> None:
    pythons = RELEASE["python"]["strategy"]["matrix"]["python"]
    assert f'requires-python = ">={pythons[0]}"' in (ROOT / "pyproject.toml").read_text()
    rust = re.search(r'rust-version = "(.*)"', (ROOT / "Cargo.toml").read_text())
    assert rust
    commands = [step.get("run", "") for step in steps_of(*WORKFLOWS)]
    toolchains = [command for command in commands if "rustup toolchain" in command]
    assert len(toolchains) == 5
    assert all(f"install {rust[1]} " in command for command in toolchains)


def test_the_wheel_of_a_release_is_built_with_a_profile() -> None:
    steps = RELEASE["wheel"]["steps"]
    commands = [step.get("run", "") for step in steps]
    assert any(re.search(r"--component \S*\bllvm-tools\b", command) for command in commands)
    recipe = re.search(r"^wheel:.*?^(?=\S)", (ROOT / "Makefile").read_text(), re.M | re.S)
    assert recipe and "profile.sh" in recipe[0]
    # With both of these the same wheel can be built again: see CONTRIBUTING.md.
    assert "SOURCE_DATE_EPOCH" in recipe[0] and ".whl).profdata" in recipe[0]
