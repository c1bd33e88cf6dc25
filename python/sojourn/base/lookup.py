"""Looks names up, and suggests the nearest one for an unknown name."""

from collections.abc import Sequence
from difflib import get_close_matches
from typing import TypeVar

from .errors import InputError

T = TypeVar("T", bound=int | str)


def quoted(name: str) -> str:
    """A name for use in a list of names: in quotes, as in a shell, if it contains a comma."""
    return f"'{name}'" if "," in name else name


_LISTED_AT_MOST = 24
"""More names than a reader would look through."""
_NEAR_AT_MOST = 5


def listed(names: Sequence[str]) -> str:
    """Names in a message: the first of many, and how many more there are."""
    first = ", ".join(map(quoted, names[:_LISTED_AT_MOST]))
    more = len(names) - _LISTED_AT_MOST
    return f"{first} and {more} more" if more > 0 else first


class UnknownError(InputError):
    """An unknown name; the message lists the valid ones."""


def look_up(what: str, name: T | None, there: Sequence[T]) -> T:
    """Returns `name` if it is in `there`, else raises `UnknownError` for the parameter `what`.

    Of very many names the nearest are listed first.
    """
    if name is None or name not in there:
        words = [str(one) for one in there]
        found = "missing" if name is None else f"found {name!r}"
        meant = "" if name is None else meant_by(str(name), words)
        if len(words) > _LISTED_AT_MOST:
            near = get_close_matches(str(name), words, n=_NEAR_AT_MOST)
            words = [*near, *(word for word in words if word not in near)]
        raise UnknownError(f"{what}: {found}{meant}; allowed: {listed(words) or 'none'}")
    return name


def meant_by(name: str, words: Sequence[str]) -> str:
    """The nearest of the names as a question in brackets, if one is near."""
    by_letters = {word.casefold(): word for word in words}
    near = get_close_matches(name.casefold(), by_letters, n=1, cutoff=0.75)
    return f" (did you mean {quoted(by_letters[near[0]])}?)" if near else ""
