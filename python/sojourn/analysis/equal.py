"""Variants whose tables are equal: they are one run."""

from collections.abc import Iterator, Sequence
from typing import Any

from ..base.errors import Warning
from ..base.lookup import quoted
from .groups import EQUAL, Group
from .tables import TABLES, RunTables


def equal_groups(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """Groups whose runs have equal tables, two or more together."""
    alike: dict[str, list[list[Group]]] = {}
    for group in groups:
        if group.is_idle:
            continue
        # Few groups have equal flows; only those are compared with each other.
        candidates = alike.setdefault(str(group.first.flows.to_pydict()), [])
        equal = next((found for found in candidates if _are_equal(found[0], group)), None)
        if equal is None:
            candidates.append([group])
        else:
            equal.append(group)
    return (found for several in alike.values() for found in several if len(found) > 1)


def warning_of(groups: Sequence[Group]) -> Warning:
    """What to know of groups with equal tables: why they are equal, if a rule says so."""
    names = [quoted(group.name) for group in groups]
    named = " and ".join([", ".join(names[:-1]), names[-1]])
    idle = [
        one.message
        for group in groups
        for one in group.first.warnings
        if one.code == "idle-key" and _differ(groups, one.path)
    ]
    why = "; ".join(dict.fromkeys(idle)) or "nothing in their tables differs"
    return Warning(EQUAL, "compare", f"{named} are one run: {why}", {"why": why}, {})


def _are_equal(one: Group, other: Group) -> bool:
    pairs = list(zip(one.runs, other.runs, strict=False))
    same_seeds = len(one.runs) == len(other.runs)
    return same_seeds and all(_same(*pair, table) for table in TABLES for pair in pairs)


def _same(one: RunTables, other: RunTables, table: str) -> bool:
    if one.keeps(table) != other.keeps(table):
        return False
    return not one.keeps(table) or bool(one.table(table).equals(other.table(table)))


def _differ(groups: Sequence[Group], path: str) -> bool:
    """Do the scenarios of groups differ at this path?"""
    first, *others = [_at(group.first.settings, path) for group in groups]
    return any(other != first for other in others)


def _at(value: Any, path: str) -> Any:
    for part in path.split("."):
        if isinstance(value, list):
            value = value[int(part)] if part.isdigit() and int(part) < len(value) else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value
