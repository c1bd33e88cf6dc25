"""Every scenario that comes with Sojourn, run briefly, and by name."""

from pathlib import Path

import pytest
import sojourn
from conftest import ROOT, Cli

SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))

# Uploads that start at random do so within the first two seconds.
BRIEF_S = 2


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_scenarios_have_names_wherever_one_is(elsewhere: Path, cli: Cli) -> None:
    gallery = sorted((ROOT / "scenarios" / "gallery").glob("*.toml"))
    assert [*sojourn.scenarios()] == [path.stem for path in (*SCENARIOS, *gallery)]
    for path in (*SCENARIOS, *gallery):
        by_name = [variant.to_toml() for variant in sojourn.load(path.stem)]
        assert by_name == [variant.to_toml() for variant in sojourn.load(path)]
    listed = cli("scenarios").stdout.splitlines()
    assert len(listed) == len(sojourn.scenarios())
    assert "fibre              Cable or fibre" in listed
    assert cli("scenarios", "fibre").stdout == (ROOT / "scenarios" / "fibre.toml").read_text()


def test_results_of_a_name_are_those_of_its_file(elsewhere: Path, cli: Cli) -> None:
    by_name = cli("run", "fibre", "--duration", BRIEF_S, "--json", "--out", elsewhere / "name")
    file = ROOT / "scenarios" / "fibre.toml"
    assert by_name.stdout == cli("run", file, "--duration", BRIEF_S, "--json").stdout
    assert len(sojourn.sweep("fibre", seeds=1, duration_s=0.1, out="swept")) == 4
    found = sojourn.find(
        "upload", key="upstream.queue.limit_bytes", until="upload > 1", low=9e4, high=1e5,
        step=1e4, duration_s=0.5, out="found",
    )  # fmt: skip
    assert found["drop-tail"].sentences


def test_a_file_wins_over_a_name_and_a_directory_does_not(elsewhere: Path) -> None:
    (elsewhere / "fibre").mkdir()
    assert sojourn.load("fibre")[0].name == "Cable"
    (elsewhere / "upload").write_bytes((ROOT / "scenarios" / "fibre.toml").read_bytes())
    assert sojourn.load("upload")[0].name == "Cable"


def test_an_unknown_name_is_refused_with_one_that_is_near(elsewhere: Path, cli: Cli) -> None:
    with pytest.raises(sojourn.ScenarioError) as caught:
        sojourn.load("uplod")
    assert str(caught.value) == (
        "uplod: found neither a file nor a scenario of this name (did you mean upload?); "
        "allowed: the path of a file, or a name that `sojourn scenarios` lists"
    )
    message = cli.refused("run", "uplod")
    assert message == f"error: {caught.value}\n"
    assert "NAME: found 'uplod' (did you mean upload?)" in cli("scenarios", "uplod").stderr
    with pytest.raises(FileNotFoundError):
        sojourn.load("upload.toml")


def test_untrusted_texts_are_quoted_with_escapes(elsewhere: Path) -> None:
    hidden, shown = "\x1b[2J\u202e\n\ufe0f", r"\x1b[2J\u202e\n\ufe0f"
    file = elsewhere / f"{hidden}.toml"
    file.write_text("nothing = 1")
    for name, printed in (("a\0b", r"a\x00b: found neither"), (file, f"{shown}.toml: nothing: ")):
        with pytest.raises(sojourn.ScenarioError) as refused:
            sojourn.load(name)
        assert printed in str(refused.value).splitlines()[0]
