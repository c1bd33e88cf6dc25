"""Names that are asked for, and what there is."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T", bound=int | str)


def quoted(name: str) -> str:
    """A name for a list of names: between quotes if it has a comma itself."""
    return f"“{name}”" if "," in name else name


class UnknownError(ValueError):
    """Something asked for that there is not; says what there is."""


def known(what: str, asked: T, there: Sequence[T]) -> T:
    """What was asked for; raises `UnknownError` if it is not among what there is."""
    if asked not in there:
        allowed = ", ".join(quoted(str(one)) for one in there) or "none"
        raise UnknownError(f"{what}: found {asked!r}; allowed: {allowed}")
    return asked
