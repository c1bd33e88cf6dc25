"""The homes of an emulation: whose modem a program is behind, and what its packets are called."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from .._sojourn import Variant
from ..base.errors import InputError

HOME, SERVER = "home", "server"


class HomeError(InputError):
    """A home that cannot have an end; `reason` is the message without the name of the parameter."""

    def __init__(self, reason: str) -> None:
        """Names the parameter of `emulate`."""
        super().__init__(f"homes: {reason}")
        self.reason = reason


class Home(NamedTuple):
    """A home with an end for programs."""

    group: str
    """Its group in the scenario, of which it is the first."""
    entry: str
    """The traffic entry that its packets are of."""
    hosts: Sequence[str]
    """The names by which programs know it."""


def with_homes(
    variant: Variant, program: str, others: Iterable[tuple[str, str]]
) -> tuple[Variant, list[Home]]:
    """The variant with an entry for the packets of each home, and these homes, the measured first.

    `others` are the groups of further homes, each with the name of its program. Raises `InputError`
    for one that cannot have an end.
    """
    scenario: Mapping[str, Any] = json.loads(variant.to_json())
    groups = list(scenario["homes"]) or [HOME]
    outside = {entry: of for entry, of in scenario["traffic"].items() if of["kind"] == "outside"}
    for entry, of in outside.items():
        _refuse_record(entry, of)
    real = {entry: of.get("home") or groups[0] for entry, of in outside.items()}
    measured = next(iter(real.values()), scenario["metrics"].get("homes") or groups[0])
    wanted = [(measured, program)]
    for group, name in others:
        _check(group, [taken for taken, _ in wanted], groups)
        wanted.append((group, f"{name}-{group}"))
    taken = set(scenario["traffic"])
    settings: dict[str, str] = {}
    homes: list[Home] = []
    for group, name in wanted:
        entry = next((entry for entry, of in real.items() if of == group), None)
        if entry is None:
            entry = _new_entry(name, taken)
            taken.add(entry)
            settings[f"traffic.{entry}.kind"] = "outside"
            if group != groups[0]:
                settings[f"traffic.{entry}.home"] = group
        homes.append(Home(group, entry, _hosts(group, homes)))
    return variant.replace(set=settings) if settings else variant, homes


def _refuse_record(entry: str, of: Mapping[str, Any]) -> None:
    if of.get("record") is not None:
        raise InputError(
            f"traffic.{entry}.record: found {of['record']!r}; allowed: none in an "
            "emulation, whose packets are those of programs; sojourn run sends recorded ones"
        )


def _check(group: str, taken: Sequence[str], groups: Sequence[str]) -> None:
    free = [one for one in groups if one not in taken]
    allowed = ", ".join(map(repr, free)) or (
        "none, no other group of homes is left; [homes.NAME] tables in the scenario make some"
    )
    if group == taken[0]:
        why = ", where the first program is"
    elif group in taken:
        why = " twice"
    elif group not in groups:
        why = ""
    else:
        return
    raise HomeError(f"found {group!r}{why}; allowed: {allowed}")


def _new_entry(name: str, taken: Iterable[str]) -> str:
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:40] or "program"
    names = (base, *(f"{base}-{number}" for number in range(2, len(list(taken)) + 2)))
    return next(name for name in names if name not in taken)


def _hosts(group: str, before: Sequence[Home]) -> Sequence[str]:
    """What programs call a home: `home` if it is the first, and its group."""
    own = re.sub(r"[^A-Za-z0-9-]+", "-", group).strip("-")
    taken = {HOME, SERVER, *(host for home in before for host in home.hosts)}
    if not before:
        return [HOME] if own in taken or not own else [HOME, own]
    if own in taken or not own:
        raise HomeError(
            f"found {group!r}, which programs would know by the name {own!r} of another end; "
            "allowed: a group with another name"
        )
    return [own]
