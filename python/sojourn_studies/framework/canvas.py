"""Drawing for paper: a line or set of dots per series, in one axes or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sojourn.analysis.distribution import Numbers
from sojourn.plot.charts.base import MARKS, dash_of
from sojourn.plot.palette import PALETTE
from sojourn.plot.paper import blank, to_svg

from .drawing import Drawing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS = (*PALETTE, "#000000")
"""On paper black is as good as any. Schemes beyond the seventh differ by their dashes and dots."""

_LEGEND_COLUMNS = 4


@dataclass(frozen=True)
class Plot:
    """A series of an axes: a line, or `dots`; with `marked` the line's first point is a dot too."""

    name: str
    x: Numbers
    y: Numbers
    dots: bool = False
    marked: bool = False

    @property
    def points(self) -> list[tuple[float, float]]:
        """Its values of x and y."""
        return list(zip(self.x.tolist(), self.y.tolist(), strict=True))


def svg(plots: Sequence[Plot], **axes: Any) -> bytes:
    """The picture of some series; `axes` are matplotlib's: labels, scales, limits."""
    figure, canvas = blank()
    _draw(canvas, plots, axes)
    if len(plots) > 1:
        figure.legend(loc="outside upper center", ncols=min(len(plots), 4), frameon=False)
    return to_svg(figure)


def drawing_of(title: str, plots: Sequence[Plot], x_label: str, y_label: str) -> Drawing:
    """Curves in one axes with their numbers."""
    picture = svg(plots, title=title, xlabel=x_label, ylabel=y_label)
    rows = [[plot.name, *point] for plot in plots for point in plot.points]
    return Drawing(title, picture, ("curve", x_label, y_label), rows)


Panels = Mapping[str, Sequence[Plot]]
"""The series of each axes by its title; all axes have the same ones."""


def svg_of_panels(panels: Panels, columns: int, *, share_y: bool = True, **axes: Any) -> bytes:
    """The picture of several axes that share their scales, or the x axis alone, in columns."""
    rows = -(-len(panels) // columns)
    legend_rows = -(-max(map(len, panels.values())) // _LEGEND_COLUMNS)
    head_in = max(0.8, 0.4 + 0.2 * legend_rows)
    width_in, height_in = 3.6 * columns + 1, 2.6 * rows + head_in
    figure, _ = blank((width_in, height_in), layout=None)
    figure.clear()
    # Margins are set, not found: to find them takes as long as to draw the rest.
    figure.subplots_adjust(
        left=0.7 / width_in,
        right=1 - 0.15 / width_in,
        bottom=0.5 / height_in,
        top=1 - head_in / height_in,
        wspace=0.06 if share_y else 0.16,
        hspace=0.2,
    )
    grid = figure.subplots(rows, columns, sharex=True, sharey=share_y, squeeze=False)
    canvases = list(grid.flat)
    for canvas in canvases[len(panels) :]:
        canvas.set_axis_off()
    for number, (title, plots) in enumerate(panels.items(), 1):
        canvas = canvases[number - 1]
        _draw(canvas, plots, {**axes, "title": title})
        canvas.label_outer()
        if number + columns > len(panels):  # nothing is drawn below it
            canvas.tick_params(labelbottom=True)
            canvas.set_xlabel(axes.get("xlabel", ""))
        if not share_y:
            canvas.tick_params(labelleft=True)
    handles, names = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="upper center", ncols=_LEGEND_COLUMNS, frameon=False)
    return to_svg(figure)


def drawing_of_panels(
    title: str, panels: Panels, columns: int, x_label: str, y_label: str, **axes: Any
) -> Drawing:
    """A figure of several axes, with its numbers."""
    picture = svg_of_panels(panels, columns, xlabel=x_label, ylabel=y_label, **axes)
    rows = [
        [panel, plot.name, *point]
        for panel, plots in panels.items()
        for plot in plots
        for point in plot.points
    ]
    return Drawing(title, picture, ("panel", "curve", x_label, y_label), rows)


def _draw(canvas: "Axes", plots: Sequence[Plot], axes: Mapping[str, Any]) -> None:
    for index, plot in enumerate(plots):
        mark: dict[str, Any] = {"marker": MARKS[index % len(MARKS)], "markersize": 4}
        dash = dash_of(index)
        style: dict[str, Any] = {"linestyle": (0, dash) if dash else "-", "lw": 1.2}
        if plot.dots:
            style = {**mark, "linestyle": ""}
        elif plot.marked:
            style |= {**mark, "markevery": [0]}
        color = _COLORS[index % len(_COLORS)]
        canvas.plot(plot.x, plot.y, label=plot.name, color=color, **style)
    canvas.set(**axes)
    if canvas.get_xscale() == "linear" and all((plot.x % 1 == 0).all() for plot in plots):
        canvas.locator_params(axis="x", integer=True)
    canvas.grid(alpha=0.3)
