"""The figures of White & Rice 2013: grids of distributions, and one upload alone.

All are lost. Figures 12 to 14 and 22 to 24 are named in the text; "the next 3 figures" of §4.1.2
are taken as 15 to 17, those of §4.3 and §4.4 in order as 25 to 27 and 28.
"""

from collections.abc import Iterable

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from .cases import GROUPS, RF, SCHEMES, TRAFFIC, case, short
from .cells import Cell, cells_of_grid, distribution, short_rate

_LABELS = {
    "latency": ("latency of voice and gaming (ms)", "packets (%)", "log"),
    "loss": ("loss of voice and gaming (%)", "scenarios (%)", "linear"),
    "plt": ("page load time (s)", "pages (%)", "log"),
    "mos": ("mean opinion score", "calls (%)", "linear"),
}

_GRID = {
    f"congestion {rf}, {group} traffic": cells_of_grid(rf, group) for rf in RF for group in GROUPS
}
_MARGINS = {
    title: cells
    for rf, group in zip(RF, GROUPS, strict=True)
    for title, cells in (
        (f"congestion {rf}", cells_of_grid(rf=rf)),
        (f"{group} traffic", cells_of_grid(traffic=group)),
    )
}
_ALL = {"all conditions": cells_of_grid()}

_CASES = [case(scheme, number, rf) for scheme in SCHEMES for number in TRAFFIC for rf in RF]


def _grids(first: int, what: str, title: str) -> Iterable[tuple[int, Figure]]:
    """The grid of 3 x 3 cells, its rows and columns together, and all of it."""
    shapes = ((_GRID, 3, "by cell"), (_MARGINS, 2, "by row and column"), (_ALL, 1, "overall"))
    for number, (panels, columns, name) in enumerate(shapes, first):
        yield number, _cdfs(what, f"{title} {name}", panels, columns)


def _cdfs(what: str, title: str, panels: dict[str, list[Cell]], columns: int) -> Figure:
    x_label, y_label, scale = _LABELS[what]

    def draw(runs: Runs) -> Drawing:
        curves = {
            name: [Plot(s, *distribution(what, s, cells, runs).curve()) for s in SCHEMES]
            for name, cells in panels.items()
        }
        return drawing_of_panels(title, curves, columns, x_label, y_label, xscale=scale)

    return Figure(draw, _CASES)


def _upload_alone(runs: Runs) -> Drawing:
    panels = {scheme: [Plot("upload", *short_rate(scheme, runs))] for scheme in SCHEMES}
    title = "One Reno upload alone"
    return drawing_of_panels(title, panels, 3, "time (s)", "throughput (Mbps)")


FIGURES: dict[FigureNumber, Figure] = {
    **dict(_grids(12, "latency", "Latency of voice and gaming,")),
    **dict(_grids(15, "loss", "Loss of voice and gaming,")),
    **dict(_grids(22, "plt", "Page load time,")),
    **dict(_grids(25, "mos", "Voice quality,")),
    28: Figure(_upload_alone, [short(scheme) for scheme in SCHEMES]),
}
