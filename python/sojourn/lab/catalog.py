"""The choices of the page: services, queue settings and activities."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Activity:
    """An activity of the household: its traffic entry, and how many can run at once."""

    label: str
    count: int
    most: int
    payload: str
    entry: Json
    count_key: str | None = None

    def servers(self) -> list[str]:
        """The names of the servers it uses."""
        return self.entry.get("servers") or [self.entry["server"]]

    def entries(self, name: str, count: int) -> dict[str, Json]:
        """The traffic entries for a count of this activity."""
        if not count:
            return {}
        if self.count_key is not None:
            return {name: {**self.entry, self.count_key: count}}
        if count == 1:
            return {name: self.entry}
        return {f"{name}_{number}": self.entry for number in range(1, count + 1)}


@cache
def catalog() -> Json:
    """The content of `catalog.toml`, which the page receives too."""
    return tomllib.loads(files(__package__).joinpath("catalog.toml").read_text(encoding="utf-8"))


@cache
def activities() -> dict[str, Activity]:
    """All activities, by name."""
    return {name: Activity(**table) for name, table in catalog()["activities"].items()}
