"""Values that came from a page, checked; what is wrong with one is said as the core says it."""

import json
from collections.abc import Sequence
from typing import Any

_LONGEST_SHOWN = 60


class RequestError(ValueError):
    """A choice that the page does not offer; `path` is where it stands."""

    def __init__(self, path: str, found: object, allowed: str) -> None:
        """Says what was `found` and what is `allowed` there."""
        shown = (
            json.dumps(found, ensure_ascii=False, default=str) if found is not None else "nothing"
        )
        if len(shown) > _LONGEST_SHOWN:
            shown = f"{shown[:_LONGEST_SHOWN]}…"
        super().__init__(f"{path}: found {shown}; allowed: {allowed}")
        self.path = path


def table(path: str, found: object, keys: Sequence[str] | None = None) -> dict[str, Any]:
    """A table; with `keys`, one that has no others."""
    if not isinstance(found, dict):
        raise RequestError(path, found, "a table")
    for key in found:
        if keys is not None and key not in keys:
            raise RequestError(f"{path}.{key}", found[key], f"only {', '.join(keys)}")
    return found


def number(path: str, found: object, least: float, most: float) -> float:
    """A number in this range."""
    if isinstance(found, bool) or not isinstance(found, int | float) or not least <= found <= most:
        raise RequestError(path, found, f"a number from {least:g} to {most:g}")
    return found


def whole(path: str, found: object, least: int, most: int) -> int:
    """A whole number in this range."""
    if isinstance(found, bool) or not isinstance(found, int) or not least <= found <= most:
        raise RequestError(path, found, f"a whole number from {least} to {most}")
    return found


def words(path: str, found: object, most: int) -> str:
    """A text that says something, of at most so many characters."""
    if not isinstance(found, str) or not found.strip() or len(found) > most:
        raise RequestError(path, found, f"1 to {most} characters")
    return found
