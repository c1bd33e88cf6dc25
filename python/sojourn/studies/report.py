"""A study beside its document: the score, and a page with tables, figures and claims."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..report.drawing import themed
from ..report.pages import render
from ..seeds import Value
from ..summary import Grid
from .running import Outcome
from .score import Compared, Score, compared, scores, worst
from .study import Alternative, Cells, Row, Verdict

_NAN = re.compile(r"\bnan\b")


class Ours(NamedTuple):
    """What we have for a cell."""

    text: str
    agrees: bool | None
    """Nothing where print has no value."""


@dataclass(frozen=True)
class Line:
    """A row of a table of the page: a cell, theirs and ours."""

    row: Row
    ours: Ours
    otherwise: Sequence[Ours | None]
    """Under the table's alternatives, where they were run for it."""
    remarks: Sequence[int]
    """Which of the table's remarks are about it, from 1."""


@dataclass(frozen=True)
class Table:
    """A table of the page: its cells, and why some of them do not agree."""

    name: str
    lines: Sequence[Line]
    alternatives: Sequence[Alternative]
    remarks: Sequence[str]

    @property
    def is_off(self) -> bool:
        """Does any cell not agree?"""
        return any(line.ours.agrees is False for line in self.lines)


def report_html(outcome: Outcome) -> str:
    """The page: one file that needs no network."""
    study, plan = outcome.plan.study, outcome.plan
    values, otherwise = outcome.values, outcome.otherwise
    means = _means(values)
    verdicts = _verdicts(outcome, means)
    return render(
        "study.html",
        study.title,
        study=study,
        plan=plan,
        runs=len(plan.tasks()),
        sentences=_sentences(means, verdicts),
        scores=score_grids(means),
        each_way=each_way_grid(means, otherwise),
        tables=_tables(outcome, values, otherwise),
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


def _tables(
    outcome: Outcome,
    values: Mapping[Row, Value],
    otherwise: Mapping[Alternative, Mapping[Row, Value]],
) -> list[Table]:
    ours = _beside_print(values)
    alternatives = {one: _beside_print(of_one) for one, of_one in otherwise.items()}

    def table(name: str, rows: Sequence[Row]) -> Table:
        here = [one for one, of_one in alternatives.items() if any(row in of_one for row in rows)]
        texts: dict[str, int] = {}
        lines = []
        for row in rows:
            is_off = ours[row].agrees is False
            about = [r.text for r in outcome.plan.study.remarks if is_off and r.is_about(row)]
            numbers = [texts.setdefault(text, len(texts) + 1) for text in about]
            lines.append(
                Line(row, ours[row], [alternatives[one].get(row) for one in here], numbers)
            )
        return Table(name, lines, here, list(texts))

    by_table: dict[str, list[Row]] = {}
    for row in values:
        by_table.setdefault(row.table, []).append(row)
    return [table(name, rows) for name, rows in by_table.items()]


def _beside_print(values: Mapping[Row, Value]) -> dict[Row, Ours]:
    agrees = {cell.row: cell.agrees for cell in compared(_means(values))}
    return {row: Ours(_shown(value), agrees.get(row)) for row, value in values.items()}


def _means(values: Mapping[Row, Value]) -> dict[Row, float | None]:
    return {row: value.mean for row, value in values.items()}


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
    score = Grid(
        "Cells compared with print",
        ["table", "cells", "agree", "no value", "%"],
        [_score_row(score) for score in scores(cells)],
    )
    misses = Grid(
        "Worst misses (in tolerances)",
        ["table", "experiment", "scheme", "flow", "metric", "print", "ours", "miss"],
        [_miss_row(cell) for cell in worst(cells)],
    )
    return [grid for grid in (score, misses) if grid.rows]


def each_way_grid(
    taken: Mapping[Row, float | None], otherwise: Mapping[Alternative, Mapping[Row, Value]]
) -> Grid:
    """Per alternative and table: cells compared, those that agree as taken, and those otherwise."""
    rows = [
        [one.name, here.table, str(len(here.cells)), str(here.agree), str(there.agree)]
        for one, values in otherwise.items()
        for here, there in zip(
            scores(compared({row: taken[row] for row in values})),
            scores(compared(_means(values))),
            strict=True,
        )
    ]
    headings = ["instead", "table", "cells", "agree as taken", "agree so"]
    return Grid("Runs each way", headings, rows)


def _score_row(score: Score) -> list[str]:
    counts = (len(score.cells), score.agree, score.missing)
    return [score.table, *map(str, counts), f"{score.percent:.1f}"]


def _miss_row(cell: Compared) -> list[str]:
    row = cell.row
    ours = "none" if cell.ours is None else f"{cell.ours:.4g} {row.unit}"
    where = [row.table, row.experiment, row.scheme, row.flow, row.metric]
    return [*where, f"{row.published} {row.unit}", ours, f"{cell.miss:.1f}"]
