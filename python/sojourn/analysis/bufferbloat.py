"""Bufferbloat in a letter and three numbers for each setting, as tests of it show them."""

from ..base.grid import Grid, shown
from .verdict import Verdict

_NOT_MEASURED = "not measured"


def bufferbloat_grid(judged: Verdict) -> Grid | None:
    """A row for each setting; `None` if none has the round trip of a game under load."""
    found = judged.round_trips
    if not any(one.downloading_ms or one.uploading_ms for one in found.values()):
        return None
    rows = [
        [
            name,
            one.letter or _NOT_MEASURED,
            *(
                _NOT_MEASURED if ms is None else shown(ms, 0)
                for ms in (one.idle_ms, one.downloading_ms, one.uploading_ms)
            ),
        ]
        for name, one in found.items()
    ]
    return Grid(
        "Bufferbloat: the median round trip of games in ms, and a letter from A+ to F",
        ["", "letter", "idle", "while\ndownloading", "while\nuploading"],
        rows,
    )
