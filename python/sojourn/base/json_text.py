"""Reads JSON that somebody else may have written."""

import json
from typing import Any

_MOST_VALUES = 5_000_000
"""The summary of five thousand runs has fewer."""


def json_of(content: bytes) -> Any:
    """The value of a JSON text in UTF-8; raises `ValueError` for any other.

    Also for one that is too deep, or has so many values that they would fill the memory.
    """
    if sum(map(content.count, (b",", b"[", b"{"))) > _MOST_VALUES:
        raise ValueError(f"it has more than {_MOST_VALUES} values")
    try:
        return json.loads(content.decode())
    except RecursionError:
        raise ValueError("nested too deeply") from None
