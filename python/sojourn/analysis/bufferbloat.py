"""Bufferbloat in a letter and its numbers for each line, as tests of it show them."""

from collections.abc import Container, Mapping

from ..base.grid import Grid, digits
from .verdict import Verdict

NOT_MEASURED = "not measured"
_LETTER = "and a letter for what load adds to the mean, from A+ to F"
_HEADINGS = ["idle", "while\ndownloading", "while\nuploading", "both\nat once"]


def letters_grid(
    what: str, lines: Mapping[str, tuple[str | None, *tuple[float | None, ...]]], some: str = ""
) -> Grid:
    """A row for each line: its letter, and what the title says, idle and under each load.

    `some` says which of all lines these are.

    What no line has of both loads at once is no column.
    """
    count = 4 if any(numbers[3] for _, *numbers in lines.values()) else 3
    rows = [
        [
            name,
            letter or NOT_MEASURED,
            *(NOT_MEASURED if number is None else digits(number) for number in numbers[:count]),
        ]
        for name, (letter, *numbers) in lines.items()
    ]
    title = ", ".join(filter(None, (f"Bufferbloat: {what}", _LETTER, some)))
    return Grid(title, ["", "letter", *_HEADINGS[:count]], rows)


def bufferbloat_grid(
    judged: Verdict, names: Container[str], *, names_traffic: bool = True
) -> Grid | None:
    """A row for each of these settings; `None` if nothing measured one idle and under load.

    With `names_traffic` rows of several games or calls name theirs.
    """
    chosen = {name: one for name, one in judged.round_trips.items() if name in names}
    are_several = names_traffic and len({one.traffic for one in chosen.values()}) > 1
    found = {
        f"{name} ({one.traffic})" if are_several else name: (
            one.letter,
            one.idle_ms,
            one.downloading_ms,
            one.uploading_ms,
            one.both_ms,
        )
        for name, one in chosen.items()
    }
    if not any(idle and any(loaded) for _, idle, *loaded in found.values()):
        return None
    count = len(judged.round_trips)
    some = f"{len(found)} of {count} settings" if len(found) < count else ""
    return letters_grid("the median round trip of games and calls in ms", found, some)
