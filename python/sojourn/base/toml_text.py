"""Writes values as TOML, for scenarios given as a dict, and reads dotted keys."""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Integral, Real
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")

_MOST = 10**100
"""Whole numbers of TOML have 64 bits. Somewhat larger ones are refused with their value."""

_MARK = 60_451
"""A value that distinguishes a key from a text with a value of its own, such as `a = 1 #`."""


def toml_document(table: Mapping[str, Any]) -> str:
    """A TOML document with one line per key. Keys with the value `None` are omitted.

    Raises `TypeError` for what TOML lacks: keys that are no strings, and values of other types.
    """
    return "".join(f"{line}\n" for line in _pairs(table))


def toml_value(value: Any, path: str = "") -> str:
    """A value on one line; `path` names it in errors."""
    match value:
        case bool():
            return str(value).lower()
        case Integral() if abs(int(value)) < _MOST:
            return str(int(value))
        case Real() if not isinstance(value, Integral):
            return repr(float(value))
        case str():
            return _quoted(value)
        case Mapping():
            return f"{{ {', '.join(_pairs(value, f'{path}.' if path else ''))} }}"
        case Sequence() if not isinstance(value, bytes):
            return f"[{', '.join(toml_value(one, path) for one in value)}]"
    where = f"{path}: " if path else ""
    found = "a whole number of over 100 digits" if isinstance(value, Integral) else f"{value!r}"
    allowed = "a number, true or false, a string, a list or a dict"
    raise TypeError(f"{where}found {found}; allowed: {allowed}")


def key_path(text: str) -> tuple[str, ...]:
    """The names in a dotted key, some of which may be in quotes; empty if it is no such key."""
    names: list[str] = []
    with suppress(tomllib.TOMLDecodeError):
        table: Any = tomllib.loads(f"{text} = {_MARK}") if "\n" not in text else {}
        while isinstance(table, dict) and len(table) == 1:
            ((name, table),) = table.items()
            names.append(name)
        if table == _MARK:
            return tuple(names)
    return ()


def dotted(path: Iterable[str]) -> str:
    """The dotted key of these names, with quotes where they are needed."""
    return ".".join(_key(name, "") for name in path)


def are_nested(one: str, other: str) -> bool:
    """Is one dotted key the other, or within it? In both `*` is any name."""
    if "*" in f"{one}{other}":
        pairs = zip(one.split("."), other.split("."), strict=False)
        return all(first == second or "*" in (first, second) for first, second in pairs)
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


def _pairs(table: Mapping[str, Any], above: str = "") -> list[str]:
    named = [(_key(k, above), v) for k, v in table.items() if v is not None]
    return [f"{key} = {toml_value(value, above + key)}" for key, value in named]


def _key(name: Any, above: str) -> str:
    if not isinstance(name, str):
        where = f"{above.rstrip('.')}: " if above else ""
        raise TypeError(f"{where}found the key {name!r}; allowed: keys that are strings")
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON strings are valid TOML, except that TOML requires DEL to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
