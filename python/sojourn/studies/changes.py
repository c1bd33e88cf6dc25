"""Changes of scenarios, of which alternatives are made."""

from collections.abc import Mapping
from typing import Any

from .study import Change


def of_keys(path: str, **keys: Any) -> Change:
    """Sets keys of the table at `path`, as `tcp` or `upstream.queue.law`, where there is one."""

    def change(scenario: dict[str, Any]) -> None:
        table: Any = scenario
        for name in path.split("."):
            table = table.get(name) if isinstance(table, Mapping) else None
        if table is not None:
            table.update(keys)

    return change


def of_traffic(kind: str, tcp: Mapping[str, Any] | None = None, **keys: Any) -> Change:
    """Sets keys of all traffic of a kind, and of its TCP."""

    def change(scenario: dict[str, Any]) -> None:
        for entry in scenario["traffic"].values():
            if entry["kind"] == kind:
                entry.update(keys)
                if tcp is not None:
                    entry["tcp"] = {**entry.get("tcp", {}), **tcp}

    return change
