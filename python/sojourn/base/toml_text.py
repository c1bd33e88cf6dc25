"""Writes values as TOML, for scenarios given as a dict."""

import json
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


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
        case Integral():
            return str(int(value))
        case Real():
            return repr(float(value))
        case str():
            return _quoted(value)
        case Mapping():
            return f"{{ {', '.join(_pairs(value, f'{path}.' if path else ''))} }}"
        case Sequence() if not isinstance(value, bytes):
            return f"[{', '.join(toml_value(one, path) for one in value)}]"
    where = f"{path}: " if path else ""
    allowed = "a number, true or false, a string, a list or a dict"
    raise TypeError(f"{where}found {value!r}; allowed: {allowed}")


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
