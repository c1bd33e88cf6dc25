"""A command line with several programs: `[OPTIONS] -- COMMAND... --home NAME -- COMMAND...`."""

from collections.abc import Sequence
from typing import Any

from .command import Command

END = "--"
_HOME = "--home"
_FURTHER = "sojourn.further_programs"


class WithPrograms(Command):
    """A command whose programs may be in several homes."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Leaves the options and the first program to the parser, and keeps the others."""
        own, first, further = split(args)
        ctx.meta[_FURTHER] = further
        return super().parse_args(ctx, own + ([END, *first] if first else []))


def further_programs(context: Any) -> Sequence[tuple[str, Sequence[str]]]:
    """The homes that were typed behind `--home`, each with its program."""
    found: Sequence[tuple[str, Sequence[str]]] = context.meta[_FURTHER]
    return found


def split(words: Sequence[str]) -> tuple[list[str], list[str], list[tuple[str, list[str]]]]:
    """Options, the words behind the first `--`, and those behind each `--home NAME --`."""
    own: list[str] = []
    first: list[str] = []
    further: list[tuple[str, list[str]]] = []
    part = own
    place = 0
    while place < len(words):
        name, length = _home_at(words, place)
        if name is not None:
            part = []
            further.append((name, part))
        elif words[place] == END and part is own:
            part, length = first, 1
        else:
            part.append(words[place])
            length = 1
        place += length
    return own, first, further


def _home_at(words: Sequence[str], place: int) -> tuple[str | None, int]:
    """The name in `--home NAME --` or `--home=NAME --` at this place, and how many words it is."""
    word = words[place]
    if word == _HOME and words[place + 2 : place + 3] == [END]:
        return words[place + 1], 3
    if word.startswith(f"{_HOME}=") and words[place + 1 : place + 2] == [END]:
        return word.removeprefix(f"{_HOME}="), 2
    return None, 0
