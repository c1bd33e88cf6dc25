"""Kinds of charts: what each shows, how it is drawn on matplotlib's axes, and its numbers as text.

Series differ in colour and in one thing more, a dash, a mark or a hatch: no one needs the colours.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ..distribution import Numbers
from ..summary import NOTHING, Grid
from .curves import PALETTE, Curve, Sample
from .labels import Named, write

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW_AT_MOST = 8
"""Of more groups there are no curves, and their names do not tell them apart."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))
MARKS = "os^Dv"
"""Of dots, and of lines where there are several."""

# Without dots, which take a quarter of a megabyte.
_HATCHES = ("", "////", "||||", "xxxx", "\\\\\\\\", "++++")
_QUANTILES = (0.5, 0.9, 0.99)
_TAILS = (0.1, 0.01, 0.001, 0.0001)
_WHISKERS = (0.01, 0.25, 0.5, 0.75, 0.99)
_DOTS_AT_MOST = 400
_LETTERS = {"dark": "#010101", "light": "#fefefe"}
"""On a ground that is coloured the same in light and dark mode, so not quite black and white."""


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, with its unit, and its scale."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Chart(ABC):
    """A chart and what it shows."""

    title: str
    caption: str
    x: Axis
    y: Axis

    @abstractmethod
    def draw(self, axes: "Axes") -> None:
        """Draws it on empty axes."""

    @property
    @abstractmethod
    def numbers(self) -> Grid:
        """What it shows, as a table."""

    @property
    def names(self) -> Sequence[str]:
        """What the legend tells apart."""
        return ()

    @property
    def rows(self) -> Sequence[str]:
        """Names of the rows that make its height, if any do; they lie at 0, 1, ... from the top."""
        return ()


@dataclass(frozen=True)
class Lines(Chart):
    """A line for each curve; with `steps` the value holds until the next."""

    curves: Sequence[Curve] = ()
    steps: bool = False
    table: Grid = field(default_factory=lambda: Grid("", [], []))

    def draw(self, axes: "Axes") -> None:
        """Draws the lines, each with a dash and marks of its own."""
        for index, curve in enumerate(self.curves):
            axes.plot(
                curve.x,
                curve.y,
                label=curve.name,
                drawstyle="steps-post" if self.steps else "default",
                **line_style(index),
                **_marks(index, len(self.curves), None if self.steps else len(curve.x)),
            )

    @property
    def numbers(self) -> Grid:
        """A row for each curve."""
        return self.table

    @property
    def names(self) -> Sequence[str]:
        """The curves' names."""
        return [curve.name for curve in self.curves]


@dataclass(frozen=True)
class Boxes(Chart):
    """A box for each sample: quartiles, and whiskers from 1 to 99 %; few values also as dots."""

    samples: Sequence[Sample] = ()
    unit: str = ""

    def draw(self, axes: "Axes") -> None:
        """Draws boxes from top to bottom."""
        for index, sample in enumerate(self.samples):
            color = PALETTE[index % len(PALETTE)]
            lines: dict[str, Any] = {
                f"{part}props": {"color": color, "lw": 1.2} for part in _BOX_PARTS
            }
            axes.bxp(
                [_box(sample)],
                positions=[index],
                widths=0.55,
                orientation="horizontal",
                showfliers=False,
                manage_ticks=False,
                **lines,
            )
            dots = _dots(sample)
            axes.plot(dots, index + _jitter(len(dots)), "o", ms=2, alpha=0.45, color=color)
        axes.set_ylim(len(self.samples) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

    @property
    def numbers(self) -> Grid:
        """The five numbers of each box."""
        headings = [f"{100 * q:g} %\n{self.unit}" for q in _WHISKERS]
        rows = [
            [sample.name, *(digits(sample.values.quantile(q)) for q in _WHISKERS)]
            for sample in self.samples
        ]
        return Grid(self.title, ["", *headings], rows)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each box."""
        return [sample.name for sample in self.samples]


@dataclass(frozen=True)
class Bars(Chart):
    """A bar for each name, stacked of parts."""

    bars: Sequence[str] = ()
    parts: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def draw(self, axes: "Axes") -> None:
        """Draws bars from top to bottom."""
        left = np.zeros(len(self.bars))
        for index, (part, values) in enumerate(self.parts.items()):
            color = PALETTE[index % len(PALETTE)]
            hatch = _HATCHES[index % len(_HATCHES)]
            axes.barh(
                range(len(self.bars)),
                values,
                left=left,
                label=part,
                height=0.6,
                hatch=hatch,
                facecolor="none" if hatch else color,
                edgecolor=color,
                linewidth=1.0,
            )
            left = left + np.asarray(values)
        axes.set_ylim(len(self.bars) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

    @property
    def numbers(self) -> Grid:
        """A row for each bar."""
        rows = [
            [bar, *(digits(values[index]) for values in self.parts.values())]
            for index, bar in enumerate(self.bars)
        ]
        return Grid(f"{self.title}: {self.x.label}", ["", *self.parts], rows)

    @property
    def names(self) -> Sequence[str]:
        """The parts' names."""
        return list(self.parts)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each bar."""
        return self.bars


@dataclass(frozen=True)
class Cloud:
    """The runs of a group as points; those of one `family` look alike."""

    name: str
    family: str
    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Clouds(Chart):
    """A cloud of points for each group, its mean and the ellipse of one standard deviation."""

    clouds: Sequence[Cloud] = ()

    def draw(self, axes: "Axes") -> None:
        """Draws points, means and ellipses; better is to the upper right."""
        labelled = set()
        for cloud in self.clouds:
            index = self.names.index(cloud.family)
            color = PALETTE[index % len(PALETTE)]
            mark = MARKS[index % len(MARKS)]
            label = "" if cloud.family in labelled else cloud.family
            labelled.add(cloud.family)
            points = self._plotted(cloud)
            mean = self._data(points.mean(axis=1, keepdims=True))
            axes.plot(cloud.x, cloud.y, mark, ms=3, alpha=0.5, color=color, mec="none")
            axes.plot(*mean, mark, ms=6, color=color, label=label, linestyle="none")
            if points.shape[1] > 2:
                axes.plot(*self._data(ellipse(points)), **line_style(index))
        axes.invert_xaxis()
        # A hundredth more or less should not look like much.
        axes.set_ylim(*_widened(*axes.get_ylim()))
        if not self.x.log:
            axes.set_xlim(*reversed(_widened(*reversed(axes.get_xlim()))))
        self._write_names(axes)

    def _write_names(self, axes: "Axes") -> None:
        """Names each cloud, or of many the first of each family, where it stands."""
        first = {cloud.family: cloud for cloud in reversed(self.clouds)}
        few = len(self.clouds) <= FEW_AT_MOST
        clouds = {cloud.name: cloud for cloud in self.clouds} if few else first
        all_x = np.concatenate([self._plotted(cloud)[0] for cloud in self.clouds])
        # The scale becomes logarithmic after drawing; less delay is at the right.
        left, right = (all_x.max(), all_x.min()) if self.x.log else axes.get_xlim()
        low, high = axes.get_ylim()
        names = []
        for name, cloud in clouds.items():
            mean = self._plotted(cloud).mean(axis=1)
            x, y = map(float, self._data(mean))
            share = _share(float(mean[0]), left, right), _share(y, low, high)
            names.append(Named(name, (x, y), share))
        write(axes, names)

    @property
    def numbers(self) -> Grid:
        """Mean and standard deviation of both values of each cloud."""
        rows = [
            [cloud.name, str(len(cloud.x)), *map(digits, _moments(cloud))] for cloud in self.clouds
        ]
        axes = (self.x.label, self.y.label)
        headings = [f"{axis}:\n{what}" for axis in axes for what in ("mean", "deviation")]
        return Grid(self.title, ["", "runs", *headings], rows)

    @property
    def names(self) -> Sequence[str]:
        """The families' names."""
        return list(dict.fromkeys(cloud.family for cloud in self.clouds))

    def _plotted(self, cloud: Cloud) -> Numbers:
        return np.array([np.log10(cloud.x) if self.x.log else cloud.x, cloud.y])

    def _data(self, points: Numbers) -> Numbers:
        return np.array([10.0 ** points[0] if self.x.log else points[0], points[1]])


@dataclass(frozen=True)
class HeatMap(Chart):
    """A value for each pair of a column and a row; missing ones are NaN."""

    quantity: str = ""
    columns: Sequence[str] = ()
    lines: Sequence[str] = ()
    values: Numbers = field(default_factory=lambda: np.zeros((0, 0)))
    digits: int = 1

    def draw(self, axes: "Axes") -> None:
        """Draws cells with their values, so that colours need not be read."""
        from matplotlib.colors import LogNorm, Normalize

        least, greatest = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        scale = (LogNorm if 0 < 10 * least < greatest else Normalize)(least, greatest)
        edges = [np.arange(count + 1) - 0.5 for count in self.values.shape]
        axes.pcolormesh(edges[1], edges[0], self.values, cmap="cividis", norm=scale, lw=0)
        for (row, column), value in np.ndenumerate(self.values):
            ground = float(scale(value)) if least < greatest else 0.0
            axes.text(
                column,
                row,
                NOTHING if np.isnan(value) else f"{value:.{self.digits}f}",
                ha="center",
                va="center",
                color=_LETTERS["dark" if ground > 0.47 else "light"],
            )
        axes.set_xticks(range(len(self.columns)), list(self.columns))
        axes.invert_yaxis()
        axes.set_title(self.quantity, loc="left", fontsize="medium")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)

    @property
    def numbers(self) -> Grid:
        """The cells."""
        rows = [
            [line, *(NOTHING if np.isnan(v) else f"{v:.{self.digits}f}" for v in values)]
            for line, values in zip(self.lines, self.values, strict=True)
        ]
        return Grid(self.title, [f"{self.y.label} \\ {self.x.label}", *self.columns], rows)

    @property
    def rows(self) -> Sequence[str]:
        """Its own rows."""
        return self.lines


_LEAST_SPAN = 0.1
"""Of delay and goodput, as a share of the greatest value."""

_BOX_PARTS = ("box", "median", "whisker", "cap")


def line_style(index: int) -> dict[str, Any]:
    """Colour and dash of the line at this place."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "linestyle": _DASHES[index % len(_DASHES)],
        "lw": 1.3,
    }


def tail_grid(title: str, samples: Sequence[Sample], unit: str) -> Grid:
    """What so small a share of samples exceeds; nothing where that is less than one of them."""
    rows = [
        [
            sample.name,
            *(
                digits(sample.values.quantile(1 - share))
                if share * sample.values.total >= 1
                else NOTHING
                for share in _TAILS
            ),
        ]
        for sample in samples
    ]
    return Grid(title, ["", *(f"{100 * share:g} %\n{unit}" for share in _TAILS)], rows)


def quantile_grid(title: str, samples: Sequence[Sample], unit: str) -> Grid:
    """Median, 90 and 99 % of samples."""
    rows = [
        [sample.name, *(digits(sample.values.quantile(q)) for q in _QUANTILES)]
        for sample in samples
    ]
    return Grid(title, ["", *(f"{100 * q:g} %\n{unit}" for q in _QUANTILES)], rows)


def range_grid(title: str, curves: Sequence[Curve], unit: str) -> Grid:
    """Least, mean and greatest value of curves."""
    headings = ["", *(f"{what}\n{unit}" for what in ("least", "mean", "greatest"))]
    rows = [
        [curve.name, *(digits(float(f(curve.y))) for f in (np.nanmin, np.nanmean, np.nanmax))]
        for curve in curves
        if not np.isnan(curve.y).all()
    ]
    return Grid(title, headings, rows)


def is_wide(values: Numbers) -> bool:
    """Do they ask for a logarithmic scale?"""
    return 0 < 10 * float(values.min()) < float(values.max())


def ellipse(points: Numbers) -> Numbers:
    """The contour of one standard deviation of the normal distribution of greatest likelihood.

    After Winstein & Balakrishnan 2013, section 5. `points` are two rows, x and y.
    """
    # The covariance of greatest likelihood divides by n.
    values, vectors = np.linalg.eigh(np.cov(points, bias=True))
    angle = np.linspace(0, 2 * np.pi, 73)
    circle = np.array([np.cos(angle), np.sin(angle)])
    radii = np.sqrt(values.clip(0))[:, None]
    contour: Numbers = points.mean(axis=1, keepdims=True) + vectors @ (radii * circle)
    return contour


def _marks(index: int, count: int, points: int | None) -> dict[str, Any]:
    """A few marks on a line, where there are several; not where those of the others are.

    They are evenly spaced along the line, or of so many `points` over time.
    """
    if count < 2:
        return {}
    start, step = 0.05 + 0.2 * index / count, 0.2
    every = (start, step) if points is None else (int(start * points), max(1, int(step * points)))
    return {"marker": MARKS[index % len(MARKS)], "markevery": every, "ms": 3.5}


def _box(sample: Sample) -> dict[str, Any]:
    low, q1, median, q3, high = (sample.values.quantile(q) for q in _WHISKERS)
    return {"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high, "fliers": []}


def _dots(sample: Sample) -> Numbers:
    counts = sample.values.weights.astype(int)
    dots: Numbers = np.repeat(sample.values.values, counts)
    return dots if len(dots) <= _DOTS_AT_MOST else dots[:0]


def _jitter(count: int) -> Numbers:
    """Offsets that keep dots apart: multiples of the golden ratio, spread over 0.4."""
    jitter: Numbers = ((np.arange(count, dtype=np.float64) * 0.618034) % 1 - 0.5) * 0.4
    return jitter


def _share(value: float, start: float, end: float) -> float:
    """How far it is from the start to the end."""
    return (value - start) / (end - start) if end != start else 0.5


def _widened(low: float, high: float) -> tuple[float, float]:
    beyond = max(0.0, _LEAST_SPAN * high - (high - low)) / 2
    return low - beyond, high + beyond


def _moments(cloud: Cloud) -> list[float]:
    return [float(f(values)) for values in (cloud.x, cloud.y) for f in (np.mean, np.std)]


def digits(value: float | None) -> str:
    """Three significant digits, or all before the point."""
    if value is None or np.isnan(value):
        return NOTHING
    if value == 0:
        return "0"
    places = max(0, 2 - int(np.floor(np.log10(abs(value)))))
    return f"{value:.{min(places, 4)}f}"
