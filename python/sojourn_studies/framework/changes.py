"""Changes of scenarios, of which alternatives are made."""

from collections.abc import Callable, Mapping
from typing import Any

from .cases import Alternative, Change


def of_keys(path: str, **keys: Any) -> Change:
    """Sets keys of the table at `path`, as `tcp` or `upstream.queue.law`; of none, at the head."""

    def change(scenario: dict[str, Any]) -> None:
        table: Any = scenario
        for name in filter(None, path.split(".")):
            table = table.get(name) if isinstance(table, Mapping) else None
        if table is not None:
            table.update(keys)

    return change


Which = Callable[[Mapping[str, Any]], bool]
"""Is an entry of the traffic meant?"""


def of_traffic(which: Which, tcp: Mapping[str, Any] | None = None, **keys: Any) -> Change:
    """Sets keys of entries of the traffic, and of their TCP."""

    def change(scenario: dict[str, Any]) -> None:
        for entry in filter(which, scenario["traffic"].values()):
            entry.update(keys)
            if tcp is not None:
                entry["tcp"] = {**entry.get("tcp", {}), **tcp}

    return change


def of_kind(kind: str, **keys: Any) -> Change:
    """Sets keys of every table of this kind, as `prague` or `red`, wherever it stands."""

    def change(table: dict[str, Any]) -> None:
        if table.get("kind") == kind:
            table.update(keys)
        for value in table.values():
            if isinstance(value, dict):
                change(value)

    return change


def with_law(kind: str) -> Alternative:
    """All queues that have a law have this one, at its defaults."""

    def change(table: dict[str, Any]) -> None:
        for key, value in table.items():
            if key == "law" and value["kind"] != "none":
                table[key] = {"kind": kind}
            elif isinstance(value, dict):
                change(value)

    what = f"The law {kind} in the place of those that the cases have."
    return Alternative(f"law {kind}", what, change, for_all=True)


def all_of(*changes: Change) -> Change:
    """One after the other."""

    def change(scenario: dict[str, Any]) -> None:
        for one in changes:
            one(scenario)

    return change
