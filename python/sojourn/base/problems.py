"""Problems with the files that users write, as exceptions."""

from collections.abc import Sequence
from typing import TypeVar

from .._sojourn import ConfigError, ScenarioError
from .errors import Problem
from .plain_text import plain_name

Refusal = TypeVar("Refusal", bound=ScenarioError | ConfigError)


def refused(kind: type[Refusal], problems: Sequence[Problem], rest: str | None = None) -> Refusal:
    """The exception for these problems, with the attributes of those that the simulator raises.

    `rest` is a sentence about further problems that are not listed.
    """
    lines = [": ".join(filter(None, (p.source, p.path, p.message))) for p in problems]
    if rest:
        lines.append(rest)
    error = kind("\n".join(map(plain_name, lines)))
    error.problems, error.rest = list(problems), rest
    error.source, error.path = problems[0].source, problems[0].path
    return error


def refusal(
    kind: type[Refusal], source: str, path: str, message: str, *, code: str = "not-allowed"
) -> Refusal:
    """The exception for one problem."""
    return refused(kind, [Problem(source, path, message, code=code)])
