"""From a chart to a picture: axes, ticks, names, legend and what the chart draws.

Places are in points from the lower left of the axes until the room around these is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..analysis.distribution import Numbers
from .charts.base import Chart
from .letters import cut, width_em, wrapped
from .scale import Frame, Scale, around
from .shapes import GRID, LETTERS_PT, Anchor, Marks, Path, Picture, Shape, Text, line, text

_LINE_PT = 9.8
_EDGE_PT = 4.0
_GAP_PT = 3.0
_TICK_PT, _SMALL_TICK_PT = 3.5, 2.0
_ROW_PT, _NARROW_ROW_PT = 20.0, 14.5
_MANY_ROWS = 12
"""With more rows, they are narrower."""
_HEIGHT_SHARE, _HEIGHT_AT_MOST_PT = 0.55, 187.0
"""The height of axes without rows, as a share of the picture's width."""
_NAMES_SHARE = 1 / 3
"""What names of rows get of the picture's width at most."""
_TURNED_AT_MOST_PT = 280.0
"""The length of names of columns that are turned."""
_APART_PT = 22.0
"""From number to number of an axis at least."""
_TICKS_AT_MOST = 9
_LABEL_LINES = 3
_BOLD = 1.12
"""Width of bold letters, as a multiple of that of others."""
_GAP_EM = 0.6
"""Between the names of columns."""
_ROW_TITLE_PT = 8.0
"""From the title of rows to the axis."""
_HANDLE_PT, _BOX_PT = 19.0, 6.0
"""Of a line or box in the legend."""


@dataclass(frozen=True)
class _Axis:
    """An axis with the lines that are written at its ticks."""

    scale: Scale
    ticks: Mapping[float, Sequence[str]]
    is_turned: bool = False

    @property
    def places(self) -> Numbers:
        """Where its ticks are."""
        return self.scale(np.array([*self.ticks], dtype=np.float64))

    @property
    def widest_pt(self) -> float:
        """The width of what is written at them."""
        return _widest_pt([line for lines in self.ticks.values() for line in lines])

    @property
    def names(self) -> list[tuple[float, Sequence[str]]]:
        """What is written where."""
        return list(zip(self.places.tolist(), self.ticks.values(), strict=True))


@dataclass(frozen=True)
class _Side:
    """What is at one side of the axes, and the room that it takes."""

    room_pt: float
    shapes: Sequence[Shape]


def picture_of(chart: Chart, width_pt: float) -> Picture:
    """Lays a chart out in a picture of this width, as high as it must be."""
    panels = [_Panel.of(panel, width_pt) for panel in chart.panels]
    left_pt = max(panel.left.room_pt for panel in panels)
    across = [shape for panel in panels for shape in panel.shapes]
    picture = Picture(width_pt, 0.0, [])
    for panel in panels:
        drawn = panel.drawn(across, left_pt, width_pt, has_legend=panel is panels[0])
        picture = picture.above(drawn)
    return picture


@dataclass(frozen=True)
class _Panel:
    """A chart with its vertical axis, before it is known how much room this has."""

    chart: Chart
    shapes: Sequence[Shape]
    vertical: _Axis
    left: _Side

    @staticmethod
    def of(chart: Chart, width_pt: float) -> "_Panel":
        shapes = chart.shapes()
        vertical = _vertical(chart, shapes, width_pt)
        return _Panel(chart, shapes, vertical, _left(chart, vertical, width_pt))

    def drawn(
        self, across: Sequence[Shape], left_pt: float, width_pt: float, *, has_legend: bool
    ) -> Picture:
        """The whole chart; its horizontal axis shows the shapes `across`."""
        chart = self.chart
        horizontal = _horizontal(chart, across, width_pt - left_pt - _EDGE_PT)
        frame = Frame(horizontal.scale, self.vertical.scale)
        inside = [*map(frame.placed, self.shapes), *chart.sized(frame)]
        above = _above(chart, inside, frame, left_pt, width_pt, has_legend)
        below = _below(chart, horizontal, left_pt, width_pt)
        bottom_pt = above.room_pt + frame.y.length
        around = [*self.left.shapes, *above.shapes, *below.shapes]
        everything = [*_grid(chart, frame, horizontal, self.vertical), *inside, *around]
        return Picture(
            width_pt,
            bottom_pt + below.room_pt,
            [shape.moved(lambda x: x + left_pt, lambda y: bottom_pt - y) for shape in everything],
        )


def _vertical(chart: Chart, shapes: Sequence[Shape], width_pt: float) -> _Axis:
    if not chart.rows:
        length = min(_HEIGHT_SHARE * width_pt, _HEIGHT_AT_MOST_PT)
        ends = chart.y_ends(*around([shape.y for shape in shapes], chart.y.log))
        return _numbered(Scale(*ends, length, chart.y.log))
    names = [wrapped(name, _em(width_pt * _NAMES_SHARE)) for name in chart.rows]
    lines = max(map(len, names))
    is_narrow = len(names) > _MANY_ROWS and lines < 2
    row_pt = _NARROW_ROW_PT if is_narrow else max(_ROW_PT, _LINE_PT * lines + 4)
    scale = Scale(len(names) - 0.5, -0.5, row_pt * max(len(names), 2))
    return _Axis(scale, dict(enumerate(names)))


def _horizontal(chart: Chart, shapes: Sequence[Shape], length: float) -> _Axis:
    if chart.columns:
        return _columns(chart.columns, length)
    ends = chart.x_ends(*around([shape.x for shape in shapes], chart.x.log))
    axis = _numbered(Scale(*ends, length, chart.x.log))
    apart_pt = axis.widest_pt + 4 * _GAP_PT
    # The last number goes beyond the axis.
    beyond = [place + _width_pt(words) / 2 - length for place, (words,) in axis.names]
    return _numbered(replace(axis.scale, length=length - max(0.0, *beyond, 0.0)), apart_pt)


def _columns(names: Sequence[str], length: float) -> _Axis:
    scale = Scale(-0.5, len(names) - 0.5, length)
    room = _em(length / len(names)) - _GAP_EM
    if all(width_em(word) <= room for name in names for word in name.split()):
        return _Axis(scale, dict(enumerate(wrapped(name, room) for name in names)))
    turned = [[cut(name, _em(_TURNED_AT_MOST_PT))] for name in names]
    return _Axis(scale, dict(enumerate(turned)), is_turned=True)


def _numbered(scale: Scale, apart_pt: float = _APART_PT) -> _Axis:
    ticks = scale.ticks(max(2, min(_TICKS_AT_MOST, int(scale.length / apart_pt))))
    return _Axis(scale, {value: [words] for value, words in ticks.items()})


def _left(chart: Chart, axis: _Axis, width_pt: float) -> _Side:
    """Names or numbers, and the label of the axis beside them."""
    at_ticks = -_TICK_PT - _GAP_PT
    shapes = [
        one
        for place, lines in axis.names
        for one in _block(lines, at_ticks, place + _LINE_PT * len(lines) / 2, "end")
    ]
    room_pt = _EDGE_PT + axis.widest_pt - at_ticks
    if chart.has_row_title:
        title_pt = _EDGE_PT + _widest_pt(_row_title(chart, width_pt)) + _ROW_TITLE_PT
        return _Side(max(room_pt, title_pt), shapes)
    label = wrapped(chart.y.label, _em(axis.scale.length), _LABEL_LINES)
    room_pt += _LINE_PT * len(label) + (_GAP_PT if label else 0.0)
    middle, edge = axis.scale.length / 2, _EDGE_PT - room_pt
    shapes += [
        text(edge + _LINE_PT * (n + 0.5), middle, words, "middle", is_turned=True)
        for n, words in enumerate(label)
    ]
    return _Side(room_pt, shapes)


def _below(chart: Chart, axis: _Axis, left_pt: float, width_pt: float) -> _Side:
    """Names or numbers, and the label of the axis below them."""
    top = -_TICK_PT - _GAP_PT / 2
    shapes: list[Shape] = []
    for place, lines in axis.names:
        turned = [text(place, top, words, "end", is_turned=True) for words in lines]
        shapes += turned if axis.is_turned else _block(lines, place, top, "middle")
    most_lines = max(map(len, axis.ticks.values()), default=0)
    top -= (axis.widest_pt if axis.is_turned else _LINE_PT * most_lines) + _GAP_PT / 2
    label = wrapped(chart.x.label, _em(width_pt) - 1, _LABEL_LINES)
    # In the middle of the axis, unless it would go beyond the picture.
    half_pt = _widest_pt(label) / 2 + _EDGE_PT
    middle = max(half_pt - left_pt, min(axis.scale.length / 2, width_pt - left_pt - half_pt))
    shapes += _block(label, middle, top, "middle")
    return _Side(_EDGE_PT + _LINE_PT * len(label) - top, shapes)


def _above(
    chart: Chart,
    inside: Sequence[Shape],
    frame: Frame,
    left_pt: float,
    width_pt: float,
    has_legend: bool,
) -> _Side:
    """From the axes upwards: titles of rows and values, legend, heading."""
    bottom = frame.y.length + _GAP_PT
    start = _EDGE_PT - left_pt
    rows, values = _row_title(chart, width_pt), [chart.subtitle] if chart.subtitle else []
    top = bottom + _LINE_PT * max(len(rows), len(values))
    shapes: list[Shape] = [
        *_block(rows, -_ROW_TITLE_PT, bottom + _LINE_PT * len(rows), "end"),
        *_block(values, 0, bottom + _LINE_PT * len(values)),
    ]
    if has_legend and chart.has_legend:
        legend = _legend(chart, inside, start, top, width_pt)
        shapes += legend.shapes
        top += legend.room_pt
    heading_em = _em(width_pt) / _BOLD - 1
    heading = wrapped(chart.title, heading_em, _LABEL_LINES) if chart.has_heading else []
    top += _LINE_PT * len(heading) + (_GAP_PT if heading else 0.0)
    written = [replace(words, is_bold=True) for words in _block(heading, start, top)]
    return _Side(top + _GAP_PT - frame.y.length, [*shapes, *written])


def _row_title(chart: Chart, width_pt: float) -> list[str]:
    is_there = chart.has_row_title
    return wrapped(chart.y.label, _em(width_pt * _NAMES_SHARE), _LABEL_LINES) if is_there else []


def _legend(
    chart: Chart, inside: Sequence[Shape], start: float, bottom: float, width_pt: float
) -> _Side:
    """The names in columns, each with what is drawn of it."""
    title = wrapped(chart.legend_title, _em(width_pt) - 1, _LABEL_LINES)
    room_pt = width_pt - 2 * _EDGE_PT
    before_pt = _HANDLE_PT + 2 * _GAP_PT
    room_em = _em(room_pt - before_pt)
    entries = [(name, wrapped(name, room_em, _LABEL_LINES)) for name in chart.names]
    widest_pt = _widest_pt([line for _, lines in entries for line in lines])
    column_pt = widest_pt + before_pt + 4 * _GAP_PT
    columns = max(1, int(room_pt / column_pt))
    rows = [entries[first : first + columns] for first in range(0, len(entries), columns)]
    heights = [_LINE_PT * max(len(lines) for _, lines in row) for row in rows]
    top = bottom + _LINE_PT * len(title) + sum(heights) + _GAP_PT
    shapes: list[Shape] = [*_block(title, start, top)]
    y = top - _LINE_PT * len(title)
    for row, height in zip(rows, heights, strict=True):
        for column, (name, lines) in enumerate(row):
            x = start + column * column_pt
            shapes += _handle([s for s in inside if s.name == name], x, y - _LINE_PT / 2)
            shapes += _block(lines, x + before_pt, y)
        y -= height
    return _Side(top - bottom, shapes)


def _handle(shapes: Sequence[Shape], x: float, y: float) -> list[Shape]:
    """A sample of each kind of shape."""
    first = {type(shape): shape for shape in reversed(shapes)}
    ends = np.array([x, x + _HANDLE_PT])
    handle: list[Shape] = []
    for shape in first.values():
        if isinstance(shape, Path) and shape.is_area:
            up = np.array([-1, -1, 1, 1, -1]) * _BOX_PT / 2
            handle.append(replace(shape, x=ends[[0, 1, 1, 0, 0]], y=y + up))
        elif isinstance(shape, Path):
            handle.append(replace(shape, x=ends, y=np.array([y, y])))
        elif isinstance(shape, Marks):
            handle.append(replace(shape, x=ends[:1] + _HANDLE_PT / 2, y=np.array([y])))
    return handle


def _grid(chart: Chart, frame: Frame, horizontal: _Axis, vertical: _Axis) -> list[Shape]:
    """The axes with their ticks, and lines at the numbers."""
    if chart.columns:
        return []
    width, height = frame.x.length, frame.y.length
    up = [_grid_line([x, x], [0, height]) for x in horizontal.places]
    across = [_grid_line([0, width], [y, y]) for y in vertical.places]
    ticks = [
        *(line([x, x], [0, -_TICK_PT]) for x in horizontal.places),
        *(line([x, x], [0, -_SMALL_TICK_PT], width=0.5) for x in frame.x.small_places),
        *(line([0, -_TICK_PT], [y, y]) for y in vertical.places),
        *(line([0, -_SMALL_TICK_PT], [y, y], width=0.5) for y in frame.y.small_places),
    ]
    return [*up, *([] if chart.rows else across), line([0, 0, width], [height, 0, 0]), *ticks]


def _grid_line(x: Sequence[float], y: Sequence[float]) -> Shape:
    return replace(line(x, y, GRID, 0.5), opacity=0.6)


def _block(lines: Sequence[str], x: float, top: float, anchor: Anchor = "start") -> list[Text]:
    """Lines of text below each other."""
    return [text(x, top - _LINE_PT * (n + 0.5), words, anchor) for n, words in enumerate(lines)]


def _em(pt: float) -> float:
    return pt / LETTERS_PT


def _width_pt(words: str) -> float:
    return width_em(words) * LETTERS_PT


def _widest_pt(lines: Sequence[str]) -> float:
    return max(map(_width_pt, lines), default=0.0)
