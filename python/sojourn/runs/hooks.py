"""What outcomes do with the help of rooms that build on this one: show themselves, be saved.

This room cannot import those, so the package registers their functions when it is imported.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .._sojourn import Variant
    from ..analysis.tables import RunTables


@dataclass(frozen=True)
class Hooks:
    """The functions of those rooms; runs are by variant."""

    results_html: "Callable[[Mapping[str, RunTables]], str]"
    """What a notebook shows of results."""
    scenario_html: "Callable[[Sequence[Variant]], str]"
    """What a notebook shows of a scenario."""
    save: "Callable[[Mapping[str, RunTables], Path], None]"
    """Writes report, summary and tables to a directory; raises `OSError`."""


_registered: list[Hooks] = []


def register(hooks: Hooks) -> None:
    """From now on these are called."""
    _registered[:] = [hooks]


def hooks() -> Hooks:
    """What was registered."""
    return _registered[0]
