"""Real packets that a program hands to a simulation, and records of them."""

import json
import struct
import tomllib
from pathlib import Path

import pyarrow.compute as pc
import pytest
import sojourn
from conftest import Cli
from sojourn.base.errors import InputError
from sojourn.runs.emulated_homes import with_homes
from sojourn.runs.emulation import words_of

LINE = """
duration_s = 2
clock_drift_ppm = 0
baseline = false
upstream.modem.kind = "link"
upstream.sustained_mbps = 10
upstream.burst_bytes = 1600
upstream.queue.limit_bytes = 15_000
downstream = { sustained_mbps = 100, peak_mbps = 100, burst_bytes = 1600 }
servers.near.delay_ms = 5
metrics.packet_trace = true
"""
REAL = LINE + "traffic.mine.kind = 'outside'\n"


STREET = {
    **tomllib.loads(LINE),
    "homes": {name: {} for name in ("ours", "neighbours", "other, too", "server")},
    "traffic": {"game": {"kind": "transfer", "home": "ours"}},
}


def homes_of(scenario: object, program: str, *others: str) -> list[tuple[str, str, list[str]]]:
    """Group, entry and names of the homes that programs are behind."""
    variant, homes = with_homes(sojourn.load(scenario)[0], program, [(g, "ping") for g in others])
    kinds = {name: of["kind"] for name, of in json.loads(variant.to_json())["traffic"].items()}
    assert all(kinds[one.entry] == "outside" for one in homes)
    return [(one.group, one.entry, list(one.hosts)) for one in homes]


def test_programs_know_homes_by_their_groups() -> None:
    """The first one is `home` too; an entry has the program's name, or the next that is free."""
    ours = ("ours", "game-2", ["home", "ours"])
    others = [
        ("neighbours", "ping-neighbours", ["neighbours"]),
        ("other, too", "ping-other-too", ["other-too"]),
    ]
    assert homes_of(STREET, "game", "neighbours", "other, too") == [ours, *others]
    alone = {**STREET, "homes": {}, "traffic": {"game": {"kind": "transfer"}}}
    assert homes_of(alone, "ping") == [("home", "ping", ["home"])]
    with pytest.raises(InputError, match=r"'server', which programs would know .* of another end"):
        homes_of(STREET, "ping", "server")
    with pytest.raises(InputError, match="'ours', where the first program is; allowed: 'neigh"):
        homes_of(STREET, "ping", "ours")


def test_a_program_is_words_as_in_a_shell() -> None:
    words = ["ping", "-c", "1", "a b"]
    assert words_of("ping -c 1 'a b'") == words_of(words) == words_of(tuple(words)) == words
    for wrong in ("", " ", [], [""], ["", "-c"], [3], "ping 'a"):
        with pytest.raises(InputError, match=r"found .*; allowed: "):
            words_of(wrong)


def udp(payload: int, ecn: int = 0) -> bytes:
    """An IPv4 packet from 10.0.0.2, port 4000, to 203.0.113.5, port 5000."""
    addresses = bytes([10, 0, 0, 2, 203, 0, 113, 5])
    ip = struct.pack(">BBHIBBH", 0x45, ecn, 28 + payload, 0, 64, 17, 0) + addresses
    return ip + struct.pack(">HHHH", 4000, 5000, 8 + payload, 0) + bytes(payload)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, sojourn.Result, set[int]]:
    """A record of 1000 packets, more than the line carries, with the result and what was lost."""
    path = tmp_path_factory.mktemp("record") / "real packets.pcapng"
    simulation = sojourn.Simulation(REAL, record=path)
    lost: set[int] = set()
    arrived: set[int] = set()
    for number in range(1000):
        assert simulation.inject("mine", "up", udp(1472), at_s=number / 1000) == number
        lost |= {one.handle for one in simulation.lost()}
        arrived |= {one.handle for one in simulation.arrived()}
    simulation.run_until(1.5)
    lost |= {one.handle for one in simulation.lost()}
    arrived |= {one.handle for one in simulation.arrived()}
    # 1518 B each ms are 12.144 Mbps, and 15 000 B wait: a sixth is lost.
    assert (not lost & arrived, len(lost | arrived)) == (True, 1000)
    assert 150 < len(lost) < 180
    return path, simulation.finish(), lost


def test_a_replay_of_the_record_is_the_same_run(
    recorded: tuple[Path, sojourn.Result, set[int]],
) -> None:
    path, result, lost = recorded
    # The record has the entry.
    again = sojourn.run(LINE, replay=path)
    assert isinstance(again, sojourn.Result)
    assert again.meta["fingerprint"] == result.meta["fingerprint"]
    assert again.meta["duration_s"] == result.meta["duration_s"] == 1.5
    packets = again.packets
    dropped = packets.filter(pc.not_equal(packets["outcome"], "delivered"))
    assert set(dropped["handle"].to_pylist()) == lost
    assert set(packets["home_port"].to_pylist()) == {4000}
    assert set(packets["server_port"].to_pylist()) == {5000}
    assert not any(warning.code == "open-loop" for warning in again.warnings)


def test_what_comes_at_the_start_follows_other_traffic(tmp_path: Path) -> None:
    """A record has it behind all that begins then."""
    both = LINE + "traffic.upload = { kind = 'transfer', direction = 'up' }\n"
    real = both + "traffic.mine.kind = 'outside'\n"
    simulation = sojourn.Simulation(real, record=tmp_path / "start.pcapng")
    simulation.inject("mine", "up", udp(100), at_s=0)
    simulation.run_until(1)
    result = simulation.finish()
    again = sojourn.run(both, replay=tmp_path / "start.pcapng")
    assert isinstance(again, sojourn.Result)
    assert again.meta["fingerprint"] == result.meta["fingerprint"]


def test_another_queue_is_an_open_loop_which_the_answer_says(
    capsys: pytest.CaptureFixture[str], recorded: tuple[Path, sojourn.Result, set[int]]
) -> None:
    path, *_ = recorded
    other = sojourn.run(LINE, replay=path, set=["upstream.queue.law.kind=codel"])
    assert isinstance(other, sojourn.Result)
    said = [warning for warning in other.warnings if warning.code == "open-loop"]
    assert len(said) == 1
    assert "(upstream.queue.law.kind)" in said[0].message
    other.summary()
    shown = capsys.readouterr().out
    assert "open loop" in shown
    assert "Not graded: outside (mine)" in shown


def test_another_line_is_refused_unless_asked_for(
    cli: Cli, tmp_path: Path, recorded: tuple[Path, sojourn.Result, set[int]]
) -> None:
    path, *_ = recorded
    scenario = tmp_path / "line.toml"
    scenario.write_text(LINE)
    command = ["run", scenario, "--replay", path, "--set", "servers.near.delay_ms=6"]
    outcome = cli(*command)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("error: --replay")
    assert "servers.near.delay_ms" in outcome.stderr
    assert "--replay-anyway" in outcome.stderr
    anyway = cli(*command, "--replay-anyway", "--json")
    assert anyway.returncode == 0, anyway.stderr
    assert json.loads(anyway.stdout)
    alone = cli("run", scenario, "--replay-anyway")
    assert (alone.returncode, "--replay too" in alone.stderr) == (2, True)


def test_packets_from_nowhere_are_refused(cli: Cli, tmp_path: Path) -> None:
    scenario = tmp_path / "line.toml"
    scenario.write_text(REAL)
    outcome = cli("run", scenario)
    assert (outcome.returncode, outcome.stdout) == (2, "")
    assert "traffic.mine.record: missing" in outcome.stderr
    assert "Traceback" not in outcome.stderr
    gone = cli("run", scenario, "--replay", tmp_path / "gone.pcapng")
    assert (gone.returncode, "gone.pcapng" in gone.stderr) == (2, True)
    (tmp_path / "text.pcapng").write_text("no record")
    other = cli("run", scenario, "--replay", tmp_path / "text.pcapng")
    assert (other.returncode, "allowed: a complete record" in other.stderr) == (2, True)


def test_what_is_no_packet_is_refused() -> None:
    simulation = sojourn.Simulation(REAL)
    for packet, words in [(b"", "end before"), (b"\x55" * 40, "neither"), (udp(9000), "9028")]:
        with pytest.raises(ValueError, match=words):
            simulation.inject("mine", "up", packet)
    with pytest.raises(ValueError, match="allowed: up, down"):
        simulation.inject("mine", "left", udp(9))
    with pytest.raises(ValueError, match="kind"):
        simulation.inject("yours", "up", udp(9))
    simulation.run_until(2)
    with pytest.raises(ValueError, match="over"):
        simulation.inject("mine", "up", udp(9))


def test_real_packets_are_in_a_capture_for_wireshark(
    cli: Cli, tmp_path: Path, recorded: tuple[Path, sojourn.Result, set[int]]
) -> None:
    recorded[1].save(tmp_path / "out")
    written = tmp_path / "home.pcapng"
    command = ["--format", "pcapng", "--out", written, "--point", "home"]
    outcome = cli("export", tmp_path / "out", *command)
    assert outcome.returncode == 0, outcome.stderr
    content = written.read_bytes()
    # Each with its ports, and what became of it.
    assert content.count(struct.pack(">HHH", 4000, 5000, 1480)) == 1000
    assert content.count(b"real packet ") == 1000
    assert b"real packet 999" in content
    # What such a run does not know the file says; the replay of a record knows it.
    own = bytes([10, 0, 0, 2, 203, 0, 113, 5])
    assert b"headers of real packets are stand-ins (mine)" in content and own not in content
    replayed = sojourn.run(LINE, replay=recorded[0])
    assert isinstance(replayed, sojourn.Result)
    replayed.save(tmp_path / "again")
    assert cli("export", tmp_path / "again", *command).returncode == 0
    content = written.read_bytes()
    assert content.count(own + udp(1472)[20:28]) == 1000 and b"stand-ins" not in content


def test_a_real_header_keeps_all_but_its_class() -> None:
    from sojourn.export.headers import with_class

    six = bytes([0x6A, 0xBC, 0xDE, 0xF0]) + bytes(range(36))
    # 0x2e << 2 | 3 = 0xbb
    assert with_class(six, 0xBB) == bytes([0x6B, 0xBC]) + six[2:]
    four = with_class(udp(8), 0xBB)
    assert (four[1], four[12:]) == (0xBB, udp(8)[12:])
    # The sum over a header with its own checksum is that of nothing.
    words = sum(struct.unpack(">10H", four[:20]))
    assert (words & 0xFFFF) + (words >> 16) == 0xFFFF


def test_answers_are_of_the_homes_that_have_programs() -> None:
    street = REAL + "homes = { ours = {}, others = { count = 3 } }\n"

    def judged(*more: str) -> str | None:
        (variant,) = sojourn.load("\n".join([street, *more]))
        homes: str | None = json.loads(variant.to_json())["metrics"].get("homes")
        return homes

    assert judged() == "ours"
    assert judged("traffic.mine.home = 'others'") == "others"
    assert judged("metrics.homes = 'others'") == "others"
    assert judged("traffic.theirs = { kind = 'outside', home = 'others' }") is None
