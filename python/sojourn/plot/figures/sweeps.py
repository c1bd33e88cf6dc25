"""Figures of a sweep: heat maps, and lines over the values of one key."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...analysis.curves import curve_of
from ...analysis.grids import with_interval
from ...analysis.groups import Group, Results
from ...analysis.keys import key_in_words, numbers_of, value_in_words
from ...analysis.measures import MEASURES, Measure
from ...analysis.statistics import Value
from ...base.grid import NOTHING, Grid
from ..charts.base import Axis, Chart, is_wide
from ..charts.heat_map import HeatMap
from ..charts.lines import BAND, Lines

_LINE_FROM = 5
"""A key with as many values and more is drawn as a line."""
_LINES_AT_MOST = 6

IN_REPORT = (
    "game_rtt_p90_ms",
    "game_latency_p90_ms",
    "voice_mos",
    "page_load_median_s",
    "response_median_s",
    "video_stalled_percent",
    "upload_mbps",
    "download_mbps",
    "upstream_queue_p99_ms",
    "downstream_queue_p99_ms",
)
"""The measures that are drawn without being asked for, the most important first."""


def by_setting(results: Results) -> list[Chart | None]:
    """The report's figures of a sweep: a heat map per measure, or lines where one is better."""
    there = {measure.key: measure for measure in applying(results.groups)}
    draw = lines_by_key if _is_along_a_line(results) else heat_map
    return [draw(results, there[key]) for key in IN_REPORT if key in there]


def _is_along_a_line(results: Results) -> bool:
    """Is one key swept over many numbers, alone or for a few variants?"""
    if not results.keys:
        return False
    grid = _Grid.of(results)
    is_long = len(grid.columns) >= _LINE_FROM and len(grid.lines) <= _LINES_AT_MOST
    return is_long and len(linked(results.groups)) == 1 and grid.numbers is not None


def lines_by_key(results: Results, measure: Measure) -> Chart | None:
    """A measure over the values of the first key, a line for each variant and other key's value."""
    if not results.keys:
        return None
    grid = _Grid.of(results)
    values = grid.values(results, measure)
    found = [value.mean for row in values for value in row if value.mean is not None]
    if grid.numbers is None or not found:
        return None
    numbers, unit = grid.numbers
    x = np.array(numbers)
    order = np.argsort(x, kind="stable")
    over = f" Means of {results.seeds} seeds. {BAND}" if results.seeds > 1 else ""
    curves = [
        curve_of(line, x[there], [row[place] for place in there])
        for number, (line, row) in enumerate(zip(grid.lines, values, strict=True))
        for there in [[column for column in order if (number, column) in grid.places]]
    ]
    return Lines(
        _title(measure, grid),
        f"{measure.better.capitalize()} is better.{over}",
        Axis(f"{grid.title} ({unit})" if unit else grid.title, log=is_wide(x)),
        Axis(measure.label, log=is_wide(np.array(found))),
        curves,
        marked=True,
        table=grid.table(measure, values),
    )


def heat_map(results: Results, measure: Measure) -> Chart | None:
    """Columns are the values of the first key; rows are the variants and other keys.

    Keys that change together with the first are columns with it.
    """
    if not results.keys:
        return None
    grid = _Grid.of(results)
    values = np.array(
        [[value.mean for value in row] for row in grid.values(results, measure)], np.float64
    )
    if np.isnan(values).all():
        return None
    over = f", the mean of {results.seeds} seeds" if results.seeds > 1 else ""
    missing = f" {NOTHING}: nothing was measured." if np.isnan(values).any() else ""
    return HeatMap(
        _title(measure, grid),
        f"Each cell is one setting{over}. The lighter, the better.{missing}",
        Axis(grid.title),
        Axis(grid.line_title),
        measure.label,
        grid.columns,
        grid.lines,
        values,
        measure.better,
    )


def _title(measure: Measure, grid: "_Grid") -> str:
    return f"{measure.label[0].upper()}{measure.label[1:]} by {grid.title}"


@dataclass(frozen=True)
class _Grid:
    """Settings of a sweep in columns, by the first key, and lines, by all else."""

    across: Sequence[int]
    """The places of the keys in the columns."""
    title: str
    columns: Sequence[str]
    line_title: str
    lines: Sequence[str]
    numbers: tuple[Sequence[float], str] | None
    """The values of the first key as numbers, with their unit, where they are numbers."""
    places: Sequence[tuple[int, int]]
    """The line and column of each group."""

    @staticmethod
    def of(results: Results) -> "_Grid":
        """The settings of a sweep; it has a key."""
        across, *others = linked(results.groups)
        rest = [places[0] for places in others]
        of_column = [tuple(group.point[place] for place in across) for group in results.groups]
        of_line = [
            (group.variant, *(group.point[place] for place in rest)) for group in results.groups
        ]
        columns, lines = list(dict.fromkeys(of_column)), list(dict.fromkeys(of_line))

        def labelled(places: Sequence[int], values: Sequence[str]) -> list[str]:
            pairs = zip(places, values, strict=True)
            return [value_in_words(results.keys[place], value) for place, value in pairs]

        are_named = any(group.variant for group in results.groups)
        keys = [key_in_words(results.keys[place]) for place in rest]
        return _Grid(
            across,
            ", ".join(key_in_words(results.keys[place]) for place in across),
            [", ".join(labelled(across, column)) for column in columns],
            ", ".join([*(["variant"] if are_named else []), *keys]),
            [", ".join(filter(None, (line[0], *labelled(rest, line[1:])))) for line in lines],
            numbers_of(results.keys[0], [column[0] for column in columns]),
            [
                (lines.index(line), columns.index(column))
                for line, column in zip(of_line, of_column, strict=True)
            ],
        )

    def values(self, results: Results, measure: Measure) -> list[list[Value]]:
        """The mean of a measure over the seeds of each setting, line by line."""
        values = [[Value(None)] * len(self.columns) for _ in self.lines]
        for (line, column), group in zip(self.places, results.groups, strict=True):
            values[line][column] = measure.over(group.runs)
        return values

    def table(self, measure: Measure, values: Sequence[Sequence[Value]]) -> Grid:
        """A row for each column: there may be many."""
        heading = [line or measure.label for line in self.lines]
        rows = [
            [column, *(with_interval(value) for value in of_column)]
            for column, of_column in zip(self.columns, zip(*values, strict=True), strict=True)
        ]
        return Grid(_title(measure, self), [self.title, *heading], rows)


def linked(groups: Sequence[Group]) -> list[list[int]]:
    """The places of the swept keys; those that always change together are one list."""
    columns = list(zip(*(group.point for group in groups), strict=True))
    sets: list[list[int]] = []
    for place, column in enumerate(columns):
        pairs = [set(zip(columns[known[0]], column, strict=True)) for known in sets]
        linked = [
            known
            for known, both in zip(sets, pairs, strict=True)
            if len(both) == len(set(column)) == len(set(columns[known[0]]))
        ]
        if linked:
            linked[0].append(place)
        else:
            sets.append([place])
    return sets


def applying(groups: Sequence[Group]) -> list[Measure]:
    """The measures that any of the groups has."""
    runs = [group.first for group in groups]
    return [measure for measure in MEASURES if measure.applies(runs)]
