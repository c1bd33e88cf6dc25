"""Published studies, redone: each a package of this one with a `STUDY`."""

from importlib import import_module

from ..known import UnknownError, known
from .study import Drawing, Figure, FigureNumber, Study

__all__ = ["STUDIES", "Drawing", "Figure", "Study", "UnknownError", "draw", "known", "study"]

STUDIES = ("white2012", "white2013", "white2014", "hong2015")
"""The studies, by their authors and year."""


def study(name: str) -> Study:
    """A study by its name."""
    known("study", name, STUDIES)
    found: Study = import_module(f".{name}", __name__).STUDY
    return found


def draw(name: str, number: FigureNumber) -> Drawing:
    """Draws a figure that needs no store of runs."""
    figures = study(name).figures
    without = [number for number, figure in figures.items() if not figure.cases]
    return figures[known(f"figure of {name}", number, without)].draw({})
