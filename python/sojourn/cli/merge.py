"""The command `sojourn merge`."""

from pathlib import Path
from typing import Annotated

from .options import Parts, argument, option
from .plugins import files_of
from .say import say, say_report


def merge(
    parts: Annotated[list[Path], argument("PART", "Results of a command with --shard.")],
    out: Annotated[Path, option("DIR", "New directory for all results.")],
    part: Parts = None,
) -> None:
    """Join the parts of a sweep or study that ran with --shard.

    All parts must be there, each once, of the same sweep or study, and undamaged. DIR gets the
    files that one command without --shard would have written. The parts stay as they are.
    A study that was run with --law needs its --part again.
    """
    from ..store.merge import merge as merged

    store = merged(parts, out, files_of)
    say(f"results: {out} ({len(store.runs)} runs of {len(parts)} parts)")
    say_report(out)
