"""Heat maps: a value for each setting of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import log10
from typing import Literal

import numpy as np

from ...analysis.distribution import Numbers
from ...base.grid import Grid, digits
from ..letters import width_em
from ..scale import Frame
from ..shapes import LETTERS_PT, Path, Shape, text
from .base import Chart

_LETTERS = {"dark": "#010101", "light": "#fefefe"}
"""Not exactly black and white, which dark mode would swap; cell colours stay the same."""

_CIVIDIS = np.array(
    [
        (0x00, 0x22, 0x4E),
        (0x1A, 0x38, 0x6F),
        (0x43, 0x4E, 0x6C),
        (0x61, 0x65, 0x6F),
        (0x7D, 0x7C, 0x78),
        (0x9B, 0x94, 0x76),
        (0xBC, 0xAE, 0x6C),
        (0xDE, 0xC9, 0x58),
        (0xFE, 0xE8, 0x38),
    ]
)
"""Evenly spaced colours of Nuñez et al. 2018: the lightness rises evenly, for any colour vision."""

_LIGHT_FROM = 0.47
"""Where letters are dark on them, as a share of the whole."""

_GAP_EM = 1.0
"""What stays free between the numbers of neighbouring columns."""

_MISSING = "#c8c8c8"
"""Of cells without a value: no colour of the map."""


@dataclass(frozen=True)
class HeatMap(Chart):
    """A value for each column and row; missing values are NaN."""

    quantity: str = ""
    columns: Sequence[str] = ()
    lines: Sequence[str] = ()
    values: Numbers = field(default_factory=lambda: np.zeros((0, 0)))
    better: Literal["lower", "higher"] = "lower"

    def shapes(self) -> Sequence[Shape]:
        """Cells; the lighter one is, the better its value."""
        shapes = []
        for (row, column), share in np.ndenumerate(self._lightness()):
            color = _color(share)
            x = column + np.array([-0.5, 0.5, 0.5, -0.5, -0.5])
            y = row + np.array([-0.5, -0.5, 0.5, 0.5, -0.5])
            # A line of the same colour leaves no gap between neighbours.
            shapes.append(Path(x, y, 0.3, fill=color, color=color))
        return shapes

    def sized(self, frame: Frame) -> Sequence[Shape]:
        """The values as text, so that the chart works without colour."""
        texts = [digits(float(value)) for value in self.values.flat]
        room_em = frame.x.length / len(self.columns) / LETTERS_PT - _GAP_EM
        scale = min(1.0, max(room_em, 1.0) / max(map(width_em, texts)))
        shapes = []
        for ((row, column), share), words in zip(
            np.ndenumerate(self._lightness()), texts, strict=True
        ):
            x, y = frame.points(np.array([column]), np.array([row]))[0]
            color = _LETTERS["dark" if np.isnan(share) or share > _LIGHT_FROM else "light"]
            cell = text(x, y, words, "middle")
            shapes.append(replace(cell, size=LETTERS_PT * scale, color=color))
        return shapes

    def _lightness(self) -> Numbers:
        """How good each value is, from 0 to 1: on a logarithmic scale if they are wide apart."""
        least, greatest = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        if 0 < 10 * least < greatest:
            share = np.log10(self.values / least) / log10(greatest / least)
        else:
            share = (self.values - least) / ((greatest - least) or 1.0)
        return share if self.better == "higher" else 1.0 - share

    @property
    def subtitle(self) -> str:
        """What the values are."""
        return self.quantity

    @property
    def has_row_title(self) -> bool:
        """The title of the rows stands above their names."""
        return True

    @property
    def numbers(self) -> Grid:
        """The values of the cells."""
        rows = [
            [line, *map(digits, map(float, values))]
            for line, values in zip(self.lines, self.values, strict=True)
        ]
        return Grid(self.title, [f"{self.y.label} \\ {self.x.label}", *self.columns], rows)

    @property
    def rows(self) -> Sequence[str]:
        """The rows of the map."""
        return self.lines


def _color(lightness: float) -> str:
    """The colour of a cell; one without a value has a colour of its own."""
    if np.isnan(lightness):
        return _MISSING
    steps = np.arange(len(_CIVIDIS)) / (len(_CIVIDIS) - 1)
    parts = (round(float(np.interp(lightness, steps, part))) for part in _CIVIDIS.T)
    return "#" + "".join(f"{part:02x}" for part in parts)
