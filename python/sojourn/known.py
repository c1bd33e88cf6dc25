"""Names that are asked for, and what there is."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T", bound=int | str)


def quoted(name: str) -> str:
    """A name for a list of names: between quotes if it has a comma itself."""
    return f"“{name}”" if "," in name else name


class UnknownError(ValueError):
    """Something asked for that there is not; says what there is."""


def known(what: str, asked: T | None, there: Sequence[T]) -> T:
    """What was asked for; raises `UnknownError` if it is not among what there is."""
    if asked is None or asked not in there:
        allowed = ", ".join(quoted(str(one)) for one in there) or "none"
        found = "none" if asked is None else repr(asked)
        raise UnknownError(f"{what}: found {found}; allowed: {allowed}")
    return asked
