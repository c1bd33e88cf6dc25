"""Checks values sent by the page; messages are worded like those of the core."""

import json
from collections.abc import Sequence
from typing import Any

_LONGEST_SHOWN = 60


class RequestError(ValueError):
    """An invalid request; `path` is the key at fault."""

    def __init__(self, path: str, problem: str) -> None:
        """Names the key and the problem with it."""
        super().__init__(f"{path}: {problem}")
        self.path = path


def refusal(path: str, found: object, allowed: str) -> RequestError:
    """The error for a value that is not allowed."""
    shown = json.dumps(found, ensure_ascii=False, default=str) if found is not None else "nothing"
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[:_LONGEST_SHOWN]}…"
    return RequestError(path, f"found {shown}; allowed: {allowed}")


def table(path: str, found: object, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """A table; with `keys`, no other keys are allowed."""
    if not isinstance(found, dict):
        raise refusal(path, found, "a table")
    for key in found:
        if keys is not None and key not in keys:
            raise RequestError(f"{path}.{key}", f"unknown key; allowed here: {', '.join(keys)}")
    return found


def number(path: str, found: object, least: float, most: float) -> float:
    """A number in the range."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found <= most:
        raise refusal(path, found, f"a number from {least:g} to {most:g}")
    return found


def whole(path: str, found: object, least: int, most: int) -> int:
    """A whole number in the range."""
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise refusal(path, found, f"a whole number from {least} to {most}")
    return found


def words(path: str, found: object, most: int) -> str:
    """A text with at most `most` characters that is not blank."""
    if not isinstance(found, str) or not found.strip() or len(found) > most:
        raise refusal(path, found, f"1 to {most} characters")
    return found
