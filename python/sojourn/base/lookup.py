"""Names that are looked up, and the nearest one where there is none."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T", bound=int | str)


def quoted(name: str) -> str:
    """A name for a list of names: between quotes, as a shell has them, if it has a comma itself."""
    return f"'{name}'" if "," in name else name


class UnknownError(ValueError):
    """A name that there is not; the message lists those that there are."""


def look_up(what: str, name: T | None, there: Sequence[T]) -> T:
    """The name itself; raises `UnknownError`, which says `what` it is of, if it is not `there`."""
    if name is None or name not in there:
        words = [str(one) for one in there]
        found = "none" if name is None else repr(name)
        near = None if name is None else _nearest(str(name), words)
        meant = f" (did you mean {near}?)" if near else ""
        raise UnknownError(
            f"{what}: found {found}{meant}; allowed: {', '.join(map(quoted, words)) or 'none'}"
        )
    return name


def _nearest(name: str, words: Sequence[str]) -> str | None:
    by_letters = {word.casefold(): word for word in words}
    near = get_close_matches(name.casefold(), by_letters, n=1, cutoff=0.75)
    return quoted(by_letters[near[0]]) if near else None
