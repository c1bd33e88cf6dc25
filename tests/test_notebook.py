"""What results and scenarios show in a notebook, and the notebook of the documentation."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import sojourn
from conftest import HOME, PATIENT_S, ROOT

EXECUTE = """
import sys, nbformat
from nbclient import NotebookClient

path, into = sys.argv[1:]
notebook = nbformat.read(path, 4)
NotebookClient(notebook, timeout=None, resources={"metadata": {"path": "docs"}}).execute()
nbformat.write(notebook, into)
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """The last output of each cell of code, by type."""
    into = tmp_path_factory.mktemp("notebook") / "executed.ipynb"
    source = ROOT / "docs" / "notebook.ipynb"
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(source), str(into)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENT_S,
    )
    assert done.returncode == 0, done.stderr
    cells = json.loads(into.read_text())["cells"]
    return [
        {kind: "".join(text) for kind, text in cell["outputs"][-1]["data"].items()}
        for cell in cells
        if cell["cell_type"] == "code"
    ]


def test_the_notebook_of_the_documentation_runs(shown: list[dict[str, str]]) -> None:
    scenario, comparison, result, games, delays, targets = shown
    assert "Settings that differ" in scenario["text/html"]
    assert "does best" in comparison["text/html"]
    assert "<svg" in comparison["text/html"]
    assert "Game is" in result["text/html"]
    assert "SFQ-CoDel" in games["text/html"]
    assert "image/png" in delays
    assert eval(targets["text/plain"]).keys() == {5, 10, 20}


def test_it_is_kept_without_outputs() -> None:
    notebook = json.loads((ROOT / "docs" / "notebook.ipynb").read_text())
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_what_people_wrote_is_text(alone: Path) -> None:
    scenario = alone.read_text() + "\n[compare.'<b>bold']\n"
    strange = {"title": "<script>alert(1)</script>"}
    for shown in (
        sojourn.load(scenario, set=strange),
        sojourn.run(scenario, duration_s=1, set=strange),
    ):
        html = shown._repr_html_()
        assert "<script" not in html and "<b>bold" not in html
        assert "&lt;script&gt;" in html


def test_it_is_short(comparison: sojourn.Comparison) -> None:
    # A notebook that shows it ten times is still below a megabyte.
    assert len(comparison._repr_html_()) < 120_000
    assert len(sojourn.load(HOME)._repr_html_()) < 10_000


def test_results_can_be_pickled(comparison: sojourn.Comparison) -> None:
    again = pickle.loads(pickle.dumps(comparison))
    assert list(again) == list(comparison)
    for name, result in comparison.items():
        assert again[name].meta == result.meta
        assert again[name].scenario == result.scenario
        assert again[name].settings == result.settings
        for table in ("flows", "pages", "latencies", "series", "delay_parts"):
            assert getattr(again[name], table).equals(getattr(result, table))
    once_more = pickle.loads(pickle.dumps(again["CoDel"]))
    assert once_more.flows.equals(comparison["CoDel"].flows)
    assert again._repr_html_() == comparison._repr_html_()


def test_results_show_themselves_wherever_they_are_unpickled(
    comparison: sojourn.Comparison, tmp_path: Path
) -> None:
    """A process that never named `sojourn`, such as a worker, has what shows and saves them."""
    pickled = tmp_path / "results.pkl"
    pickled.write_bytes(pickle.dumps(comparison))
    program = (
        "import pickle, sys; from pathlib import Path\n"
        "results = pickle.loads(Path(sys.argv[1]).read_bytes())\n"
        "Path(sys.argv[2]).write_text(results._repr_html_(), encoding='utf-8')\n"
        "results.save(sys.argv[3])"
    )
    page, saved = tmp_path / "page.html", tmp_path / "saved"
    command = [sys.executable, "-c", program, str(pickled), str(page), str(saved)]
    subprocess.run(command, check=True, timeout=PATIENT_S)
    assert page.read_text(encoding="utf-8") == comparison._repr_html_()
    assert (saved / "report.html").is_file()
