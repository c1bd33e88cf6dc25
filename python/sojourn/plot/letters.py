"""How wide texts are, without a font: about as in DejaVu Sans, which is wider than most."""

import re
from collections.abc import Iterator
from unicodedata import east_asian_width

_WIDTHS_EM = {
    **dict.fromkeys("ijlIJ' ,.|:;!/\\", 0.34),
    **dict.fromkeys('f-()[]tr"*_`sz?', 0.44),
    **dict.fromkeys("GOQNHDU&#+<=>^~wM", 0.82),
    **dict.fromkeys("mW%@", 0.98),
}
_OTHERS_EM = 0.64
_WIDE_EM = 1.05
_CUT = "…"
_BREAKS = re.compile(r"\s+(?!(?<=\d )[A-Za-z%]+\b)")
"""Spaces, but not those between a number and its unit."""


def width_em(text: str) -> float:
    """The width of a line in multiples of its letters' size."""
    return sum(map(_letter_em, text))


def _letter_em(letter: str) -> float:
    other = _WIDE_EM if east_asian_width(letter) in "WF" else _OTHERS_EM
    return _WIDTHS_EM.get(letter, other)


def wrapped(text: str, width: float, most: int = 1000) -> list[str]:
    """The lines of a text, each at most so many em wide.

    Numbers stay with their units if there is room, and more lines than `most` are cut.
    """
    lines: list[str] = []
    for word in _words(text, width):
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and width_em(joined) <= width:
            lines[-1] = joined
        else:
            lines += _pieces(word, width)
    kept = [*lines[: most - 1], " ".join(lines[most - 1 :])]
    return [cut(line, width) for line in kept if line]


def _words(text: str, width: float) -> Iterator[str]:
    for word in _BREAKS.split(text.strip()):
        yield from [word] if width_em(word) <= width else word.split()


def _pieces(word: str, width: float) -> list[str]:
    """A word that is wider than a line in pieces that are not."""
    pieces, room = [""], width
    for letter in word:
        room -= _letter_em(letter)
        if room < 0 and pieces[-1]:
            pieces.append("")
            room = width - _letter_em(letter)
        pieces[-1] += letter
    return pieces


def cut(text: str, width: float) -> str:
    """A line without its middle if it is wider than so many em: names often differ at the end."""
    if width_em(text) <= width:
        return text
    half = (width - width_em(_CUT)) / 2
    return f"{_first(text, half).rstrip()}{_CUT}{_first(text[::-1], half)[::-1].lstrip()}"


def _first(text: str, width: float) -> str:
    return _pieces(text, width)[0]
