"""The server of `sojourn lab`: the files of the page, for this machine alone."""

import http.client
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import PATIENT_S, ROOT, Cli, started
from lab_page import needs_module
from sojourn.lab.server import MOST_CONNECTIONS, STATIC, server

pytestmark = needs_module


def asked(
    address: str, path: str, method: str = "GET", headers: Mapping[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """The status, headers and body of a response; `path` is sent as it is."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=PATIENT_S)
    try:
        connection.putrequest(method, path, skip_host="Host" in (headers or {}))
        for name, value in (headers or {}).items():
            connection.putheader(name, value)
        connection.endheaders()
        response = connection.getresponse()
        found = {name.lower(): value for name, value in response.getheaders()}
        return response.status, found, response.read()
    finally:
        connection.close()


def test_its_own_files_can_be_read(lab: str) -> None:
    for path in STATIC.iterdir():
        status, _, body = asked(lab, f"/{path.name}")
        assert (status, body) == (200, path.read_bytes())
    assert asked(lab, "/")[2] == (STATIC / "index.html").read_bytes()
    # A browser compiles a module while it comes only if it has this type.
    assert asked(lab, "/sojourn.wasm")[1]["content-type"] == "application/wasm"
    assert asked(lab, "/main.js")[1]["content-type"].startswith("text/javascript")


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
        "/main.js%00.css",
    ],
)
def test_nothing_but_its_own_files_can_be_read(lab: str, path: str) -> None:
    assert asked(lab, path)[0] == 404


def test_the_policy_is_the_same_in_header_and_page(lab: str) -> None:
    for path in ("/", "/main.js", "/nothing"):
        _, headers, _ = asked(lab, path)
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none';") and "unsafe-inline" not in policy
        assert headers["x-content-type-options"] == "nosniff"
    page = (STATIC / "index.html").read_text()
    in_page = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert in_page
    # A page cannot forbid to be embedded; only a header can.
    assert policy == f"{in_page[1]}; frame-ancestors 'self'"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_sent(lab: str, method: str) -> None:
    assert asked(lab, "/", method)[0] == 501


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "attacker.example"},
        {"Host": "attacker.example:8000"},
        {"Host": "127.0.0.1.attacker.example"},
        {"Host": "localhost@attacker.example"},
        {"Host": ""},
        {"Origin": "https://attacker.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
    ],
)
def test_other_sites_are_refused(lab: str, headers: Mapping[str, str]) -> None:
    """Also one whose name leads to this machine."""
    for path, method in (("/", "GET"), ("/main.js", "GET"), ("/", "HEAD")):
        assert asked(lab, path, method, headers)[0] == 403


def test_a_request_without_a_host_is_refused(lab: str) -> None:
    with socket.create_connection(place_of(lab), timeout=PATIENT_S) as connection:
        connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 403")


def test_its_own_pages_are_not_refused(lab: str) -> None:
    """Also by the name of this machine, and where ssh forwards another port to it."""
    for host in (lab.removeprefix("http://"), "localhost", "localhost:9"):
        assert asked(lab, "/", headers={"Host": host, "Origin": f"http://{host}"})[0] == 200


def test_half_requests_do_not_hold_up_the_page(lab: str) -> None:
    opened = [socket.create_connection(place_of(lab), timeout=PATIENT_S) for _ in range(200)]
    for connection in opened:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert asked(lab, "/")[0] == 200
    for connection in opened[:-MOST_CONNECTIONS]:
        assert connection.recv(1) == b""  # the server has closed it
        connection.close()
    for connection in opened:
        connection.close()


def test_a_slow_request_is_ended(lab: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sojourn.lab.server.LONGEST_S", 0.0)
    with socket.create_connection(place_of(lab), timeout=PATIENT_S) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert connection.recv(1) == b""


def place_of(address: str) -> tuple[str, int]:
    """Host and port of an address."""
    host, port = address.removeprefix("http://").split(":")
    return host, int(port)


def test_only_this_machine_is_listened_to() -> None:
    with server(0) as running:
        assert running.socket.getsockname()[0] == "127.0.0.1"


def test_the_command_serves_until_ctrl_c() -> None:
    command = (sys.executable, "-m", "sojourn", "lab", "--port", "0", "--no-open")
    with started(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        address = process.stdout.readline().split()[0].rstrip("/")
        status = asked(address, "/")[0]
        process.send_signal(signal.SIGINT)
        printed = process.communicate()
    assert status == 200
    assert (process.returncode, printed) == (0, ("", ""))


def test_a_port_in_use_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        message = cli.refused("lab", "--port", port, "--no-open")
    assert message == (
        f"error: --port: found {port} (Address already in use); "
        "allowed: a free port, or 0 to pick one\n"
    )


def test_a_package_without_the_module_says_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(OSError, match=r"sojourn\.wasm is missing.*`make web` builds it"):
        server(0, tmp_path)


def test_the_page_asks_no_other_host() -> None:
    """No address of another host is in the sources, except in comments and texts."""
    for path in STATIC.glob("*.*"):
        if path.suffix in (".js", ".css", ".html"):
            found = re.findall(r"https?://[^\s\"'`]+", path.read_text())
            allowed = ("http://www.w3.org/2000/svg", "http://localhost:8000/.")
            assert [address for address in found if address not in allowed] == [], path.relative_to(
                ROOT
            )
