"""Looks names up, and suggests the nearest one for an unknown name."""

import re
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
    """The nearest names as a question in brackets: by their letters, or else by their meaning."""
    by_letters = {word.casefold(): word for word in words}
    near = get_close_matches(name.casefold(), by_letters, n=1, cutoff=0.75)
    meant = [by_letters[one] for one in near] or _alike(name, words)[:_MEANT_AT_MOST]
    *others, last = map(quoted, meant or [""])
    return (
        f" (did you mean {' or '.join(filter(None, (', '.join(others), last)))}?)" if last else ""
    )


_MEANT_AT_MOST = 3
_ALIKE = (
    {"call", "voice", "phone", "telephone", "voip"},
    {"call", "zoom", "teams", "facetime", "webex", "meet", "meeting", "conference", "webrtc"},
    {"game", "gaming"},
    {"page", "pages", "web", "website", "browsing", "http2", "http3", "quic"},
    {"video", "film", "movie", "streaming", "tv"},
    {"upload", "up", "upstream", "uplink"},
    {"download", "down", "downstream", "downlink"},
    {"latency", "delay", "rtt", "ping", "lag", "p50", "p90", "p99"},
    {"loss", "lost", "losses", "dropped"},
    {"mos", "quality", "score"},
    {"upload", "download", "rate", "speed", "throughput", "bandwidth", "goodput"},
    {"stalled", "stall", "stalls", "rebuffering", "buffering"},
    {"queue", "buffer", "bufferbloat"},
    {"torrent", "bittorrent", "p2p"},
    {"tail", "droptail", "taildrop", "fifo", "none"},
    {"low", "lld", "l4s"},
)
"""Words for one thing: first guesses, and words in the names of measures, uses and settings."""


def _alike(name: str, there: Sequence[str]) -> list[str]:
    """The names that have each word of the name that means something; the nearest first."""
    known = _words(" ".join(there)).union(*_ALIKE)
    asked = {
        word: {word}.union(*(of for of in _ALIKE if word in of)) for word in _words(name) & known
    }
    meant: set[str] = set().union(*asked.values())
    found = [one for one in there if asked and all(_words(one) & of for of in asked.values())]
    return sorted(found, key=lambda one: (len(_words(one) - meant), -len(_words(one) & {*asked})))


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z0-9.]+", name.casefold()))
