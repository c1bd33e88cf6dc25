"""The command, used as it should be."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import sojourn
from conftest import HOME, SHORT_S, VARIANTS, Cli, started
from sojourn.cli.programs import split
from sojourn.runs.scenario_keys import reference
from stores import Inside


def test_summary_has_a_row_per_variant_and_stderr_stays_empty(cli: Cli) -> None:
    printed = cli.printed("run", HOME, "--duration", SHORT_S)
    for name in VARIANTS:
        assert sum(line.strip().startswith(name + "  ") for line in printed.splitlines())
    assert "\x1b" not in printed
    lines = [line for line in printed.splitlines() if not line.startswith("warning: ")]
    assert max(map(len, lines)) <= 80


def test_transfers_that_a_sum_hides_are_shown_one_by_one(cli: Cli) -> None:
    shown = cli("run", HOME.with_name("tiers.toml"), "--duration", "2", "--all").stdout
    _, _, shown = shown.partition("Rate of each transfer")
    assert re.search(r"low +middle +high\s+variant +down +down +down", shown)
    # By weights of 1, 2 and 4 the middle has twice what the lowest has, give or take slow start.
    row = re.search(r"weighted +([\d.]+) +([\d.]+) +[\d.]+ *$", shown, re.MULTILINE)
    assert row and 1.5 < float(row[2]) / float(row[1]) < 2.5


def test_summary_of_a_lone_run_lists_flows_and_queues(cli: Cli, alone: Path) -> None:
    outcome = cli("run", alone, "--duration", SHORT_S, "--all")
    words = {line.split()[0] for line in outcome.stdout.splitlines() if line.strip()}
    assert {"game", "call", "web", "upload", "upstream", "downstream"} <= words


def test_columns_of_absent_qualities_are_left_out(cli: Cli, tmp_path: Path) -> None:
    text = HOME.read_text()
    before, _, rest = text.partition("[traffic.game]")
    after = rest[rest.index("[traffic.web]") :]
    path = tmp_path / "quiet.toml"
    path.write_text(before + after)
    outcome = cli("run", path, "--duration", SHORT_S)
    tables, _, _ = outcome.stdout.partition("warning: ")
    assert "game" not in tables
    assert "voice" not in tables
    assert "upload" in outcome.stdout


def test_json_is_all_there_is_on_stdout(cli: Cli) -> None:
    printed = cli.printed("run", HOME, "--duration", SHORT_S, "--seed", 7, "--json")
    summary = json.loads(printed)
    keys = ["format", "title", "version", "variants", "means", "until", "verdict"]
    assert list(summary) == keys
    assert [variant["name"] for variant in summary["variants"]] == VARIANTS
    for variant in summary["variants"]:
        assert (variant["seed"], variant["duration_s"]) == (7, SHORT_S)
        assert len(variant["fingerprint"]) == 16
        assert {*variant["summary"], "upload_mbps"} == {
            "game_rtt_p50_ms",
            "game_rtt_p90_ms",
            "game_rtt_p99_ms",
            "game_over_20_ms_percent",
            "game_loss_percent",
            "voice_mos",
            "page_load_median_s",
            "upload_mbps",
            "upstream_queue_mean_ms",
            "upstream_queue_p50_ms",
            "upstream_queue_p99_ms",
            "downstream_queue_mean_ms",
            "downstream_queue_p50_ms",
            "downstream_queue_p99_ms",
        }
        assert [queue["queue"] for queue in variant["queues"]] == ["upstream", "downstream"]
        assert {"traffic", "quality", "direction", "loss_percent"} <= set(variant["flows"][0])


def test_quiet_prints_nothing(cli: Cli, tmp_path: Path) -> None:
    printed = cli.printed("run", HOME, "--duration", SHORT_S, "--quiet", "--out", tmp_path / "out")
    assert printed == ""


def test_set_wins_over_file_and_variants(cli: Cli) -> None:
    settings = ["--set", "duration_s=2", "--set", 'compare.CoDel.title="mine"']
    summary = json.loads(cli("run", HOME, *settings, "--json").stdout)
    assert {variant["duration_s"] for variant in summary["variants"]} == {2}


def test_nothing_is_written_unless_asked_for(cli: Cli, tmp_path: Path) -> None:
    assert cli("run", HOME, "--duration", SHORT_S, cwd=tmp_path).returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_warnings_are_shown(cli: Cli) -> None:
    outcome = cli("run", HOME, "--duration", 2, "--set", "traffic.web.start_s=50")
    assert outcome.stdout.count("warning: traffic.web sends nothing: it starts at 50 s") == 1


def test_a_run_in_which_nothing_happens(cli: Cli, alone: Path, tmp_path: Path) -> None:
    late = [f"--set=traffic.{name}.start_s=50" for name in ("game", "call", "web", "upload")]
    cli.printed("run", alone, "--duration", 1, *late, "--out", tmp_path / "out")
    assert (tmp_path / "out" / "report.html").exists()


def test_validate(cli: Cli, tmp_path: Path, alone: Path) -> None:
    first, *changes = cli("validate", HOME).stdout.splitlines()
    assert first == f"{HOME}: valid (compares {', '.join(VARIANTS[:-1])})"
    assert changes == list(dict.fromkeys(map(str, sojourn.changes(HOME))))
    assert cli("validate", alone).stdout.splitlines()[0] == f"{alone}: valid"


def test_schema(cli: Cli) -> None:
    schema = json.loads(cli("schema").stdout)
    assert {"duration_s", "upstream", "traffic", "compare"} <= set(schema["properties"])
    assert schema["$id"] == "urn:sojourn:scenario"


def test_schema_of_a_part(cli: Cli, tmp_path: Path) -> None:
    queue = cli("schema", "upstream.queue").stdout
    assert "upstream.queue.limit_bytes\n" in queue and "Unit: bytes. Range: 1 to" in queue
    assert 'Default: kind = "fifo"' in queue
    law = cli("schema", "upstream.flows.voice.queue.law").stdout
    assert "docsis_pie: " in law and "target_ms" not in law
    assert "law.target_ms" in cli("schema", "upstream.queue.law.docsis_pie").stdout
    assert "Required" in cli("schema", "upstream.sustained_mbps").stdout
    # A name that is left out is shown; words alone are looked for: names, then meanings.
    assert cli("schema", "servers.host_jitter_us").stdout.startswith(
        "servers.NAME.host_jitter_us\n"
    )
    for word, first in (
        ("host_jitter_us", "servers.NAME.host_jitter_us: "),
        ("bbr1", "tcp.congestion_control.bbr1: "),
        ("padding", "cable.byte_count: "),
    ):
        assert cli("schema", word).stdout.startswith(first)
    assert "found 'nonsense'; allowed: title, " in cli("schema", "nonsense").stderr
    message = cli.refused("schema", "upstream.que")
    assert "key of upstream: found 'que'" in message
    out = tmp_path / "scenario.schema.json"
    assert cli("schema", "--out", out).returncode == 0
    assert out.read_text() == cli("schema").stdout


@pytest.mark.parametrize(("path", "deep"), [("dialect", 4), ("tcp", 6)])
def test_the_words_of_a_key_stand_deeper_than_its_text(path: str, deep: int) -> None:
    text = reference(path, 60)
    assert f"\n{deep * ' '}Text." in text
    for word in ("rfc", "ns2", "linux"):
        assert f"\n{(deep + 2) * ' '}{word}: " in text
    assert max(map(len, text.splitlines())) <= 60


def test_version(cli: Cli) -> None:
    assert cli("--version").stdout == f"sojourn {sojourn.__version__}\n"


def test_help_without_arguments(cli: Cli) -> None:
    printed = cli.printed()
    assert all(command in printed for command in ("run", "validate", "schema"))


def test_help_names_arguments_and_cuts_no_summary_off(cli: Cli) -> None:
    run = cli("run", "--help").stdout
    assert "\n  SCENARIO  Scenario files, or names" in run
    pages = [cli(*group, "--help").stdout for group in ((), ("config",), ("study",))]
    assert "ready to\n" in pages[0]  # the longest summary goes on in the next line
    for page in (run, cli("study", "snapshot", "--help").stdout, *pages):
        assert "..." not in page.partition("\n")[2] and "<" not in page


@pytest.mark.parametrize(
    ("typed", "own", "first", "further"),
    [
        ("s.toml --json", "s.toml --json", "", {}),
        ("s.toml -- ping -c 1 -- x", "s.toml", "ping -c 1 -- x", {}),
        ("s --home a -- p -q --home b -- r", "s", "", {"a": "p -q", "b": "r"}),
        ("s -- p --home a -- q -- x --home=b -- r", "s", "p", {"a": "q -- x", "b": "r"}),
        # The option of a program is its own, unless -- follows.
        ("s -- p --home a b", "s", "p --home a b", {}),
        ("s --home a --json -- p", "s --home a --json", "p", {}),
        ("s --home", "s --home", "", {}),
    ],
)
def test_programs_of_a_command_line_are_told_apart(
    typed: str, own: str, first: str, further: Mapping[str, str]
) -> None:
    expected = [(home, words.split()) for home, words in further.items()]
    assert split(typed.split()) == (own.split(), first.split(), expected)


def test_a_reader_that_goes_away_is_no_error() -> None:
    command = (sys.executable, "-m", "sojourn", "schema")
    with started(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == ""


def test_a_full_disk_behind_stdout_is_told(cli: Cli) -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "sojourn", "schema"]
        outcome = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (outcome.returncode, outcome.stderr) == (2, "error: No space left on device\n")


def test_a_terminal_that_knows_only_ascii(cli: Cli) -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    outcome = cli("run", HOME, "--duration", SHORT_S, env=ascii_only)
    assert (outcome.returncode, outcome.stderr) == (0, "")
    assert "SFQ-CoDel" in outcome.stdout


def test_defects_are_told_apart_from_bad_input(
    monkeypatch: pytest.MonkeyPatch, inside: Inside
) -> None:
    def broken(*_: object) -> None:
        raise sojourn.Defect("a defect in sojourn, please report: no")

    monkeypatch.setattr("sojourn.runs.threads.run_native", broken)
    done = inside("run", HOME)
    assert (done.returncode, done.stderr) == (1, "error: a defect in sojourn, please report: no\n")
