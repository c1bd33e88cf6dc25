"""The output directory: whole or not there, and never in place of someone else's files."""

import json
import os
import resource
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import sojourn
from conftest import HOME, SHORT_S, Cli
from sojourn.base.files import write_file
from sojourn.store import write as module
from sojourn.store.checksums import StoreError
from sojourn.store.read import read_results
from sojourn.store.replace import Wanted, check

FILES = {
    "flows",
    "delay_parts",
    "first_half",
    "traffic_classes",
    "connections",
    "service_flows",
    "channels",
    "queues",
    "latency_histogram",
    "pages",
    "latencies",
    "series",
}


def test_what_is_in_it(saved: Path, comparison: sojourn.Comparison) -> None:
    names = {path.name for path in saved.iterdir()}
    assert names == {"report.html", "latency-cdf.svg", "summary.json", "SHA256SUMS", *comparison}
    for name, result in comparison.items():
        files = {path.name for path in (saved / name).iterdir()}
        words = {"meta.json", "scenario.toml", "SHA256SUMS"}
        assert files == {f"{table}.parquet" for table in FILES} | words
        assert json.loads((saved / name / "meta.json").read_text()) == result.meta
        assert pq.read_table(saved / name / "flows.parquet").equals(result.flows)


def test_nothing_is_left_beside_it(saved: Path) -> None:
    assert [path.name for path in saved.parent.iterdir()] == ["out"]


def test_parquet_columns_carry_their_units(saved: Path) -> None:
    schema = pq.read_schema(saved / "CoDel" / "flows.parquet")
    units = {field.name: field.metadata[b"unit"] for field in schema if b"unit" in field.metadata}
    assert units["latency_p99_ms"] == b"ms"
    assert units["throughput_mbps"] == b"Mbps"
    assert units["sent_bytes"] == b"B"
    assert units["loss_percent"] == b"%"


def test_summary_is_that_of_the_command(saved: Path, cli: Cli) -> None:
    printed = json.loads(cli("run", HOME, "--duration", SHORT_S, "--json").stdout)
    written = json.loads((saved / "summary.json").read_text())
    assert (written.pop("format"), printed.pop("format")) == ("sojourn-output-5", 1)
    assert written.pop("scenarios") == []  # it was saved from Python
    assert set(written.pop("files")) == {
        path.relative_to(saved).as_posix() for path in saved.rglob("*") if path.is_file()
    }
    for variant in written["variants"]:
        assert (saved / variant.pop("directory")).is_dir()
    assert written == printed


def test_a_resolved_scenario_gives_the_same_run(
    saved: Path, comparison: sojourn.Comparison
) -> None:
    again = sojourn.run(saved / "CoDel" / "scenario.toml")
    assert again.meta["fingerprint"] == comparison["CoDel"].meta["fingerprint"]


def test_the_packet_trace_is_written_when_there_is_one(
    traced: sojourn.Result, tmp_path: Path
) -> None:
    traced.save(tmp_path / "out")
    table = pq.read_table(tmp_path / "out" / "run" / "packets.parquet")
    assert table.num_rows == traced.packets.num_rows > 0


def test_an_earlier_output_is_replaced(comparison: sojourn.Comparison, tmp_path: Path) -> None:
    directory = tmp_path / "out"
    directory.mkdir()
    comparison.save(directory)
    before = (directory / "CoDel" / "meta.json").stat().st_ino
    comparison.save(directory)
    assert (directory / "CoDel" / "meta.json").stat().st_ino != before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_file_of_someone_elses_is_not_lost(
    comparison: sojourn.Comparison, tmp_path: Path
) -> None:
    directory = tmp_path / "out"
    comparison.save(directory)
    notes = directory / "CoDel" / "notes.txt"
    notes.write_text("mine")
    with pytest.raises(FileExistsError, match=r"holds other files, such as CoDel/notes\.txt"):
        comparison.save(directory)
    assert notes.read_text() == "mine"


@pytest.mark.parametrize("content", ["", "{", '{"format": "other"}', "[]"])
def test_a_damaged_summary_is_named(
    comparison: sojourn.Comparison, tmp_path: Path, content: str
) -> None:
    comparison.save(tmp_path / "out")
    summary = tmp_path / "out" / "summary.json"
    summary.write_text(content)
    with pytest.raises(FileExistsError, match=r"out/summary\.json: damaged, so that it does not"):
        comparison.save(tmp_path / "out", overwrite=True)
    assert summary.read_text() == content


@pytest.mark.parametrize("target", ["out", "nowhere"])
@pytest.mark.parametrize("below", ["", "new"])
def test_a_link_that_leads_nowhere_is_refused_before_the_run(
    cli: Cli, tmp_path: Path, target: str, below: str
) -> None:
    link = tmp_path / "out"
    link.symlink_to(target)
    message = cli.refused("run", HOME, "--duration", SHORT_S, "--out", link / below)
    assert f"{link} is not a " in message
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_the_earlier_output(
    comparison: sojourn.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "out"
    comparison.save(directory)
    before = (directory / "summary.json").stat().st_ino

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "parquet_of", fail)
    with pytest.raises(OSError, match=r"cannot write .*: No space left on device"):
        comparison.save(directory)
    assert (directory / "summary.json").stat().st_ino == before
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_the_directory_appears_when_it_is_complete(
    comparison: sojourn.Comparison, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "out"
    seen = []
    write = module._write_json

    def watching(*arguments: object) -> None:
        seen.append(directory.exists())
        write(*arguments)

    monkeypatch.setattr(module, "_write_json", watching)
    comparison.save(directory)
    assert seen
    assert not any(seen)
    assert directory.exists()


def test_a_full_disk(cli: Cli, tmp_path: Path) -> None:
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    out = tmp_path / "out"
    outcome = cli("run", HOME, "--duration", SHORT_S, "--out", out, preexec_fn=small_files)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr == f"error: cannot write {out}: File too large\n"
    assert list(tmp_path.iterdir()) == []


def test_others_may_read_it(saved: Path) -> None:
    mask = os.umask(0)
    os.umask(mask)
    assert saved.stat().st_mode & 0o777 == 0o777 & ~mask


def test_variant_names_become_safe_directory_names() -> None:
    expected = {
        "CoDel": "CoDel",
        "codel": "codel-2",
        "../up": "_up",
        "a/b": "a_b",
        "report.html": "report.html-2",
        "..": "run",
        "5 Mbps": "5 Mbps",
    }
    assert module.directory_names(expected) == list(expected.values())


def test_an_older_directory_is_replaced_but_not_read(
    saved: Path, comparison: sojourn.Comparison, tmp_path: Path
) -> None:
    old = tmp_path / "old"
    shutil.copytree(saved, old)
    summary = json.loads((old / "summary.json").read_text())
    (old / "summary.json").write_text(json.dumps({**summary, "format": "sojourn-output-2"}))
    with pytest.raises(StoreError, match=r"sojourn run .* --overwrite"):
        read_results(old)
    check(old, Wanted.of_results(comparison.groups))


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_a_file_is_not_written_over_anything_else(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    if kind == "pipe":
        os.mkfifo(file)
    elif kind == "device":
        file = Path("/dev/null")
    else:
        file.symlink_to("elsewhere")
    with pytest.raises(OSError, match=f"found a {kind}; allowed: the path of a file"):
        write_file(file, b"")
    assert not file.is_file() and os.path.lexists(file)
