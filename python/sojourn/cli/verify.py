"""The command `sojourn verify`."""

import typer

from .errors import BAD_INPUT
from .options import Directory
from .say import say


def verify(directory: Directory) -> None:
    """Check that stored results are undamaged.

    Every file is compared with its checksum. Damaged files and missing runs are reported; the exit
    status is then 2. What tables hold is checked when other commands read them.
    """
    from ..store.verify import verify as verified

    found = verified(directory)
    for problem in found.problems:
        say(f"error: {problem}", err=True)
    if found.problems:
        raise typer.Exit(BAD_INPUT)
    say(f"{found.runs} run{'' if found.runs == 1 else 's'} verified in {directory}")
