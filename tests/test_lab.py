"""The server of `sojourn lab`: what it answers, and what it refuses."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import sojourn
from conftest import ROOT, Cli
from lab_server import (
    DROP_TAIL,
    PIE,
    SERVICE,
    Lab,
    Reply,
    lab_request,
    long_request,
    serving,
    until,
)
from sojourn.base.grid import digits
from sojourn.base.toml_text import toml_sections
from sojourn.lab import server
from sojourn.lab.catalog import activities, catalog
from sojourn.lab.job_pool import JobPool
from sojourn.lab.lab_request import LabRequest
from sojourn.plot.palette import PALETTE

MODEMS = ROOT / "tests" / "data" / "modem-configs"


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with serving() as running:
        yield running


def quantile(line: dict[str, list[float]], percent: float) -> float:
    return next(x for x, y in zip(line["x"], line["y"], strict=True) if y >= percent)


def test_choices_come_from_the_schema_and_the_catalogue(lab: Lab) -> None:
    choices = lab.get("/api/choices").json
    law = choices["schema"]["$defs"]["AqmSpec"]["oneOf"]
    assert "codel" in [kind["properties"]["kind"]["const"] for kind in law]
    assert choices["catalog"] == catalog()
    assert choices["palette"] == list(PALETTE)


def test_a_run_is_answered(lab: Lab) -> None:
    response = lab.post("/api/run", lab_request()).json
    assert [run["name"] for run in response["runs"]] == ["A: drop-tail", "B: PIE"]
    assert [row["application"] for row in response["verdicts"]] == [
        "game",
        "call",
        "page",
        "upload",
    ]
    games = [cell["grade"] for cell in response["verdicts"][0]["cells"]]
    assert games[0] == "poor" and games[1] in ("good", "fair")
    figures = {(figure["kind"], figure["activity"]): figure for figure in response["figures"]}
    assert ("queue", "") in figures and ("throughput", "web") in figures
    drop_tail, pie = (quantile(line, 50) for line in figures["latency", "game"]["lines"])
    # Half of the packets are as late as a second of buffer at 5 Mbps makes them, or at 20 Mbps.
    assert drop_tail > 5 * pie


@pytest.mark.parametrize(("service", "duration_s"), [("white2013", 30), ("white2014", 10)])
def test_an_answer_takes_less_than_a_second_on_a_quiet_machine(
    lab: Lab, service: str, duration_s: int
) -> None:
    rates = {key: catalog()["services"][service][key] for key in ("upstream", "downstream")}
    asked = lab_request(base={**rates, "duration_s": duration_s})
    lab.post("/api/run", lab_request())
    start = time.monotonic()
    assert lab.post("/api/run", asked).status == 200
    # Reported and not asserted, for the machine may be busy with other things.
    took_s = time.monotonic() - start
    print(f"{service}, two settings, {duration_s} s simulated: answered in {took_s:.2f} s")


def test_what_is_not_graded_is_named(lab: Lab) -> None:
    response = lab.post("/api/run", lab_request(activities={"call": 1, "torrent": 2})).json
    assert response["ungraded"] == "Not graded: torrent (torrent_1 and torrent_2)."


def test_latencies_of_two_games_are_put_together(lab: Lab) -> None:
    text = lab.post("/api/scenario", lab_request()).body.decode()
    result = sojourn.run(text)["B: PIE"]
    rows = [r for r in result.latencies.to_pylist() if r["traffic"] in ("game_1", "game_2")]
    up = sorted((r["latency_ms"], r["packets"]) for r in rows if r["direction"] == "up")
    each = [latency_ms for latency_ms, packets in up for _ in range(packets)]
    median_ms = each[(len(each) - 1) // 2]
    response = lab.post("/api/run", lab_request()).json
    (figure,) = (
        f for f in response["figures"] if (f["kind"], f["activity"]) == ("latency", "game")
    )
    assert figure["lines"][1]["summary"].startswith(f"50 % within {digits(median_ms)} ms")
    # A step of the curve is a fifth of a percent, a cell of the histogram 0.1 % wide.
    assert quantile(figure["lines"][1], 50) == pytest.approx(median_ms, rel=0.01)


@pytest.mark.parametrize("settings", [[DROP_TAIL, PIE], [PIE]])
def test_the_scenario_gives_the_same_results(
    lab: Lab, cli: Cli, tmp_path: Path, settings: list[dict[str, Any]]
) -> None:
    asked = lab_request(settings=settings)
    reply = lab.post("/api/scenario", asked)
    assert reply.headers["content-type"].startswith("text/plain")
    path = tmp_path / "copied.toml"
    path.write_bytes(reply.body)
    by_command = json.loads(cli("run", path, "--json").stdout)["variants"]
    by_page = lab.post("/api/run", asked).json["runs"]
    assert [run["fingerprint"] for run in by_command] == [run["fingerprint"] for run in by_page]


def test_sections_hold_what_the_table_held() -> None:
    table = {
        "a": 1,
        "empty": {},
        "b": {"c": "x", "kinds": {"kind": "k", "n": 1.5}, "d": {"e f": {"g": [1, {"h": True}]}}},
        "none": None,
    }
    text = toml_sections(table)
    assert tomllib.loads(text) == {key: value for key, value in table.items() if key != "none"}
    assert '[b.d."e f"]' in text and 'kinds = { kind = "k"' in text


def test_every_choice_of_the_catalogue_can_be_run() -> None:
    everyone = {name: activity.most for name, activity in activities().items()}
    for service, queue in product(catalog()["services"].values(), catalog()["queues"].values()):
        base = {key: service[key] for key in ("upstream", "downstream")}
        base["duration_s"] = catalog()["duration_s"]
        chosen = {"base": base, "activities": everyone, "settings": [{**queue, "name": "A"}]}
        del chosen["settings"][0]["label"]
        (variant,) = sojourn.load(LabRequest.read(chosen).toml())
        assert variant.duration_s == catalog()["duration_s"]


def test_the_report_is_that_of_the_run(lab: Lab) -> None:
    reply = lab.post("/api/report", lab_request())
    page = reply.body.decode()
    fingerprints = [run["fingerprint"] for run in lab.post("/api/run", lab_request()).json["runs"]]
    assert reply.headers["content-type"].startswith("text/html")
    assert "A: drop-tail" in page and all(one in page for one in fingerprints)


def test_a_modem_file_becomes_the_service(lab: Lab) -> None:
    told = lab.post("/api/modem?name=my.cm", (MODEMS / "home-5x20.cm").read_bytes()).json
    assert told["upstream"]["sustained_mbps"] == 5
    assert told["upstream"]["buffer"]["target_bytes"] == 31_250
    assert (told["notes"], told["upstream"]["priority"]) == ([], 1)
    base = {key: told[key] for key in ("upstream", "downstream")}
    own = {"name": "A: as in the file", "queue": told["upstream"]["queue"]}
    asked = lab_request(base=base, settings=[own, {**DROP_TAIL, "name": "B"}])
    text = lab.post("/api/scenario", asked).body.decode()
    variants = tomllib.loads(text)["compare"]
    # A limit of its own takes the place of the file's buffer.
    assert variants["A: as in the file"]["upstream"]["buffer"]["target_bytes"] == 31_250
    assert "buffer" not in variants["B"]["upstream"]
    assert lab.post("/api/run", asked).status == 200


def test_a_modem_file_with_several_flows(lab: Lab) -> None:
    told = lab.post("/api/modem", (MODEMS / "gigabit-voice.cm").read_bytes()).json
    assert told["upstream"]["flows"]["flow_2"]["sustained_mbps"] == 0.256
    base = {key: told[key] for key in ("upstream", "downstream")}
    assert lab.post("/api/run", lab_request(base={**base, "duration_s": 1})).status == 200


def test_a_bad_modem_file_is_refused(lab: Lab) -> None:
    reply = lab.post("/api/modem?name=bad.cm", b"\x18\xff\x01")
    assert reply.status == 422
    assert "found" in reply.error["message"] and "allowed" in reply.error["message"]


BAD = {
    "peak below sustained": (
        lab_request(base={"upstream": {**SERVICE["upstream"], "peak_mbps": 1}}),
        "upstream.peak_mbps",
        "found 1; allowed: 5 or more",
    ),
    "law out of range": (
        lab_request(
            settings=[DROP_TAIL, {"name": "B", "queue": {"law": {"kind": "pie", "target_ms": 0}}}]
        ),
        "variant B: upstream.queue.law.target_ms",
        "allowed: a number from 0.1 to 10000",
    ),
    "no rate": (lab_request(base={"upstream": {}}), "upstream.sustained_mbps", ""),
    "too long": (lab_request(base={"duration_s": 121}), "duration_s", "from 0.001 to 120"),
    "no time": (
        lab_request(base={"duration_s": None}),
        "duration_s",
        "found nothing; allowed: a number",
    ),
    "not a number": (lab_request(base={"duration_s": float("nan")}), "duration_s", "found NaN"),
    "nobody": (
        lab_request(activities={}),
        "activities",
        "found {}; allowed: at least one count above 0",
    ),
    "too many": (lab_request(activities={"game": 9}), "activities.game", "from 0 to 8"),
    "half of one": (lab_request(activities={"game": 0.5}), "activities.game", "found 0.5"),
    "unknown activity": (
        lab_request(activities={"mine": 1}),
        "activities.mine",
        "unknown key; allowed here: game",
    ),
    "a capture": (
        lab_request(traffic={"x": {"kind": "replay", "file": "/etc/passwd", "server": "files"}}),
        "request.traffic",
        "unknown key; allowed here: base",
    ),
    "a trace": (
        lab_request(base={"metrics": {"packet_trace": True}}),
        "base.metrics",
        "unknown key; allowed here: ",
    ),
    "homes": (
        lab_request(base={"homes": {"x": {"count": 10_000}}}),
        "base.homes",
        "unknown key; allowed here: ",
    ),
    "another server": (
        lab_request(base={"servers": {"x": {"delay_ms": 1}}}),
        "servers.x",
        "unknown key; allowed here: ",
    ),
    "three settings": (lab_request(settings=[DROP_TAIL, PIE, PIE]), "settings", "1 to 2"),
    "two of one name": (
        lab_request(settings=[PIE, PIE]),
        "settings.1.name",
        "a name that differs from the first",
    ),
    "no name": (lab_request(settings=[{"name": " "}]), "settings.0.name", "1 to 60"),
    "nothing in a list": (lab_request(base={"cable": {"x": [None]}}), "request", "TOML"),
    "half a character": (lab_request(settings=[{"name": "\ud800"}]), "request", "not valid JSON"),
    "half a character in a key": (lab_request(**{"\ud800": 1}), "request", "not valid JSON"),
    "half a character in an activity": (
        lab_request(activities={"\ud800": 1}),
        "request",
        "not valid JSON",
    ),
    "a list": ([1], "request", "a table"),
    "not JSON": (b"{", "request", "not valid JSON"),
    "not UTF-8": (b'"\xff"', "request", "not valid JSON"),
    "deep": (b"[" * 100_000, "request", "not valid JSON"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_answered_with_the_fault(lab: Lab, name: str) -> None:
    asked, path, words = BAD[name]
    reply = lab.post("/api/run", asked)
    assert (reply.status, reply.error["path"]) == (422, path)
    assert words in reply.error["message"]


@pytest.mark.parametrize("modem", ["single_queue", "two_queues", "shared_channel", "link"])
def test_a_picture_is_a_part_of_the_trace(lab: Lab, modem: str) -> None:
    from_s = 4.0
    asked = lab_request(base={"upstream": {**SERVICE["upstream"], "modem": {"kind": modem}}})
    shot = lab.post("/api/picture", {"request": asked, "from_s": from_s}).json
    assert shot["activities"] == ["game", "call", "web", "upload"]
    text = lab.post("/api/scenario", asked).body.decode()
    whole = sojourn.run(text, set=["metrics.modem_trace=true"])
    for run in shot["runs"]:
        events = whole[run["name"]].modem_events.to_pylist()
        before = [event for event in events if event["time_s"] < from_s]
        within = [event for event in events if from_s <= event["time_s"] <= shot["to_s"]]
        assert len(run["waiting"]["packet"]) == before[-1]["backlog_packets"]
        assert sum(run["waiting"]["bytes"]) == before[-1]["backlog_bytes"]
        assert run["tokens"] == before[-1]["tokens_bytes"]
        taken, sent = (
            [e["packet"] for e in before if e["event"] == k] for k in ("dequeue", "sent")
        )
        assert run["sending"]["packet"] == [p for p in taken[-1:] if p not in sent]
        assert run["events"]["kind"] == [event["event"] for event in within]
        assert run["events"]["packet"] == [event["packet"] for event in within]
        assert {"arrive", "dequeue", "sent"} <= {*run["events"]["kind"]}
        assert ("map" in run["events"]["kind"]) == (modem != "link")
        assert set(run["waiting"]["activity"]) <= {0, 1, 2, 3}


def test_a_picture_of_much_is_short(lab: Lab) -> None:
    fast = catalog()["services"]["white2014"]
    base = {"upstream": fast["upstream"], "downstream": fast["downstream"]}
    asked = {"request": lab_request(base=base), "from_s": 1.0}
    shot = lab.post("/api/picture", asked).json
    # At 250 Mbps there are 20 000 packets of 1500 B in a second, and several events of each.
    assert 1.0 < shot["to_s"] < 2.0
    assert all(len(run["events"]["ms"]) <= 20_000 for run in shot["runs"])
    late = lab.post("/api/picture", {**asked, "from_s": 7.5})
    # 250 MB are sent in 8 s, and the picture takes the last second.
    assert (late.status, late.error["path"]) == (422, "from_s")
    assert "from 0 to 7" in late.error["message"]


def test_too_large_a_body_is_refused(lab: Lab) -> None:
    assert lab.post("/api/run", b" " * (server.MOST_BYTES + 1)).status == 413


def test_a_body_that_does_not_come_is_not_waited_for(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_BODY_WITHIN_S", 0.1)
    headers = {"Origin": lab.address, "Content-Length": "100"}
    reply = lab.send("POST", "/api/run", b"{", headers)
    assert reply.status == 408


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/../../../../pyproject.toml",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/..%5cserver.py",
        "/static/../../server.py",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/server.py",
        "/catalog.toml",
        "/main.js%00.css",
    ],
)
def test_nothing_but_its_own_files_can_be_read(lab: Lab, path: str) -> None:
    assert lab.get(path).status == 404


def test_its_own_files_can_be_read(lab: Lab) -> None:
    own = {path.name for path in (ROOT / "python/sojourn/lab/static").iterdir()}
    assert {"index.html", "main.js", "style.css"} <= own
    assert all(lab.get(f"/{name}").status == 200 for name in own)


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "", "[::1]:80", "0.0.0.0"]
)
def test_other_names_of_this_machine_are_refused(lab: Lab, host: str) -> None:
    assert lab.get("/", Host=host).status == 421


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "https://127.0.0.1"])
def test_pages_of_others_cannot_post(lab: Lab, origin: str) -> None:
    assert lab.post("/api/run", lab_request(), Origin=origin).status == 403


def test_a_page_is_served_under_both_names(lab: Lab) -> None:
    host = f"localhost:{lab.port}"
    assert lab.get("/", Host=host).status == 200
    assert (
        lab.post("/api/scenario", lab_request(), Host=host, Origin=f"http://{host}").status == 200
    )


def test_nothing_is_allowed_from_elsewhere(lab: Lab) -> None:
    replies: list[Reply] = [
        lab.get("/"),
        lab.get("/main.js"),
        lab.get("/nothing"),
        lab.get("/", Host="evil.example"),
        lab.post("/api/run", b"{"),
    ]
    for reply in replies:
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';") and "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"


def test_what_asks_in_another_way_is_refused(lab: Lab) -> None:
    assert lab.get("/api/run").status == 404
    assert lab.send("DELETE", "/", None, {}).status == 405


def test_only_this_machine_is_listened_to() -> None:
    with server.listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_a_run_whose_browser_has_gone_stops(lab: Lab) -> None:
    body = json.dumps(long_request()).encode()
    connection = lab.begin("POST", "/api/run", body, {"Origin": lab.address})
    until(lambda: lab.pool.requests == 1)
    before_s = time.process_time()
    until(lambda: time.process_time() - before_s > 0.2)
    assert lab.pool.requests == 1
    connection.close()
    took_s = until(lambda: lab.pool.requests == 0)
    print(f"stopped {took_s:.2f} s after its browser had gone")
    # And the processor is free again: the server, which is this process, does next to nothing.
    until(is_at_rest)


def is_at_rest() -> bool:
    before_s = time.process_time()
    time.sleep(0.5)
    return time.process_time() - before_s < 0.1


def test_a_run_that_takes_too_long_stops() -> None:
    with serving(JobPool(limit_s=0.2)) as lab:
        reply = lab.post("/api/run", long_request())
        assert (reply.status, reply.error["path"]) == (422, "duration_s")
        assert "stopped after 0.2 s" in reply.error["message"]
        assert lab.pool.requests == 0


def test_so_many_runs_and_no_more() -> None:
    with serving(JobPool(most_requests=1)) as lab:
        body = json.dumps(long_request()).encode()
        connection = lab.begin("POST", "/api/run", body, {"Origin": lab.address})
        until(lambda: lab.pool.requests == 1)
        assert lab.post("/api/run", lab_request()).status == 503
        connection.close()
        until(lambda: lab.pool.requests == 0)
        assert lab.post("/api/run", lab_request()).status == 200


def test_a_server_that_ends_stops_its_runs(capfd: pytest.CaptureFixture[str]) -> None:
    with serving() as lab:
        body = json.dumps(long_request()).encode()
        connection = lab.begin("POST", "/api/run", body, {"Origin": lab.address})
        until(lambda: lab.pool.requests == 1)
        start = time.monotonic()
    assert time.monotonic() - start < 20
    assert lab.pool.requests == 0
    connection.close()
    assert capfd.readouterr() == ("", "")


def test_the_command_serves_until_ctrl_c() -> None:
    command = [sys.executable, "-m", "sojourn", "lab", "--port", "0", "--no-open"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ}
    ) as process:
        address = process.stdout.readline().split()[0]
        port = int(address.rstrip("/").rpartition(":")[2])
        reply = Lab(port, JobPool()).post("/api/run", lab_request())
        process.send_signal(signal.SIGINT)
        told = process.communicate(timeout=10)
    assert reply.status == 200
    assert (process.returncode, told) == (0, ("", ""))


def test_a_port_in_use_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        outcome = cli("lab", "--port", port, "--no-open")
    assert outcome.returncode == 2
    assert outcome.stderr == (
        f"error: --port: found {port} (Address already in use); "
        "allowed: a free port, or 0 to pick one\n"
    )


def test_help_does_not_wait_for_the_server() -> None:
    asks = "import sys; from sojourn.cli.main import main\ntry: main(['lab', '--help'])\nfinally: "
    check = "assert not {'uvicorn', 'starlette', 'pyarrow'} & set(sys.modules)"
    outcome = subprocess.run([sys.executable, "-c", asks + check], capture_output=True, text=True)
    assert outcome.returncode == 0 and "--no-open" in outcome.stdout
