"""What the page offers: services, queue managers and what people do."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Activity:
    """What people do: an entry of the scenario's traffic, and how many may do it at once."""

    label: str
    count: int
    most: int
    payload: str
    entry: Json
    count_key: str | None = None

    def servers(self) -> list[str]:
        """The names of the servers that take part."""
        return self.entry.get("servers") or [self.entry["server"]]

    def entries(self, name: str, count: int) -> dict[str, Json]:
        """The entries of `count` people doing it."""
        if not count:
            return {}
        if self.count_key is not None:
            return {name: {**self.entry, self.count_key: count}}
        if count == 1:
            return {name: self.entry}
        return {f"{name}_{number}": self.entry for number in range(1, count + 1)}


@cache
def catalog() -> Json:
    """The file `catalog.toml`, as the page gets it too."""
    return tomllib.loads(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"))


@cache
def activities() -> dict[str, Activity]:
    """All activities, by name."""
    return {name: Activity(**table) for name, table in catalog()["activities"].items()}
