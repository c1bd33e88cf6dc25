"""Alternative assumptions on Hong 2015 that are more than keys."""

from typing import Any

from ..framework.cases import Change
from .cases import NOT_LINKS_5_MS
from .flows import MAC_MS


def _eleven(scenario: dict[str, Any]) -> None:
    """Of flows beyond 11, in turn those of the first 11."""
    servers = scenario["servers"]
    for name, server in servers.items():
        kind, _, number = name.partition("-")
        if kind == "ftp":
            server.update(servers[f"ftp-{(int(number) - 1) % 11 + 1}"])


def _longer_links(ms: float) -> Change:
    """Of all but the call, by so much each way."""

    def change(scenario: dict[str, Any]) -> None:
        for name, server in scenario["servers"].items():
            if name != "voip":
                server["delay_ms"] += ms

    return change


def _plain_upstream(scenario: dict[str, Any]) -> None:
    """One home for all flows, which are one an entry; round trips stay what they are."""
    del scenario["homes"]
    for entry in scenario["traffic"].values():
        del entry["home"]
    scenario["upstream"]["modem"] = {"kind": "link"}
    _longer_links(MAC_MS / 2)(scenario)


def _fast_links(scenario: dict[str, Any]) -> None:
    for name, server in scenario["servers"].items():
        if name.startswith("ftp"):
            server["rate_mbps"] = 1000


def _whole_channel(scenario: dict[str, Any]) -> None:
    cmts = scenario["cmts"]
    cmts["queue"]["scheduler"]["capacity_mbps"] = cmts["channel"]["rate_mbps"]


_request_and_grant_on_top = _longer_links(MAC_MS / 2)
_request_and_grant_within = _longer_links((NOT_LINKS_5_MS - MAC_MS) / 2)
