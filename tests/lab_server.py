"""The server of `sojourn lab`, in a thread."""

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sojourn.lab.job_pool import JobPool
from sojourn.lab.server import application, listening, server_of

SERVICE = {
    "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 10_000_000},
    "downstream": {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 10_000_000},
}
DROP_TAIL = {"name": "A: drop-tail", "queue": {"limit_bytes": 625_000}}
PIE = {"name": "B: PIE", "queue": {"law": {"kind": "docsis_pie"}}}


def lab_request(**changes: Any) -> dict[str, Any]:
    """What a page asks for, ten seconds of it; `changes` replace keys."""
    people = {"game": 2, "call": 1, "web": 1, "upload": 1}
    base = {"duration_s": 10, **SERVICE, **changes.pop("base", {})}
    return {"base": base, "activities": people, "settings": [DROP_TAIL, PIE], **changes}


def long_request() -> dict[str, Any]:
    """A request whose runs take many seconds: 120 s of 1 Gbps up."""
    fast = {"sustained_mbps": 1000, "peak_mbps": 1000, "burst_bytes": 10_000_000}
    return lab_request(base={"duration_s": 120, "upstream": fast}, activities={"upload": 16})


@dataclass
class Reply:
    """What the server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, str]:
        error: dict[str, str] = self.json["error"]
        return error


@dataclass
class Lab:
    """A server that runs."""

    port: int
    pool: JobPool

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str, **headers: str) -> Reply:
        return self.send("GET", path, None, headers)

    def post(self, path: str, body: object, **headers: str) -> Reply:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.send("POST", path, sent, {"Origin": self.address, **headers})

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> Reply:
        connection = self.begin(method, path, body, headers)
        try:
            response = connection.getresponse()
            return Reply(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def begin(
        self, method: str, path: str, body: bytes | None, headers: dict[str, str]
    ) -> http.client.HTTPConnection:
        """Sends a request without waiting for the response."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request(method, path, body, headers)
        return connection


def until(condition: Callable[[], bool], within_s: float = 5) -> float:
    """How long it took in s until the condition held: less than the runs of `long_request` take."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < within_s
        time.sleep(0.005)
    return time.monotonic() - start


@contextmanager
def serving(pool: JobPool | None = None) -> Iterator[Lab]:
    """A server while in the context."""
    pool = pool or JobPool()
    with listening(0) as listener:
        server = server_of(application(pool))
        thread = threading.Thread(target=server.run, args=[[listener]])
        thread.start()
        try:
            yield Lab(listener.getsockname()[1], pool)
        finally:
            server.should_exit = True
            thread.join()
