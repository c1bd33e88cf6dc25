"""Names that are asked for, and what there is."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T", bound=int | str)


def quoted(name: str) -> str:
    """A name for a list of names: between quotes, as a shell has them, if it has a comma itself."""
    return f"'{name}'" if "," in name else name


class UnknownError(ValueError):
    """Something asked for that there is not; says what there is."""


def known(what: str, asked: T | None, there: Sequence[T]) -> T:
    """What was asked for; raises `UnknownError` if it is not among what there is."""
    if asked is None or asked not in there:
        words = [str(one) for one in there]
        found = "none" if asked is None else repr(asked)
        near = None if asked is None else _nearest(str(asked), words)
        meant = f" (did you mean {near}?)" if near else ""
        raise UnknownError(
            f"{what}: found {found}{meant}; allowed: {', '.join(map(quoted, words)) or 'none'}"
        )
    return asked


def _nearest(asked: str, words: Sequence[str]) -> str | None:
    by_letters = {word.casefold(): word for word in words}
    near = get_close_matches(asked.casefold(), by_letters, n=1, cutoff=0.75)
    return quoted(by_letters[near[0]]) if near else None
