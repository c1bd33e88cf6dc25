"""Real programs over emulated lines, in namespaces that the tests make. No test asserts a time."""

import json
import math
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import PATIENT_S, Cli, read_until, started, wait_until
from hostile_parts import CHOSEN, HOOK, REST
from sojourn.analysis.limits import failures, limit

DEVICE = Path("/dev/net/tun")


def why_not() -> str:
    """Why this machine cannot emulate."""
    if sys.platform != "linux":
        return "emulation needs Linux"
    if os.geteuid() != 0:
        return "these tests make namespaces as root"
    try:
        os.close(os.open(DEVICE, os.O_RDWR))
        subprocess.run(["unshare", "--net", "--mount", "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"emulation needs {DEVICE} and namespaces: {error}"
    return ""


missing = why_not()
pytestmark = pytest.mark.skipif(bool(missing), reason=missing)

LINE = """
title = "10 Mbps up, 50 Mbps down"
duration_s = 60
upstream = { sustained_mbps = 10, peak_mbps = 10, burst_bytes = 3044, queue.limit_bytes = 64_000 }
downstream = { sustained_mbps = 50, peak_mbps = 50, burst_bytes = 3044 }
servers.games.delay_ms = 5
traffic.game = { kind = "stream", purpose = "game", server = "games" }
"""


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("line") / "line.toml"
    path.write_text(LINE)
    return path


STREET = f"""{LINE}
homes = {{ ours = {{}}, neighbours = {{ count = 2 }}, "other, too" = {{}}, server = {{}} }}
"""


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("street") / "street.toml"
    path.write_text(STREET)
    return path


def needs(*programs: str) -> None:
    for program in programs:
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not installed")


def test_packets_of_a_program_cross_the_line(line: Path, cli: Cli, tmp_path: Path) -> None:
    needs("ping")
    out = tmp_path / "out"
    ping = ["ping", "-c", "4", "-i", "0.1", "-W", "30", "server"]
    done = cli("emulate", line, "--json", "--out", out, "--max-late", "1e5", "--", *ping)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["emulation"]["packets"] == 8 and not document["emulation"]["is_too_late"]
    flows = sojourn.open(out).flows.to_pylist()
    real = {row["direction"]: row for row in flows if row["traffic"] == "ping"}
    assert [real[way]["delivered_packets"] for way in ("up", "down")] == [4, 4]
    # The same command again replaces its results, however long its program took.
    again = cli("emulate", line, "--out", out, "--max-late", "1e5", "--", *ping)
    assert (again.returncode, again.stderr) == (0, ""), again.stderr
    # 5 ms to the server, the cable, and up to a MAP interval: a packet is never early.
    round_trips = [float(text.split()[0]) for text in done.stderr.split("time=")[1:]]
    assert len(round_trips) == 4 and min(round_trips) > 10


def test_names_are_those_of_the_ends_and_all_protocols_cross(line: Path) -> None:
    with sojourn.emulate(line) as emulation:
        for way in ("-4", "-6"):
            ping = f"ping {way} -q -c 1 -W 30"
            assert emulation.run(f"{ping} server").returncode == 0
            assert emulation.run(f"{ping} home", at="server").returncode == 0
        hosts = emulation.run("getent hosts home server").stdout.split()
        assert {"home", "server"} <= set(hosts)
        # Nothing else is in their network.
        assert emulation.run("ping -q -c 1 -W 1 192.0.2.1").returncode != 0
        seen = emulation.run("ip -brief link").stdout
        assert {row.split()[0] for row in seen.splitlines()} == {"lo", "cable0"}
    assert emulation.result.meta["emulation"]["refused_packets"] == 0
    assert "home" not in Path("/etc/hosts").read_text().split()


def test_a_file_arrives_as_it_is_and_its_replay_has_the_same_bits(
    line: Path, tmp_path: Path
) -> None:
    needs("curl")
    content = bytes(number * number % 251 for number in range(300_000))
    (tmp_path / "file").write_bytes(content)
    server = [sys.executable, "-m", "http.server", "8000", "--directory", str(tmp_path)]
    record = tmp_path / "record.pcapng"
    marks = {"downstream.queue.law": '{ kind = "codel", target_ms = 1 }'}
    settings = [f"{key}={value}" for key, value in marks.items()]
    with sojourn.emulate(line, set=settings, server=server, record=record) as emulation:
        assert not record.exists()
        got = emulation.run(["curl", "-s", "-o", str(tmp_path / "got"), "http://server:8000/file"])
        assert got.returncode == 0
    assert (tmp_path / "got").read_bytes() == content
    again = sojourn.run(line, set=settings, replay=record)
    live = emulation.result
    assert again.meta["fingerprint"] == live.meta["fingerprint"]
    for table in ("flows", "queues"):
        assert getattr(again, table).drop_columns([]).equals(getattr(live, table))
    # Another queue for these packets is an open loop, and the answer says so.
    other = sojourn.run(line, replay=record)
    assert [one.code for one in other.warnings if one.code == "open-loop"]
    # A record beside a program would take its packets.
    with pytest.raises(sojourn.InputError, match=r"^traffic\.program\.record: found .*: none in"):
        sojourn.emulate(line, set={"traffic.program": {"kind": "outside", "record": str(record)}})


def test_the_status_is_that_of_the_program(line: Path, cli: Cli) -> None:
    done = cli("emulate", line, "--quiet", "--", "sh", "-c", "echo said; exit 7")
    assert (done.returncode, done.stdout, done.stderr) == (7, "said\n", "")
    done = cli("emulate", line, "--duration", "0.2", "--", "sleep", "1000")
    assert done.returncode == 0 and " s, as --duration says; " in done.stdout
    assert "no packet of the real programs was delivered" in done.stdout


def test_packets_that_are_too_late_make_no_verdict(line: Path, cli: Cli) -> None:
    needs("ping")
    ping = ["ping", "-q", "-c", "2", "-i", "0.1", "-W", "30", "server"]
    # No machine writes a packet in a thousandth of a microsecond.
    done = cli("emulate", line, "--max-late", "1e-3", "--", *ping)
    assert done.returncode == 3
    assert done.stderr.startswith("too late to trust: p99.9 of lateness is ")
    assert "No verdict" in done.stdout and "lateness p50" in done.stdout
    # The likely cure stands in the line that all see; few packets have no thousandth.
    with sojourn.emulate(line, max_late_ms=1e-3) as emulation:
        emulation.run(ping)
    kept = emulation.result.meta["emulation"]
    is_bound = not (kept["real_time_priority"] and kept["locked_memory"])
    assert ("rtprio" if is_bound else "a machine with less to do") in done.stderr
    (said,) = [one.message for one in emulation.result.warnings if one.code == "too-late"]
    assert "the latest of 4 packets" in said
    # No limit is reached by what cannot be trusted, whatever was measured.
    for text in ("poor", "game p99 < 1e9"):
        (failure,) = failures(emulation.result.groups, [limit(text, "--fail-below")])
        assert failure.startswith("packets of the real programs were too late to trust"), failure


def test_programs_of_further_homes_are_behind_their_own_modems(
    street: Path, cli: Cli, tmp_path: Path
) -> None:
    """Each knows the others by name, has its own entry, and its packets are replayed to the bit."""
    needs("ping")
    out, record = tmp_path / "out", tmp_path / "record.pcapng"
    options = ["--json", "--out", out, "--record", record, "--max-late", "1e5"]
    first = ["ping", "-q", "-c", "2", "-i", "0.1", "-W", "30", "neighbours"]
    neighbours = ["sh", "-c", "ping -q -c 1 -W 30 server && ping -q -c 1 -W 30 home; sleep 1000"]
    other = ["--home=other, too", "--", "sh", "-c", "exit 7"]
    further = ["--home", "neighbours", "--", *neighbours, *other]
    done = cli("emulate", street, *options, "--", *first, *further)
    # That of the home which failed; what the end of the run ended has not.
    assert done.returncode == 7, done.stderr
    assert done.stderr.endswith("home other, too: sh ended with status 7\n")
    kept = json.loads(done.stdout)["emulation"]
    entries = {"ours": "ping", "neighbours": "sh-neighbours", "other, too": "sh-other-too"}
    assert kept["homes"] == entries
    result = sojourn.open(out)
    sent = {
        (row["traffic"], row["direction"]): row["delivered_packets"]
        for row in result.flows.to_pylist()
    }
    # Requests or answers of two pings from home to the neighbours and of one back, and those of the
    # one to the server.
    assert [sent["ping", way] for way in ("up", "down")] == [3, 3]
    assert [sent["sh-neighbours", way] for way in ("up", "down")] == [4, 4]
    again = sojourn.run(street, replay=record)
    assert again.meta["fingerprint"] == result.meta["fingerprint"]
    assert again.flows.drop_columns([]).equals(result.flows)


def test_a_home_has_an_end_in_python(street: Path) -> None:
    hosts = ["getent", "hosts", "home", "ours", "neighbours", "server"]
    with sojourn.emulate(street, homes="neighbours") as line:
        assert line.run("true").returncode == 0
        at_home, there = (line.run(hosts, at=at).stdout for at in ("home", "neighbours"))
        with pytest.raises(ValueError, match="at: found 'ours'; allowed: 'home', 'server', 'neig"):
            line.run("true", at="ours")
    assert at_home == there
    assert [row.split()[0] for row in at_home.splitlines()] == [f"2001:2::{n}" for n in "1132"]
    # The home that grades are of is the first, and a home may be given by its entry.
    settings = ["metrics.homes=neighbours", "traffic.own.kind=outside", "traffic.own.home=ours"]
    assert [home.group for home in sojourn.emulate(street, set=settings[:1])._homes] == [
        "neighbours"
    ]
    line = sojourn.emulate(street, set=settings, homes=["neighbours"])
    assert [(home.group, home.entry) for home in line._homes] == [
        ("ours", "own"),
        ("neighbours", "program-neighbours"),
    ]


@pytest.mark.parametrize(
    ("homes", "words"),
    [
        (["street"], "found 'street'; allowed: 'neighbours', 'other, too', 'server'"),
        (["ours"], "found 'ours', where the first program is; allowed: 'neighbours', 'other, too'"),
        (["neighbours", "neighbours"], "found 'neighbours' twice; allowed: 'other, too', 'server'"),
        (["server"], "found 'server', which programs would know by the name 'server' of another"),
    ],
)
def test_a_home_that_cannot_have_an_end_has_one_message(
    street: Path, homes: Sequence[str], words: str
) -> None:
    with pytest.raises(sojourn.InputError, match=f"^homes: {re.escape(words)}"):
        sojourn.emulate(street, homes=homes)


UPLINK = """
import http.server, subprocess, sys, threading, sojourn
subprocess.run("ip link set lo up && ip addr add 203.0.113.1/32 dev lo", shell=True, check=True)
page = http.server.SimpleHTTPRequestHandler
server = http.server.ThreadingHTTPServer(("203.0.113.1", 8000), page)
threading.Thread(target=server.serve_forever, daemon=True).start()
see = "ip -o link; ip route show table all; ip rule"
seen = lambda: subprocess.run(see, shell=True, capture_output=True).stdout
before = seen()
fetch = "curl -s --max-time 30 http://203.0.113.1:8000/page"
with sojourn.emulate(sys.argv[1], homes="neighbours", uplink=True) as line:
    print(line.run(fetch).stdout, line.run(fetch, at="neighbours").stdout)
    print(seen() == before)
with sojourn.emulate(sys.argv[1]) as line:
    print(line.run(fetch).returncode, seen() == before)
"""


def test_an_uplink_leads_into_the_network_of_the_machine(street: Path, tmp_path: Path) -> None:
    """Here it is one that the test makes. Without an uplink there is no way (7 of curl)."""
    needs("curl", "ip", "slirp4netns")
    (tmp_path / "page").write_text("content")
    typed = ["unshare", "--net", sys.executable, "-c", UPLINK, street]
    done = subprocess.run(typed, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENT_S)
    assert done.stdout == "content content\nTrue\n7 True\n", done.stderr


def test_an_uplink_needs_its_program(
    line: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    words = "^slirp4netns: found no such program, which an uplink needs; install it: sudo apt-get"
    with pytest.raises(sojourn.InputError, match=words), sojourn.emulate(line, uplink=True):
        pass


def test_packets_that_waited_before_they_were_read_are_late(line: Path, tmp_path: Path) -> None:
    """The process is stopped for 0.3 s, in which a program sends on."""
    needs("ping")
    stopped_s = 0.3
    command = [sys.executable, "-m", "sojourn", "emulate", line, "--json", "--"]
    ping = ["ping", "-i", "0.05", "-c", "30", "-W", "30", "server"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(*command, *ping, **pipes) as process:
        assert process.stderr
        while "icmp_seq=3" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGSTOP)
        time.sleep(stopped_s)
        process.send_signal(signal.SIGCONT)
        said, _ = process.communicate(timeout=PATIENT_S)
    kept = json.loads(said)["emulation"]
    # The first of those that waited came within 0.05 s, and a busy machine stops the process later.
    least_ms = 1000 * (stopped_s - 0.1)
    assert kept["latest_ms"] > least_ms and kept["is_too_late"]
    assert kept["longest_behind_ms"] > least_ms
    assert process.returncode == 3


def test_a_record_that_cannot_be_written_costs_no_results(line: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    emulate = [sys.executable, "-m", "sojourn", "emulate", line, "--record", record]
    # No file may have more than 8 blocks of 512 bytes, and a record begins with all keys.
    limited = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh"]
    done = subprocess.run([*limited, *emulate, "--", "true"], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: cannot write {record}: File too large")
    assert "no packet of the real programs was delivered" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (
            {"server": "no-such-server"},
            "no-such-server: found no such program; allowed: one of PATH",
        ),
        ({"server": "/etc/hosts"}, "/etc/hosts: found a file that is no program"),
        ({"server": "false"}, "false: found its end, with status 1"),
        ({"server": "sleep 1000", "wait_s": 0.1}, "sleep 1000: found no port at which it waits"),
        ({"server": "echo 'open"}, "echo 'open: found No closing quotation"),
        ({"set": ["metrics.from_s=30"]}, "found a line that ended after"),
        ({"max_late_ms": 0}, "max_late_ms: found 0; allowed: more than 0"),
        ({"wait_s": math.nan}, "wait_s: found nan; allowed: a time in s, from 0 on"),
        ({"server": ""}, "found '' as a program; allowed: its name and arguments"),
        ({"server": 5}, "found 5 as a program; allowed: its name and arguments"),
        ({"wait_s": "1"}, "wait_s: found '1'; allowed: a time in s, from 0 on"),
        ({"max_late_ms": "1"}, "max_late_ms: found '1'; allowed: more than 0"),
        ({"record": 5}, "record: found 5; allowed: the path of a file"),
        ({"record": None, "payloads": True}, "payloads: found no record; allowed: with record"),
        ({"homes": 5}, "homes: found 5; allowed: names"),
    ],
)
def test_what_cannot_be_has_one_message_and_leaves_nothing(
    line: Path, tmp_path: Path, options: dict[str, Any], words: str
) -> None:
    options = {"record": tmp_path / "record.pcapng", **options}
    refused = pytest.raises(sojourn.InputError, match=f"^{re.escape(words)}")
    with refused as refusal, sojourn.emulate(line, **options):
        pass
    assert "\n" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


FAILING = [
    ("law", "on_arrival, at 0.", "if numbers[0] > 2e5: raise ValueError('boom')", "boom"),
    ("law", "on_arrival, at ", "return 99", "found 99"),
    ("law", "gauges, at ", "self.g = math.inf", "found inf as gauge a_g; allowed"),
    ("control", "on_ack, at ", "self.window_bytes = math.nan", "found NaN as window in bytes"),
    ("traffic", "on_timer, at ", "raise ValueError('boom')", "boom"),
    ("controller", "on_probe, at ", "raise ValueError('boom')", "boom"),
]


def own_part(place: Path, role: str, body: str) -> tuple[Path, list[str]]:
    """A file with a part of one's own, and the settings that choose it."""
    path = place / "own.py"
    gauge = "    gauges = {'g': '1'}\n    g = 0.0\n" if role == "law" else ""
    text = f"{gauge}{HOOK[role]}\n        {body}\n{REST.get(role, '')}"
    path.write_text(
        f"import math, sojourn\nfrom sojourn import *\nclass A({role.title()}):\n{text}"
    )
    load = ["traffic.upload.kind=transfer"] if role in ("law", "control") else []
    return path, [*load, CHOSEN[role]]


@pytest.mark.parametrize(("role", "hook", "body", "cause"), FAILING)
def test_a_part_that_fails_ends_the_run_without_results(
    role: str, hook: str, body: str, cause: str, line: Path, cli: Cli, tmp_path: Path
) -> None:
    """As in a run: one message, no results, and no record that ends half-way."""
    place = tmp_path / "place"
    place.mkdir()
    path, chosen = own_part(tmp_path, role, body)
    options = ["--part", f"{path}:A", *(word for one in chosen for word in ("--set", one))]
    files = ["--out", place / "out", "--record", place / "record.pcapng"]
    # On a line without a part that fails it would end with the status 124.
    done = cli("emulate", line, *options, *files, "--", "timeout", "60", "sleep", "1000")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    said = done.stderr.splitlines()
    (error,) = [one for one in said if one.startswith("error: ")]
    assert said[-1] == error and error.startswith(f"error: part {path}:A: {hook}"), error
    assert cause in error
    assert list(place.iterdir()) == []


def test_python_gets_the_exception_of_a_part_wherever_it_waits(line: Path, tmp_path: Path) -> None:
    path, chosen = own_part(tmp_path, *("law", "if numbers[0] > 2e5: raise ValueError('boom')"))
    record = tmp_path / "record.pcapng"

    def emulation() -> sojourn.Emulation:
        return sojourn.emulate(line, set=chosen, parts=[f"{path}:A"], record=record)

    failed = r"own\.py:A: on_arrival, at 0\.\d+ s: ValueError: boom"
    with pytest.raises(sojourn.PartError, match=failed) as raised, emulation() as one:
        one.run("sleep 1000")
    assert isinstance(raised.value.__cause__, ValueError)
    with pytest.raises(RuntimeError, match="a block that ended with PartError"):
        _ = one.result
    # Nor is it lost with an exception of the block, with one that was caught, or with none.
    with pytest.raises(ZeroDivisionError) as raised_beside, emulation() as one:
        wait_until(lambda: one.has_ended)
        raise ZeroDivisionError
    assert re.search(failed, raised_beside.value.__notes__[0])
    with pytest.raises(sojourn.PartError, match=failed), emulation() as one:
        wait_until(lambda: one.has_ended)
        with pytest.raises(sojourn.PartError, match=failed):
            one.finish()
        assert one.has_ended
    with pytest.raises(sojourn.PartError, match=failed), emulation() as one:
        sleeps = one.start("sleep 1000")
        wait_until(lambda: one.has_ended)
        with pytest.raises(RuntimeError, match=f"^the line has ended .*{failed}"):
            one.start("true")
    assert sleeps.returncode == 143
    assert [*tmp_path.iterdir()] == [path]


def test_bad_commands_have_one_message(line: Path, cli: Cli, tmp_path: Path) -> None:
    for typed, words in {
        ("--out", tmp_path / "out", "--", "no-such-program"): "no-such-program: found no such",
        ("--variant", "CAKE", "--", "true"): "--variant: found 'CAKE'; allowed: none",
        ("--payloads", "--", "true"): "--payloads: found no --record; allowed: with it",
        ("--home", "x", "--json"): "--home x: found no program behind it; allowed: --home NAME --",
        ("--home", "home", "--", "true"): "--home: found 'home', where the first program",
        ("ping", "-c", "1"): "No such option: -c. See sojourn emulate --help. The COMMAND and its",
        ("--record", line / "file", "--", "true"): "line.toml",
    }.items():
        assert words in cli.refused("emulate", line, *typed)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_and_keeps_its_results(
    line: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """SIGTERM, or a terminal that is closed; the test of a terminal has Ctrl-C."""
    record = tmp_path / "record.pcapng"
    command = (sys.executable, "-m", "sojourn", "emulate", line, "--record", record)
    program = ("--", "sh", "-c", "echo under way; sleep 1000 & sleep 1000")
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with started(*command, *program, **pipes) as process:
        assert process.stdout and process.stdout.readline() == "under way\n"
        process.send_signal(number)
        said, complaint = process.communicate(timeout=PATIENT_S)
    assert process.returncode == 128 + number, complaint
    assert complaint.startswith("stopped after ") and complaint.count("\n") == 1
    assert "no packet of the real programs was delivered" in said
    assert [*tmp_path.iterdir()] == [record]


def test_a_terminal_shows_the_line_while_it_runs(line: Path, tmp_path: Path) -> None:
    record = tmp_path / "record.pcapng"
    terminal, its_end = pty.openpty()
    subprocess.run(["stty", "rows", "24", "cols", "100"], stdin=its_end, check=True)
    command = (sys.executable, "-m", "sojourn", "emulate", line, "--record", record)
    command = (*command, "--", "sleep", "1000")
    with started(*command, stdout=its_end, stderr=its_end) as process:
        os.close(its_end)
        shown = read_until(terminal, b"dropped 0, marked 0")
        process.send_signal(signal.SIGINT)
        shown += read_until(terminal, b"the results are of this time")
        assert process.wait() == 130
    os.close(terminal)
    assert record.exists()
    # Only lines above its own scroll, and all do in the end.
    assert b"\x1b[1;21r" in shown and b"\x1b[r" in shown


def as_nobody(command: Sequence[str], mode: int = 0o666) -> subprocess.CompletedProcess[str]:
    """Runs a command as a user without rights, who finds a device of this mode."""
    device = f"mknod -m {mode:o} $d/tun c 10 200 && mount --bind $d/tun {DEVICE}"
    make = f'd=$(mktemp -d) && mount -t tmpfs -o mode=755 none $d && {device} && exec "$@"'
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    typed = ["unshare", "--mount", "sh", "-c", make, "sh", *nobody, *command]
    places = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(typed, capture_output=True, text=True, timeout=PATIENT_S, env=places)


IN_SPACE = ("unshare", "--user", "--map-root-user")


def test_a_user_needs_a_device_and_a_namespace(line: Path) -> None:
    needs("setpriv", "unshare")
    pythons = (sys.executable, "/usr/bin/python3")
    able = [
        one for one in pythons if not as_nobody([*IN_SPACE, one, "-c", "import pyarrow"]).returncode
    ]
    if not able:
        pytest.skip("another user cannot run this Python in a user namespace")
    text = repr(line.read_text())
    script = f"import sojourn\nwith sojourn.emulate({text}) as e: print(e.run('true').returncode)"
    python = [able[0], "-c", script]
    assert "found no right to make network namespaces" in as_nobody(python).stderr
    assert f"{DEVICE}: found no right to open it" in as_nobody([*IN_SPACE, *python], 0o600).stderr
    done = as_nobody([*IN_SPACE, *python])
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr


def test_two_lines_are_of_their_own(line: Path) -> None:
    with sojourn.emulate(line) as one, sojourn.emulate(line) as other:
        one.start([sys.executable, "-m", "http.server", "8000"], at="server", **_SILENT)
        wait_until(lambda: one._line.listens(None))
        assert one.run("getent hosts server").returncode == 0
        assert not other._line.listens(None)


_SILENT = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def test_an_entry_of_the_scenario_is_used(line: Path) -> None:
    with sojourn.emulate(line, set=["traffic.mine.kind=outside"]) as emulation:
        emulation.run("ping -q -c 1 -W 30 server")
    rows = emulation.result.flows.to_pylist()
    assert {row["traffic"] for row in rows} == {"game", "mine"}
    assert emulation.lateness.packets == 2


def test_a_line_is_of_one_block() -> None:
    emulation = sojourn.emulate("fibre", variant="Fibre")
    with pytest.raises(RuntimeError, match="within"):
        emulation.run("true")
    with pytest.raises(RuntimeError, match="after the block"):
        _ = emulation.result
    with pytest.raises(ZeroDivisionError), emulation:
        sleeps = emulation.start("sleep 1000")
        raise ZeroDivisionError
    assert sleeps.returncode == 143
    for what in ("result", "is_too_late", "lateness"):
        with pytest.raises(RuntimeError, match="a block that ended with ZeroDivisionError"):
            getattr(emulation, what)
    with pytest.raises(ValueError, match="variant: found no variant"):
        sojourn.emulate("upload")


def test_no_program_starts_on_a_line_that_has_ended() -> None:
    """In its network it would find no line, and that is no answer of one."""
    over = pytest.raises(RuntimeError, match=r"^the line has ended; allowed: a program before that")
    with sojourn.emulate("fibre", variant="Fibre") as line:
        assert line.run("true").returncode == 0
        result = line.finish()
        assert line.has_ended
        for start in (line.start, line.run):
            with over:
                start("true")
    with over:
        line.run("true")
    # One emulation is one run, whose result stays.
    with pytest.raises(RuntimeError, match=r"^found a second block of one emulation"), line:
        pass
    assert line.result is result
    with sojourn.emulate("fibre", variant="Fibre") as line:
        with pytest.raises(RuntimeError, match=r"^found a second block of one emulation"), line:
            pass
        assert line.run("true").returncode == 0


def test_a_line_that_ends_at_once_says_so() -> None:
    """Whether it had begun by then is left to the machine; that it is said twice is not."""
    line = sojourn.emulate("fibre", variant="Fibre")
    try:
        with line:
            line.finish()
    except sojourn.InputError as error:
        assert str(error).startswith("found a line that ended at once, before anything could cross")
        assert not line.has_result
    else:
        assert line.has_result


def test_what_a_start_cannot_use_is_refused() -> None:
    with sojourn.emulate("fibre", variant="Fibre") as line:
        for timeout in (math.nan, "1", True):
            with pytest.raises(sojourn.InputError, match=r"^timeout: found .*; allowed: a time in"):
                line.run("true", timeout=timeout)
        with pytest.raises(subprocess.TimeoutExpired):
            line.run("sleep 1000", timeout=-1)
        with pytest.raises(sojourn.InputError, match=r"^found stream -1 of subprocess; allowed"):
            line.start("true", stdout=subprocess.PIPE)


SERVER = "import signal, socket, sys; signal.signal(15, lambda *_: sys.exit('{ended}')); {rest}"


def test_a_server_is_heard_until_it_is_ended(line: Path, cli: Cli, tmp_path: Path) -> None:
    """That the run ended it is no news; what it says before and why it ended by itself are."""
    listens = "s = socket.create_server(('', 9)); print('ready', file=sys.stderr); signal.pause()"
    script = tmp_path / "server.py"
    server = f"{sys.executable} {script}"
    script.write_text(SERVER.format(ended="interrupted", rest=listens))
    done = cli("emulate", line, "--quiet", "--server-run", server, "--", "sleep", "0.3")
    assert (done.returncode, done.stderr) == (0, "ready\n")
    script.write_text(SERVER.format(ended="", rest="sys.exit('no port')"))
    done = cli("emulate", line, "--quiet", "--server-run", server, "--", "true")
    assert done.returncode == 2 and done.stderr.startswith("no port\nerror: "), done.stderr


def test_a_replay_takes_as_long_as_its_record(line: Path, tmp_path: Path, cli: Cli) -> None:
    record = tmp_path / "record.pcapng"
    with sojourn.emulate(line, record=record) as emulation:
        emulation.run("ping -q -c 1 -W 30 server")
    lasted_s = emulation.result.meta["duration_s"]
    for typed, what in {
        ("--duration", "5"): "--duration",
        ("--set", "duration_s=5"): "--set duration_s=5",
        ("--vary", "duration_s=5"): "--vary duration_s=5",
    }.items():
        said = (
            f"{what}: found 5 s for a replay, which takes as long as its record, {lasted_s:.3f} s"
        )
        assert said in cli.refused("run", line, "--replay", record, *typed)
    with pytest.raises(sojourn.InputError, match=r"^duration_s: found 5 s for a replay"):
        sojourn.run(line, replay=record, duration_s=5)
    # It is what was asked for that counts.
    assert sojourn.run(line, replay=record, set=["duration_s=7"], duration_s=lasted_s)
    kept = sojourn.load(line, set=["duration_s=7"], duration_s=5, scale={"duration_s": 2})
    assert [one.duration_s for one in kept] == [5]
