"""A study beside its document: the score, and a page with tables, figures and claims."""

from collections.abc import Mapping

from ..summary import Grid
from .score import Compared, Score, compared, scores, worst
from .study import Row


def score_grids(means: Mapping[Row, float | None]) -> list[Grid]:
    """Per table and overall: cells compared and those that agree; then the worst misses."""
    cells = compared(means)
    return [
        Grid(
            "Cells compared with print",
            ["table", "cells", "agree", "%"],
            [_score_row(score) for score in scores(cells)],
        ),
        Grid(
            "Worst misses (in tolerances)",
            ["table", "experiment", "scheme", "flow", "metric", "print", "ours", "miss"],
            [_miss_row(cell) for cell in worst(cells)],
        ),
    ]


def _score_row(score: Score) -> list[str]:
    return [score.table, str(len(score.cells)), str(score.agree), f"{score.percent:.1f}"]


def _miss_row(cell: Compared) -> list[str]:
    row = cell.row
    ours = "none" if cell.ours is None else f"{cell.ours:.4g} {row.unit}"
    where = [row.table, row.experiment, row.scheme, row.flow, row.metric]
    return [*where, f"{row.published} {row.unit}", ours, f"{cell.miss:.1f}"]
