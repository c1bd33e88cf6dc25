"""`sojourn config`: what is shown, what is written, and what is refused."""

import json
from pathlib import Path

import pytest
import sojourn
from conftest import ROOT, Cli
from test_cli_bad_input import assert_refused

DATA = ROOT / "tests" / "data" / "modem-configs"
HOME = DATA / "home-5x20.cm"
GIGABIT = DATA / "gigabit-voice.cm"
KEY = "testkey"


def test_show_has_a_line_per_tlv(cli: Cli) -> None:
    printed = cli.printed("config", "show", HOME)
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert lines[0] == "0 3 Network Access Control true"
    assert "21 24.8 Maximum Sustained Traffic Rate 5000000 bit/s" in lines
    assert "39 24.15 Service Flow Scheduling Type best_effort" in lines
    # 24.35 begins at 42: after the flow's 11 bytes of head and before, and 31 bytes of seven TLVs.
    assert "50 24.35.2 Target Buffer 31250 B" in lines
    # 7 at the top, 8 in the upstream flow, 3 in its buffer control, 5 in the downstream flow; then
    # an empty line, a heading, and 2 and 3 settings that the flows leave out.
    assert len(lines) == 7 + 8 + 3 + 5 + 2 + 2 + 3


def test_unknown_types_are_listed(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "odd.cfg"
    path.write_bytes(bytes([200, 2, 1, 2, 255]))
    assert cli("config", "show", path).stdout.split() == ["0", "200", "(unknown)", "0102"]
    tree = json.loads(cli("config", "show", path, "--json").stdout)
    assert tree == [{"type": "200", "offset": 0, "value": "0102"}]


def test_json_has_the_tree(cli: Cli) -> None:
    tree = json.loads(cli("config", "show", GIGABIT, "--json").stdout)
    assert [node["type"] for node in tree] == ["3", "18", "22", "24", "24", "25", "6", "7"]
    aqm = tree[3]["children"][-1]
    assert aqm["name"] == "AQM Encodings"
    assert [node["value"] for node in aqm["children"]] == [False, 15]
    assert aqm["children"][1]["unit"] == "ms"


@pytest.mark.parametrize("file", [HOME, GIGABIT])
def test_what_show_prints_write_reads(cli: Cli, tmp_path: Path, file: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(cli("config", "show", file, "--toml").stdout)
    out = tmp_path / "deep" / "new.cfg"
    printed = cli.printed("config", "write", out, "--from", settings, "--secret", KEY)
    assert printed == f"{out}: {file.stat().st_size} bytes\n"
    assert out.read_bytes() == file.read_bytes()
    assert [path.name for path in out.parent.iterdir()] == ["new.cfg"]


def test_without_a_secret_the_cmts_mic_is_left_out(cli: Cli, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("max_cpe = 4\n")
    out = tmp_path / "new.cfg"
    outcome = cli("config", "write", out, "--from", settings)
    # 3 bytes of max CPE, 18 of the CM MIC, the end marker and 2 of padding.
    assert outcome.stdout == f"{out}: 24 bytes, without a CMTS MIC (no --secret)\n"
    shown = cli("config", "show", out, "--secret", KEY)
    assert (shown.returncode, shown.stdout) == (2, cli("config", "show", out).stdout)
    assert "cmts_mic: missing" in shown.stderr


def test_a_secret_checks_the_digests(cli: Cli) -> None:
    outcome = cli("config", "show", HOME, "--secret", KEY)
    assert (outcome.returncode, outcome.stderr) == (0, f"{HOME}: CM MIC and CMTS MIC are valid\n")
    other = cli("config", "show", HOME, "--secret", "guess")
    assert (other.returncode, other.stdout) == (2, outcome.stdout)
    assert "byte 107: cmts_mic: found" in other.stderr


def test_a_digest_that_differs_is_told_without_a_secret(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "other.cm"
    file.write_bytes(HOME.read_bytes().replace(b"\x12\x01\x04", b"\x12\x01\x05", 1))
    outcome = cli("config", "show", file)
    assert outcome.returncode == 0
    assert "a modem refuses the file" in outcome.stdout
    assert "1 problem; without effect on what is simulated" in outcome.stderr


def test_a_file_is_not_written_over_what_it_is_made_of(cli: Cli, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text(cli("config", "show", HOME, "--toml").stdout)
    assert_refused(cli("config", "write", settings, "--from", settings), "which it is made of")
    assert settings.read_text().startswith("network_access")


def test_unchanged_settings_give_the_same_bytes_without_the_secret(
    cli: Cli, tmp_path: Path
) -> None:
    for file in (HOME, GIGABIT):
        settings, out = tmp_path / "settings.toml", tmp_path / "new.cfg"
        settings.write_text(cli("config", "show", file, "--toml").stdout)
        outcome = cli("config", "write", out, "--from", settings)
        assert outcome.stdout == f"{out}: {len(file.read_bytes())} bytes\n"
        assert out.read_bytes() == file.read_bytes()


def test_faulty_settings_are_kept_and_named(cli: Cli, tmp_path: Path) -> None:
    file, settings, out = (tmp_path / name for name in ("odd.cm", "odd.toml", "new.cm"))
    # Network access 9, a second max CPE, and a byte after the end marker.
    content = bytes([3, 1, 9, 18, 1, 4, 18, 1, 5, 255, 7])
    file.write_bytes(content)
    settings.write_text(cli("config", "show", file, "--toml").stdout)
    outcome = cli("config", "write", out, "--from", settings)
    assert out.read_bytes() == content
    assert [line.partition(": byte ")[2] for line in outcome.stderr.splitlines()] == [
        "0, TLV 3: network_access: found 9; allowed: true, false",
        "10: found 7 after the end marker; allowed: zeros",
        "6, TLV 18: max_cpe: second TLV 18; allowed: one",
    ]
    settings.write_text(settings.read_text().replace("max_cpe = 4", "max_cpe = 6"))
    outcome = cli("config", "write", out, "--from", settings)
    assert out.read_bytes()[:9] == bytes([3, 1, 9, 18, 1, 6, 18, 1, 5])
    assert f"warning: {out}: file.tail: found" in outcome.stderr


def test_text_with_a_byte_of_latin_1_is_text(cli: Cli, tmp_path: Path) -> None:
    text = tmp_path / "modem.txt"
    text.write_bytes(b"Main {\n\tNetworkAccess 1; /* caf\xe9 */\n}\n")
    assert_refused(cli("config", "show", text), f"{text}: found a text file; allowed: ")


def test_what_a_file_does_not_state_is_listed(cli: Cli, tmp_path: Path) -> None:
    shown, _, unstated = cli("config", "show", HOME).stdout.partition("\n\nnot in the file; ")
    assert "24.27 Peak Traffic Rate" in shown and "24.40" not in shown
    assert unstated.splitlines()[1:] == [
        "  upstream service flow 1: 24.10 Minimum Reserved Traffic Rate: none",
        "  upstream service flow 1: 24.40 AQM Encodings: the device's default",
        "  downstream service flow 2: 25.10 Minimum Reserved Traffic Rate: none",
        "  downstream service flow 2: 25.35 Buffer Control: the size is the device's choice",
        "  downstream service flow 2: 25.40 AQM Encodings: the device's default",
    ]


def test_python_reads_and_writes_files() -> None:
    file = sojourn.ConfigFile.from_bytes(HOME.read_bytes(), "home")
    again = sojourn.ConfigFile.from_toml(file.to_toml(), "home", KEY.encode())
    assert again.to_bytes() == HOME.read_bytes()
    cut_off = sojourn.ConfigFile.from_bytes(b"\x03\x01", "broken")
    with pytest.raises(sojourn.ConfigError) as refusal:
        cut_off.check("broken")
    assert (refusal.value.source, refusal.value.path) == ("broken", "byte 0, TLV 3: network_access")


def test_bad_files(cli: Cli, tmp_path: Path) -> None:
    broken = tmp_path / "broken.cfg"
    broken.write_bytes(HOME.read_bytes()[:40])
    shown = cli("config", "show", broken)
    assert shown.returncode == 0
    assert f"{broken}: 3 problems; `sojourn run` refuses the file" in shown.stderr
    where = f"{broken}: byte 9, TLV 24: upstream_service_flows.0: "
    assert_refused(cli("run", SCENARIO, "--config", broken, "--out", tmp_path / "out"), where)
    assert_refused(cli("config", "show", tmp_path), "directory")
    assert_refused(cli("config", "show", "nowhere.cfg"), "nowhere.cfg")
    assert_refused(
        cli("config", "show", HOME, "--json", "--toml"), "error: --json, --toml: found both"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"max_cpe = 300", "max_cpe: found 300; allowed: a whole number from 0 to 255"),
        (b"max_cpee = 3", "did you mean max_cpe?"),
        (b"max_cpe = [", "line 1"),
        (b"# caf\xe9", "not UTF-8 text (byte 5)"),
    ],
)
def test_bad_settings(cli: Cli, tmp_path: Path, text: bytes, words: str) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_bytes(text)
    out = tmp_path / "new.cfg"
    assert_refused(cli("config", "write", out, "--from", settings), str(settings), words)
    assert not out.exists()


def test_where_nothing_can_be_written(cli: Cli, tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    settings.write_text("max_cpe = 4\n")
    outcome = cli("config", "write", tmp_path, "--from", settings)
    assert_refused(outcome, f"cannot write {tmp_path}: ")
    assert [path.name for path in tmp_path.iterdir()] == ["settings.toml"]
    assert_refused(cli("config", "write", "/proc/new.cfg", "--from", settings), "/proc/new.cfg")


SCENARIO = ROOT / "scenarios" / "home.toml"
SIMPLE = """
duration_s = 2
upstream = { sustained_mbps = 1, peak_mbps = 2, burst_bytes = 20000 }
downstream = { sustained_mbps = 3, peak_mbps = 4, burst_bytes = 20000 }
servers.near = { delay_ms = 5 }
traffic.save = { kind = "transfer", server = "near" }
traffic.call = { kind = "stream", purpose = "voice", server = "near" }
"""


@pytest.mark.parametrize(("file", "mbps"), [(HOME, 5), (GIGABIT, 200)])
def test_a_scenario_runs_with_the_modem_of_a_file(cli: Cli, file: Path, mbps: float) -> None:
    cli.printed("run", SCENARIO, "--config", file, "--duration", "2", "--quiet")
    for variant in sojourn.load(SCENARIO, config=file):
        assert json.loads(variant.to_json())["upstream"]["sustained_mbps"] == mbps


def test_variants_that_differ_in_what_the_file_sets_are_named_for_it(tmp_path: Path) -> None:
    scenario = tmp_path / "queues.toml"
    scenario.write_text(
        SIMPLE
        + """
        [compare.tail]
        [compare.PIE]  # the file leaves AQM to the modem, which has DOCSIS-PIE
        upstream.queue.law.kind = "docsis_pie"
        [compare.small]
        upstream.queue.limit_bytes = 9000
        """
    )
    (found,) = sojourn.load(scenario, config=HOME)
    assert found.name == "home-5x20.cm"
    shown = "3 variants are equal, because home-5x20.cm overrides the keys in which they differ: "
    assert any(str(note).startswith(shown) for note in found.notes)


def test_what_is_not_simulated_is_told(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "simple.toml"
    scenario.write_text(SIMPLE)
    note = (
        'upstream.priority has no effect where upstream.modem.kind = "single_queue": '
        "home-5x20.cm sets it"
    )
    outcome = cli("validate", scenario, "--config", HOME)
    assert (outcome.returncode, outcome.stderr) == (0, f"warning: {note}\n")
    result = sojourn.run(scenario, config=HOME)
    (warning,) = (one for one in result.warnings if str(one) == note)
    assert (warning.code, warning.path) == ("idle-key", "upstream.priority")
    # A single service flow has no other to go before on a shared channel either.
    assert warning.remedy == {}
    assert_refused(cli("run", scenario, "--config", scenario), f"{scenario}: found a text file")
    assert_refused(cli("run", scenario, "--config", "nowhere.cfg"), "nowhere.cfg")


def test_a_file_is_written_from_a_scenario(cli: Cli, tmp_path: Path) -> None:
    scenario, out = tmp_path / "simple.toml", tmp_path / "new.cfg"
    scenario.write_text(SIMPLE)
    cli.printed("config", "write", out, "--scenario", scenario, "--secret", KEY)
    [variant] = sojourn.load(SIMPLE, set=["upstream.peak_mbps=9"], config=out)
    upstream = json.loads(variant.to_json())["upstream"]
    assert (upstream["sustained_mbps"], upstream["peak_mbps"]) == (1, 9)
    assert upstream["burst_bytes"] == 20000
    assert cli("config", "show", out, "--secret", KEY).returncode == 0


def test_of_variants_and_homes_one_is_named(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "new.cfg"
    write = ("config", "write", out, "--scenario", SCENARIO)
    assert_refused(cli(*write), "--variant: missing; allowed: BufferBloat")
    assert_refused(cli(*write, "--variant", "X"), "--variant: found 'X'; allowed: BufferBloat")
    outcome = cli(*write, "--variant", "CoDel")
    assert "warning: upstream.queue.law: not written" in outcome.stderr
    assert_refused(
        cli(*write, "--variant", "CoDel", "--home", "x"), 'homes: found "x"; allowed: home'
    )
    assert_refused(cli("config", "write", out), "error: --from, --scenario: missing; allowed: one")


def test_a_router_that_is_not_written_is_named(cli: Cli, tmp_path: Path) -> None:
    out, scenario = tmp_path / "new.cfg", tmp_path / "router.toml"
    router = 'router.upstream = { rate_mbps = 1, queue.scheduler.kind = "cake" }'
    scenario.write_text(f"{router}\n{SIMPLE}")
    outcome = cli("config", "write", out, "--scenario", scenario)
    (warning,) = (line for line in outcome.stderr.splitlines() if "router" in line)
    assert warning.startswith("warning: router: not written: a file configures modems")


def test_a_neighbourhood_has_the_service_of_the_file(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "tiers.toml"
    own = "tier_4.upstream = { sustained_mbps = 50, peak_mbps = 60 }"
    text = (ROOT / "scenarios" / "tiers.toml").read_text().replace("tier_4 = {}", own)
    scenario.write_text(text)
    # 50 Mbps with the peak rate of the file, 20 Mbps, would be refused.
    cli.printed("run", scenario, "--config", HOME, "--duration", 1, "--quiet")
