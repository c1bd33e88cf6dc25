"""The studies by name."""

from importlib import import_module

from sojourn.base.lookup import look_up

from .drawing import Drawing
from .rows import FigureNumber
from .study import Study

STUDIES = (
    "white2012",
    "white2013",
    "white2014",
    "hong2015",
    "linux",
    "l4s",
    "lld",
    "rfc7928",
    "lines",
)
"""The studies, by their authors and year, or by what was measured.

Each is a package beside this one with a `STUDY`.
"""


def study(name: str) -> Study:
    """A study by its name; raises `UnknownError` for any other."""
    look_up("study", name, STUDIES)
    found: Study = import_module(f"sojourn_studies.{name}").STUDY
    return found


def draw(name: str, number: FigureNumber) -> Drawing:
    """Draws a figure that needs no store of runs."""
    figures = study(name).figures
    without = [number for number, figure in figures.items() if not figure.cases]
    return figures[look_up(f"figure of {name}", number, without)].draw({})


if __name__ == "__main__":
    print(*STUDIES)
