"""The TOML files of a study: its choices, remarks, claims and alternatives."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from .cases import Alternative, Change
from .changes import all_of, of_keys, of_kind, of_traffic
from .claims import Choice, Claim, Remark
from .rows import data


def choices(study: str) -> tuple[Choice, ...]:
    """What the document leaves open: `choices.toml`."""
    return tuple(Choice(**entry) for entry in _entries(study, "choice"))


def remarks(study: str) -> tuple[Remark, ...]:
    """Why cells do not agree: `remarks.toml`."""
    return tuple(Remark(**entry) for entry in _entries(study, "remark"))


def claims(study: str, tests: ModuleType) -> tuple[Claim, ...]:
    """Sentences of the document: `claims.toml`, where `name` is the test `_name` of a module."""
    return tuple(
        Claim(number, **{**entry, "test": getattr(tests, f"_{entry['test']}")})
        for number, entry in enumerate(_entries(study, "claim"), 1)
    )


def alternatives(study: str, changes: ModuleType | None) -> tuple[Alternative, ...]:
    """Alternative assumptions: `alternatives.toml`, each with the keys that it sets.

    What is more than keys, `change = ["name"]`, is the function `_name` of a module.
    """
    return tuple(_alternative(entry, changes) for entry in _entries(study, "alternative"))


def _entries(study: str, kind: str) -> Sequence[dict[str, Any]]:
    entries: Sequence[dict[str, Any]] = tomllib.loads(data(study, f"{kind}s.toml"))[kind]
    return entries


def _alternative(entry: Mapping[str, Any], changes: ModuleType | None) -> Alternative:
    words = dict(entry)
    parts = [
        *map(_of_key, words.pop("set", {}).items()),
        *(of_kind(kind, **keys) for kind, keys in words.pop("kinds", {}).items()),
        *map(_of_entries, words.pop("traffic", [])),
        *(getattr(changes, f"_{name}") for name in words.pop("change", [])),
    ]
    return Alternative(change=all_of(*parts), **words)


def _of_key(item: tuple[str, Any]) -> Change:
    path, _, key = item[0].rpartition(".")
    return of_keys(path, **{key: item[1]})


def _of_entries(words: Mapping[str, Any]) -> Change:
    """Sets keys of those entries of the traffic that have all of `where`, and the key `having`."""
    is_meant = _where(words.get("where", {}), words.get("having"))
    return of_traffic(is_meant, words.get("tcp"), **words.get("set", {}))


def _where(wanted: Mapping[str, Any], having: str | None) -> Callable[[Mapping[str, Any]], bool]:
    def is_meant(entry: Mapping[str, Any]) -> bool:
        flat = {**entry.get("tcp", {}), **entry}
        alike = all(flat.get(key) == value for key, value in wanted.items())
        return alike and (having is None or having in entry)

    return is_meant
