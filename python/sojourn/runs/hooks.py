"""Functions that results call in packages built on this one: rendering and saving.

This package cannot import those, so `sojourn` registers their functions when it is imported.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

    from .._sojourn import Variant
    from ..analysis.groups import Results


class Hooks(NamedTuple):
    """The registered functions."""

    results_html: "Callable[[Results], str]"
    """Renders results in a notebook."""
    scenario_html: "Callable[[Sequence[Variant]], str]"
    """Renders a scenario in a notebook."""
    save: "Callable[[Results, Path, bool], None]"
    """Writes report, summary and tables to a directory, and may overwrite; raises `OSError`."""


_registered: list[Hooks] = []


def register(hooks: Hooks) -> None:
    """Registers the functions to call from now on."""
    _registered[:] = [hooks]


def hooks() -> Hooks:
    """The registered functions."""
    return _registered[0]
