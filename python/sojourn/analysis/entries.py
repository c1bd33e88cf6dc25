"""Entries of traffic: those of a scenario, and the probes that controllers of routers send."""

from collections.abc import Mapping
from typing import Any

PROBES = "router controller"
"""What an entry of probes is called, behind its group of homes where there are several."""

Settings = Mapping[str, Any]


def entries_of(settings: Settings) -> dict[str, Settings]:
    """All entries that results name, with their keys."""
    entries = dict(settings["traffic"])
    homes: Mapping[str, Settings] = settings.get("homes") or {"": {}}
    for name, group in homes.items():
        router = group.get("router") or settings.get("router") or {}
        if router.get("controller"):
            group_name = f"{name} {PROBES}" if len(homes) > 1 else PROBES
            own = {"home": name} if name else {}
            entries.setdefault(group_name, {"kind": PROBES, "dscp": 0, **own})
    return entries


def router_of_first_home(settings: Settings) -> Settings:
    """The router of the first home, with its links; empty if there is none."""
    homes: Mapping[str, Settings] = settings.get("homes") or {"": {}}
    router: Settings = next(iter(homes.values())).get("router") or settings.get("router") or {}
    return {link: of for link, of in router.items() if of}
