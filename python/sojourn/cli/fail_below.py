"""The option `--fail-below` of commands that show results."""

from typing import TYPE_CHECKING, Annotated

import typer

from .say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analysis.groups import Results
    from ..analysis.limits import Limit

_OPTION = "--fail-below"

FailBelow = Annotated[
    list[str] | None,
    typer.Option(
        _OPTION,
        metavar="LIMIT",
        help="Exit with status 1 if any loaded setting is below this: good, fair, or a condition "
        "such as 'voice MOS > 4'. Repeatable.",
    ),
]


def read_limits(texts: "Sequence[str] | None") -> "list[Limit]":
    """The limits that were typed."""
    from ..analysis.limits import limit

    return [limit(text, _OPTION) for text in texts or ()]


def check_limits(results: "Results", limits: "Sequence[Limit]") -> None:
    """Says on stderr what is below the limits, and then ends the command with status 1."""
    from ..analysis.limits import failures

    found = list(failures(results, limits))
    for failure in found:
        say(f"failed: {failure}", err=True)
    if found:
        raise typer.Exit(1)
