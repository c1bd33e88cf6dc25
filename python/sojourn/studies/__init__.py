"""Published studies, redone."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

STUDIES: Mapping[str, str] = {
    "white2014": "White, Active Queue Management in DOCSIS 3.x Cable Modems, CableLabs 2014",
}
"""Name and title of every study, each a package of this one with a table `FIGURES`."""


class UnknownError(ValueError):
    """A study or figure that there is not; says which there are."""


@dataclass(frozen=True)
class Drawing:
    """A figure of a study: the picture, and the numbers that it shows."""

    title: str
    svg: bytes
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]

    @property
    def csv(self) -> str:
        """The numbers, with a line of headings."""
        lines = [self.columns, *([_cell(value) for value in row] for row in self.rows)]
        return "".join(",".join(line) + "\n" for line in lines)


def study(name: str) -> ModuleType:
    """The module of a study."""
    if name not in STUDIES:
        raise UnknownError(f"study: found {name!r}; allowed: {', '.join(STUDIES)}")
    return import_module(f".{name}", __name__)


def draw(name: str, number: int) -> Drawing:
    """Draws a figure of a study."""
    figures = study(name).FIGURES
    if number not in figures:
        known = ", ".join(map(str, figures))
        raise UnknownError(f"figure of {name}: found {number}; allowed: {known}")
    drawing: Drawing = figures[number]()
    return drawing


def _cell(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else str(value)
