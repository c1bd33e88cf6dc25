"""Writes values as TOML, for scenarios given as a dict."""

import json
import re
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def toml_document(table: Mapping[str, Any]) -> str:
    """A TOML document with one line per key. Keys with the value `None` are omitted."""
    return "".join(f"{line}\n" for line in _pairs(table))


def toml_value(value: Any) -> str:
    """A value on one line."""
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
            return f"{{ {', '.join(_pairs(value))} }}"
        case Sequence():
            return f"[{', '.join(map(toml_value, value))}]"
    raise TypeError(f"TOML has no value for {value!r}")


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(k)} = {toml_value(v)}" for k, v in table.items() if v is not None]


def _key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _quoted(name)


def _quoted(text: str) -> str:
    # JSON strings are valid TOML, except that TOML requires DEL to be escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
