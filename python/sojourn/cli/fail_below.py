"""The option `--fail-below` of commands that show results."""

from typing import TYPE_CHECKING, Annotated

import typer

from .options import option
from .say import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analysis.groups import Results
    from ..analysis.limits import Limit

_OPTION = "--fail-below"

FailBelow = Annotated[
    list[str] | None,
    option(
        "LIMIT",
        "Exit with status 1 if a setting is below this: a grade such as good or fair, or a "
        "condition such as 'voice MOS > 4'. Repeatable.",
        _OPTION,
    ),
]
Of = Annotated[
    list[str] | None,
    option(
        "VARIANT",
        f"The variant of which {_OPTION} is required; default: all but idle lines. Repeatable.",
    ),
]


def read_limits(texts: "Sequence[str] | None", of: "Sequence[str] | None" = None) -> "list[Limit]":
    """The limits that were typed; raises `BadParameter` for variants without a limit."""
    from ..analysis.limits import limit

    if of and not texts:
        raise typer.BadParameter(f"--of: found {of[0]!r} without {_OPTION}; allowed: both")
    return [limit(text, _OPTION) for text in texts or ()]


def check_variants(names: "Sequence[str] | None", there: "Sequence[str]") -> None:
    """Raises `UnknownError` for the first of `--of` that is not there, before anything runs."""
    from ..base.lookup import UnknownError, look_up

    named = list(filter(None, there))
    for name in names or ():
        if not named:
            raise UnknownError(f"--of: found {name!r} for a run without variants; allowed: no --of")
        look_up("--of", name, named)


def check_limits(
    results: "Results", limits: "Sequence[Limit]", of: "Sequence[str] | None" = None
) -> None:
    """Says on stderr what is below the limits, and then ends the command with status 1.

    Traffic that has no grade by its kind is named, and so is a missing idle line: no failures.
    """
    from ..analysis.limits import failures, ungraded

    found = list(failures(results, limits, of or ()))
    if missing := ungraded(results, limits):
        say(f"note: {missing} A condition on a measure can require more of it.", err=True)
    for failure in found:
        say(f"failed: {failure}", err=True)
    if found:
        raise typer.Exit(1)
