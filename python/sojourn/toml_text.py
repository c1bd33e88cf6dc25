"""Values as TOML, for scenarios that are given as a dict."""

import json
from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any


def toml_document(table: Mapping[str, Any]) -> str:
    """A TOML document, one line a key; keys whose value is `None` are left out."""
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
    raise TypeError(f"a scenario cannot hold {value!r}")


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_quoted(k)} = {toml_value(v)}" for k, v in table.items() if v is not None]


def _quoted(text: str) -> str:
    # JSON's strings are TOML's, but for DEL, which TOML wants escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
