"""The figure of a search: a measure over the values of the key, and the bounds on it."""

from collections.abc import Mapping, Sequence

import numpy as np

from ...analysis.conditions import Bound, Judged
from ...analysis.curves import Curve, curve_of
from ...analysis.distribution import Numbers
from ...analysis.keys import key_in_words, numbers_of, value_in_words
from ...analysis.measures import Measure
from ...analysis.search import Points
from ...base.grid import Grid, digits
from ...base.toml_text import toml_value
from ..charts.base import Axis, Chart, is_wide
from ..charts.bounds import Bounded
from ..charts.lines import BAND


def measure_by_key(
    key: str, measure: Measure, bounds: Sequence[Bound], variants: Mapping[str, Points]
) -> Chart:
    """The means of a measure with their intervals, a line for each variant."""
    variants = {name: _measured(points) for name, points in variants.items()}
    curves = [_curve(key, name, points) for name, points in variants.items()]
    seeds = max(
        (judged.seeds for points in variants.values() for judged in points.values()), default=1
    )
    over = f" Means of {seeds} seeds. {BAND}" if seeds > 1 else ""
    words, unit = key_in_words(key), (numbers_of(key, ["0"]) or ([], ""))[1]
    title = f"{measure.label[0].upper()}{measure.label[1:]} by {words}"
    all_x, all_y = (np.concatenate([getattr(c, of) for c in curves] or [[]]) for of in "xy")
    return Bounded(
        title,
        f"{measure.better.capitalize()} is better.{over}",
        Axis(f"{words} ({unit})" if unit else words, log=_is_wide(all_x)),
        Axis(measure.label, log=_is_wide(np.append(all_y, [bound.value for bound in bounds]))),
        curves,
        marked=True,
        table=_table(key, title, measure, variants),
        bounds={bound.of(measure): bound.value for bound in bounds},
    )


def _measured(points: Points) -> dict[float, Judged]:
    """The points with a mean, in order."""
    there = {value: judged for value, judged in points.items() if judged.value.mean is not None}
    return dict(sorted(there.items()))


def _is_wide(values: Numbers) -> bool:
    return values.size > 0 and is_wide(values)


def _curve(key: str, name: str, points: Points) -> Curve:
    numbers = numbers_of(key, [toml_value(value) for value in points]) or ([], "")
    return curve_of(name, np.array(numbers[0], float), [one.value for one in points.values()])


def _table(key: str, title: str, measure: Measure, variants: Mapping[str, Points]) -> Grid:
    values = sorted({value for points in variants.values() for value in points})
    heading = [name or measure.label for name in variants]

    def cell(points: Points, value: float) -> str:
        return digits(points[value].value.mean if value in points else None)

    rows = [
        [
            value_in_words(key, toml_value(value)),
            *(cell(points, value) for points in variants.values()),
        ]
        for value in values
    ]
    return Grid(title, [key_in_words(key), *heading], rows)
