"""Bufferbloat in a letter and three numbers for each setting, as tests of it show them."""

from collections.abc import Container

from ..base.grid import Grid, digits
from .verdict import Verdict

NOT_MEASURED = "not measured"


def bufferbloat_grid(judged: Verdict, names: Container[str]) -> Grid | None:
    """A row for each of these settings; `None` if no game measured one idle and under load."""
    found = {name: one for name, one in judged.round_trips.items() if name in names}
    if not any(one.idle_ms and (one.downloading_ms or one.uploading_ms) for one in found.values()):
        return None
    rows = [
        [
            name,
            one.letter or NOT_MEASURED,
            *(
                NOT_MEASURED if ms is None else digits(ms)
                for ms in (one.idle_ms, one.downloading_ms, one.uploading_ms)
            ),
        ]
        for name, one in found.items()
    ]
    title = "Bufferbloat: the median round trip of games in ms, and a letter from A+ to F"
    if len(rows) < (count := len(judged.round_trips)):
        title += f", {len(rows)} of {count} settings"
    return Grid(
        title,
        ["", "letter", "idle", "while\ndownloading", "while\nuploading"],
        rows,
    )
