"""Names that are asked for, and what there is."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T", bound=int | str)


class UnknownError(ValueError):
    """Something asked for that there is not; says what there is."""


def known(what: str, asked: T, there: Sequence[T]) -> T:
    """What was asked for; raises `UnknownError` if it is not among what there is."""
    if asked not in there:
        allowed = ", ".join(map(str, there)) or "none"
        raise UnknownError(f"{what}: found {asked!r}; allowed: {allowed}")
    return asked
