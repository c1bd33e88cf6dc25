"""The report on logs of measured lines: one HTML file that works offline.

It has no name of a file, host or place.
"""

from collections.abc import Sequence

from markupsafe import Markup

from ..analysis.measured import MeasuredLine, headline, loads_grid
from ..plot.charts.base import Chart
from ..plot.drawing import inline_svg
from ..plot.figures.measured import figures
from .pages import render


def report_of_logs(lines: Sequence[MeasuredLine]) -> str:
    """The report, as one self-contained page."""
    names = [f"Log {number}" for number in range(1, len(lines) + 1)] if len(lines) > 1 else [""]
    logs = [
        (name, line.measured.sentences, loads_grid(line.measured), _figures(line, number))
        for number, (name, line) in enumerate(zip(names, lines, strict=True))
    ]
    found = {name: line.measured for name, line in zip(names, lines, strict=True)}
    return render("measured.html", "A measured line", headline=headline(found), logs=logs)


def _figures(line: MeasuredLine, number: int) -> list[tuple[Chart, Markup]]:
    drawn = enumerate(figures(line))
    return [(chart, inline_svg(chart, f"figure-{number}-{place}")) for place, chart in drawn]
