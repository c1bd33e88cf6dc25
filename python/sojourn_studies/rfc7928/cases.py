"""The runs: every scenario with every queue manager, on a plain link and on a DOCSIS upstream."""

from functools import cache
from typing import Any

from ..framework.cases import Case, unshaped
from .managers import MANAGERS
from .scenarios import FAR_MBPS, RATE_MBPS, RTT_MS, SCENARIOS, SECONDS, Scenario, Table

FROM_S = 5
"""When counting begins: the first slow start is over."""

_DOWN_MBPS = 50
_BURST_BYTES = 3044
_SERVER_MBPS = 100_000
"""A server's link, which must take no time."""
_MOST_FILES = 1000


@cache
def case(name: str, manager: str, link: str) -> Case:
    """A scenario with a queue manager on a link."""
    one, of = SCENARIOS[name], MANAGERS[manager]
    queue = dict(of.queue)
    scenario = {
        "title": f"RFC 7928, {one.section} {name}, {manager}, {link}",
        "duration_s": SECONDS,
        "cable": {"delay_ms": of.cable_ms},
        "upstream": _upstream(one, queue, link),
        "downstream": {**unshaped(_DOWN_MBPS, _BURST_BYTES), "queue": queue},
        "servers": _servers(one, queue, of.cable_ms),
        "traffic": one.traffic,
        "metrics": {"from_s": FROM_S, "connections": _MOST_FILES},
        "baseline": False,
    }
    return Case(f"{one.section} {name}, {manager}, {link}", scenario)


def _upstream(one: Scenario, queue: Table, link: str) -> Table:
    """What varies is the link, or what other modems leave of the channel."""
    steps = [{"for_s": for_s, "mbps": mbps} for for_s, mbps in one.steps]
    varied: Table
    if link == "link":
        varied = {"modem": {"kind": "link"}, **({"capacity": {"steps": steps}} if steps else {})}
    else:
        varied = {
            "mac": {"map_interval_ms": 2},
            **({"congestion": {"steps": steps}} if steps else {}),
        }
    return {**unshaped(RATE_MBPS, _BURST_BYTES), "queue": queue, **varied}


def _servers(one: Scenario, queue: Table, cable_ms: float) -> Table:
    """One for each round trip; `far` is behind a bottleneck of its own."""

    def server(name: str) -> dict[str, Any]:
        if name == "far":
            return {**at(RTT_MS), "rate_mbps": FAR_MBPS, "queue": queue}
        return {**at(float(name.removeprefix("rtt-"))), "rate_mbps": _SERVER_MBPS}

    def at(rtt_ms: float) -> dict[str, Any]:
        return {"delay_ms": rtt_ms / 2 - cable_ms}

    names = dict.fromkeys(entry["server"] for entry in one.traffic.values())
    return {name: server(name) for name in names}
