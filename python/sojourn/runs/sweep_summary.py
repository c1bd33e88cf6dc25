"""The summary of a sweep: each setting over its seeds, and the verdict."""

from dataclasses import asdict
from typing import Any

import pyarrow as pa

from ..analysis.grids import (
    about,
    are_summed,
    comparison_grid,
    low_latency_grids,
    rates_grid,
    summary_grids,
)
from ..analysis.groups import Results
from ..analysis.keys import key_in_words, value_in_words
from ..analysis.summary import means_of, print_answer, warnings_json
from ..analysis.verdict import verdict, verdict_json
from ..base.grid import Grid
from ..base.terminal import print_grids
from .tidy import labelled_groups


def print_sweep(results: Results) -> None:
    """Prints the settings side by side, the verdict and the warnings to stdout."""
    console = print_grids(_grids(results))
    if results.seeds > 1:
        console.print(f"Means of {results.seeds} seeds, ± half of their 95 % interval.")
    print_answer(results, console, verdict(results))


def _grids(results: Results) -> list[Grid]:
    if not results.is_comparison:
        return summary_grids({"": results.groups[0].runs})
    runs = {group.name: group.runs for group in results.groups}
    rates = [rates_grid(runs)] * are_summed(group.first for group in results.groups)
    return [_side_by_side(results), *rates, *low_latency_grids(runs)]


def _side_by_side(results: Results) -> Grid:
    """A row for each setting. Its variant and values are columns, as its name would be long."""
    grid = comparison_grid({group.name: group.runs for group in results.groups})
    are_named = any(group.variant for group in results.groups)
    columns = [["variant", *(group.variant for group in results.groups)]] * are_named
    for place, key in enumerate(results.keys):
        values = [value_in_words(key, group.point[place]) for group in results.groups]
        columns.append([key_in_words(key).replace(" ", "\n"), *values])
    headings, *settings = zip(*columns, strict=True)
    rows = [[*setting, *row[1:]] for setting, row in zip(settings, grid.rows, strict=True)]
    return Grid(
        f"Settings side by side {about([group.first for group in results.groups])}",
        [*headings, *grid.headings[1:]],
        rows,
    )


def sweep_json(results: Results) -> dict[str, Any]:
    """The summary as JSON: measures of each setting over its seeds, and the verdict."""
    return {
        "title": results.first.settings["title"],
        "version": results.first.meta["version"],
        "means": [
            {
                "name": group.name,
                "variant": group.variant,
                "settings": {key: labels[key] for key in results.keys},
                "seeds": [run.meta["seed"] for run in group.runs],
                "summary": {key: asdict(value) for key, value in means_of(group).items()},
            }
            for labels, group in labelled_groups(results)
        ],
        "verdict": verdict_json(results),
        "warnings": warnings_json(results),
    }


def means(results: Results) -> pa.Table:
    """A row per setting and measure: the mean over seeds, its 95 % interval, and their number."""
    return pa.Table.from_pylist(
        [
            {**labels, "measure": key, **asdict(value)}
            for labels, group in labelled_groups(results)
            for key, value in means_of(group).items()
        ]
    )
