"""A study beside its document: the score, and a page with tables, figures and claims."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from ..report.drawing import themed
from ..report.pages import render
from ..seeds import Value
from ..summary import Grid
from .running import Outcome
from .score import Compared, Score, compared, scores, worst
from .study import Cells, Row, Verdict

_NAN = re.compile(r"\bnan\b")


@dataclass(frozen=True)
class Line:
    """A row of a table of the page: a cell, theirs and ours."""

    row: Row
    ours: str
    agrees: bool | None
    """Nothing where print has no value."""
    remarks: Sequence[int]
    """Which of the table's remarks are about it, from 1."""


@dataclass(frozen=True)
class Table:
    """A table of the page: its cells, and why some of them do not agree."""

    name: str
    lines: Sequence[Line]
    remarks: Sequence[str]

    @property
    def is_off(self) -> bool:
        """Does any cell not agree?"""
        return any(line.agrees is False for line in self.lines)


def report_html(outcome: Outcome) -> str:
    """The page: one file that needs no network."""
    study, plan = outcome.plan.study, outcome.plan
    values = outcome.values
    means = {row: value.mean for row, value in values.items()}
    verdicts = _verdicts(outcome, means)
    return render(
        "study.html",
        study.title,
        study=study,
        plan=plan,
        runs=len(plan.tasks()),
        sentences=_sentences(means, verdicts),
        scores=score_grids(means),
        tables=_tables(outcome, values),
        claims=verdicts,
        figures=[
            (number, drawing.title, themed(drawing.svg, f"figure-{place}", drawing.title, numbers))
            for place, (number, drawing) in enumerate(outcome.drawings.items())
            for numbers in (f"Its numbers: {plan.name}-figure-{number}.csv",)
        ],
    )


def _sentences(
    means: Mapping[Row, float | None], verdicts: Sequence[tuple[int, str, Verdict | None]]
) -> list[str]:
    """How far the study agrees with its document, in words."""
    score = scores(compared(means))[-1]
    tested = [verdict for _, _, verdict in verdicts if verdict]
    untested = len(verdicts) - len(tested)
    return [
        f"{score.agree} of {len(score.cells)} cells that have a published value agree with print "
        f"({score.percent:.0f} %).",
        *([f"Without a value here: {score.missing} of them."] if score.missing else []),
        *(
            [
                f"{sum(verdict.holds for verdict in tested)} of {len(tested)} claims hold"
                + (f"; not judged: {untested}." if untested else ".")
            ]
            if tested
            else []
        ),
    ]


def _tables(outcome: Outcome, values: Mapping[Row, Value]) -> list[Table]:
    compared_cells = compared({row: value.mean for row, value in values.items()})
    agrees = {cell.row: cell.agrees for cell in compared_cells}

    def table(name: str, rows: Sequence[Row]) -> Table:
        texts: dict[str, int] = {}
        lines = []
        for row in rows:
            is_off = agrees.get(row) is False
            about = [r.text for r in outcome.plan.study.remarks if is_off and r.is_about(row)]
            numbers = [texts.setdefault(text, len(texts) + 1) for text in about]
            lines.append(Line(row, _shown(values[row]), agrees.get(row), numbers))
        return Table(name, lines, list(texts))

    by_table = groupby(values, lambda row: row.table)
    return [table(name, list(rows)) for name, rows in by_table]


def _verdicts(
    outcome: Outcome, means: Mapping[Row, float | None]
) -> list[tuple[int, str, Verdict | None]]:
    """Each claim with its verdict, or nothing where runs are missing or too short to tell."""
    cells, study = Cells(means), outcome.plan.study
    verdicts: list[tuple[int, str, Verdict | None]] = []
    for claim in study.claims:
        try:
            verdict = claim.test(cells, outcome.seeds[0])
        except (LookupError, ValueError, ArithmeticError):
            verdict = None
        if verdict and _NAN.search(verdict.numbers):
            verdict = None
        verdicts.append((claim.number, claim.text, verdict))
    return verdicts


def _shown(value: Value) -> str:
    if value.mean is None or math.isnan(value.mean):
        return "–"
    if value.low is None or value.high is None:
        return f"{value.mean:.5g}"
    return f"{value.mean:.5g} ({value.low:.4g} to {value.high:.4g})"


def score_grids(means: Mapping[Row, float | None]) -> list[Grid]:
    """Per table and overall: cells compared and those that agree; then the worst misses."""
    cells = compared(means)
    return [
        Grid(
            "Cells compared with print",
            ["table", "cells", "agree", "no value", "%"],
            [_score_row(score) for score in scores(cells)],
        ),
        Grid(
            "Worst misses (in tolerances)",
            ["table", "experiment", "scheme", "flow", "metric", "print", "ours", "miss"],
            [_miss_row(cell) for cell in worst(cells)],
        ),
    ]


def _score_row(score: Score) -> list[str]:
    counts = (len(score.cells), score.agree, score.missing)
    return [score.table, *map(str, counts), f"{score.percent:.1f}"]


def _miss_row(cell: Compared) -> list[str]:
    row = cell.row
    ours = "none" if cell.ours is None else f"{cell.ours:.4g} {row.unit}"
    where = [row.table, row.experiment, row.scheme, row.flow, row.metric]
    return [*where, f"{row.published} {row.unit}", ours, f"{cell.miss:.1f}"]
