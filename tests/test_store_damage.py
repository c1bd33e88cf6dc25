"""Changed bits and missing files in stores: they are noticed, and repaired with `--resume`."""

import shutil
import subprocess
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from conftest import Cli
from sojourn.analysis.tables import TABLES
from sojourn.store.batch import run_batch
from sojourn.store.checksums import StoreError
from sojourn.store.read import read_results
from sojourn.store.verify import verify
from stores import STUDY, Inside, bytes_of, command, flipped, listed, tasks


def each_changed(directory: Path) -> Iterator[Path]:
    """Flips one bit in each file in turn; a report is made anew, so it is left out."""
    random = Random(2)
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.name != "report.html":
            content = path.read_bytes()
            path.write_bytes(flipped(content, random.randrange(8 * len(content))))
            yield path
            path.write_bytes(content)


def what_is_read(directory: Path) -> object:
    """Everything that a report or a study can read of a stored sweep."""
    results = read_results(directory)
    runs = [run for group in results.groups for run in group.runs]
    kept = [[name for name in TABLES if run.keeps(name)] for run in runs]
    tables = [
        {name: run.table(name).to_pylist() for name in names}
        for run, names in zip(runs, kept, strict=True)
    ]
    labels = [(group.name, group.point, group.variant) for group in results.groups]
    return labels, tables, [(run.meta, run.scenario) for run in runs]


def test_a_changed_bit_is_noticed_wherever_it_is(tmp_path: Path) -> None:
    """Some 250 places in all files of a sweep of two runs, one bit each."""
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    whole = what_is_read(tmp_path)
    assert verify(tmp_path).problems == []
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    random, harmless = Random(1), 0
    for number in range(250):
        path = files[number % len(files)]
        content = path.read_bytes()
        path.write_bytes(flipped(content, random.randrange(8 * len(content))))
        try:
            is_noticed = bool(verify(tmp_path).problems)
        except StoreError as error:
            is_noticed = str(tmp_path) in str(error)
        assert is_noticed, path
        try:
            assert what_is_read(tmp_path) == whole, path
            harmless += 1
        except StoreError as error:
            assert str(tmp_path) in str(error)
        path.write_bytes(content)
    assert what_is_read(tmp_path) == whole
    assert harmless < 25  # a space of store.json, the checksum of a file that is not read


def test_resume_repeats_a_damaged_run_and_names_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_batch(tasks(2), tmp_path)
    before = bytes_of(tmp_path)
    place = tmp_path / "runs" / tasks(2)[1].run / "meta.json"
    # A flipped bit that is still valid JSON: the last digit of a count.
    at = place.read_bytes().index(b"0")
    place.write_bytes(flipped(place.read_bytes(), 8 * at))
    assert bytes_of(tmp_path) != before
    store = run_batch(tasks(2), tmp_path, resume=True)
    assert [task.run for task in store.added] == [tasks(2)[1].run]
    assert bytes_of(tmp_path) == before
    assert f"{place}: damaged (it differs from its checksum in SHA256SUMS)" in (
        capsys.readouterr().err
    )


def test_verify_lists_damaged_runs(tmp_path: Path, cli: Cli) -> None:
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    printed = cli.printed("verify", tmp_path)
    assert printed == f"2 runs verified in {tmp_path}\n"
    place = tmp_path / "runs" / tasks(1)[0].run / "flows.parquet"
    place.write_bytes(flipped(place.read_bytes(), 800))
    message = cli.refused("verify", tmp_path)
    assert message == (
        f"error: {place}: damaged (it differs from its checksum in SHA256SUMS); repeat the command "
        "that wrote it, a sweep or study with --resume, to rerun it\n"
    )


def test_verify_tells_that_runs_are_missing(tmp_path: Path, cli: Cli) -> None:
    """As after an incomplete copy."""
    run_batch(tasks(1), tmp_path, about=listed(tasks(2)))
    message = cli.refused("verify", tmp_path)
    printed = f"error: {tmp_path}: 1 of 2 runs are missing; repeat the command with --resume to run"
    assert message == f"{printed} them\n"


@pytest.mark.parametrize("kind", ["run", "sweep", "study"])
def test_a_report_of_a_directory_with_a_changed_bit_is_refused(
    stored: Path, tmp_path: Path, inside: Inside, kind: str
) -> None:
    """In any file, also in one that the report does not show."""
    directory, page = stored / kind, tmp_path / "page.html"
    assert command("report", directory, "--out", page) == 0
    page.unlink()
    tried = 0
    for path in each_changed(directory):
        assert str(directory) in inside.refused("report", directory, "--out", page), path
        assert not page.exists(), path
        tried += 1
    # Two runs of all tables, two runs of some, and what describes them.
    assert tried > {"run": 20, "sweep": 18, "study": 18}[kind]


def test_plot_and_export_refuse_a_directory_with_a_changed_bit(
    stored: Path, tmp_path: Path, inside: Inside
) -> None:
    directory = stored / "run"
    out = tmp_path / "x.svg"
    for path in islice(each_changed(directory), 0, None, 6):
        for arguments in (["plot", directory, "--kind", "drops"], ["export", directory]):
            more = ["--format", "csv"] if arguments[0] == "export" else []
            assert "damaged" in inside.refused(*arguments, *more, "--out", out), path
    assert not out.exists()


@pytest.mark.parametrize("kind", ["sweep", "study"])
def test_resume_mends_a_changed_bit_wherever_it_is(
    stored: Path, tmp_path: Path, inside: Inside, kind: str
) -> None:
    """Or it refuses the directory, which is then as it was."""
    for name in ("home.toml", "sweep.toml"):
        (tmp_path / name).write_text((stored / name).read_text())
    directory, whole = tmp_path / kind, bytes_of(stored / kind)
    arguments = STUDY if kind == "study" else ("sweep", tmp_path / "sweep.toml")
    shutil.copytree(stored / kind, directory)
    for path in each_changed(directory):
        done = inside(*arguments, "--out", directory, "--resume")
        assert (done.returncode, bytes_of(directory)) == (0, whole), path
        if path.parent != directory:
            assert f"{path}: damaged" in done.stderr


def test_resume_removes_a_damaged_run_that_no_command_would_repeat(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_batch(tasks(2), tmp_path, about=listed(tasks(2)))
    place = tmp_path / "runs" / tasks(2)[1].run / "meta.json"
    place.write_bytes(flipped(place.read_bytes(), 80))
    run_batch(tasks(1), tmp_path, resume=True, about=listed(tasks(1)))
    assert not place.parent.exists()
    assert capsys.readouterr().err == (
        f"{place}: damaged (it differs from its checksum in SHA256SUMS); this run is removed\n"
    )
    assert verify(tmp_path).problems == []


def test_many_damaged_runs_are_told_in_a_line(tmp_path: Path) -> None:
    run_batch(tasks(3), tmp_path, about=listed(tasks(3)))
    for path in tmp_path.glob("runs/*/meta.json"):
        path.write_bytes(flipped(path.read_bytes(), 80))
    with pytest.raises(StoreError, match=r"meta\.json: damaged .*; 2 more, which `sojourn verify"):
        read_results(tmp_path)


def test_the_checksums_are_those_of_sha256sum(tmp_path: Path) -> None:
    run_batch(tasks(1), tmp_path)
    command = ["sha256sum", "--check", "--strict", "SHA256SUMS"]
    for directory in (tmp_path, tmp_path / "runs" / tasks(1)[0].run):
        assert subprocess.run(command, cwd=directory, capture_output=True).returncode == 0
