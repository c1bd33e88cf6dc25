"""A study beside its document: the score, and a page with tables, figures and claims."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from sojourn.analysis.statistics import Value
from sojourn.base.grid import Grid
from sojourn.plot.drawing import themed
from sojourn.report.pages import render

from .cases import Alternative, Runs
from .claims import Cells, Claim, Verdict
from .rows import Row
from .running import Outcome, read
from .score import Compared, Score, compared, scores, worst
from .study import Study

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
    """In the table's other columns, where they have it."""
    remarks: Sequence[int]
    """Which of the table's remarks are about it, from 1."""


@dataclass(frozen=True)
class Table:
    """A table of the page: its cells, and why some of them do not agree."""

    name: str
    lines: Sequence[Line]
    others: Sequence[str]
    """What other columns hold: alternatives, and what print's own cells make of its summaries."""
    remarks: Sequence[str]

    @property
    def is_off(self) -> bool:
        """Does any cell not agree?"""
        return any(line.ours.agrees is False for line in self.lines)


class Judged(NamedTuple):
    """A claim with its verdicts, or nothing where cells or runs are missing or too short."""

    claim: Claim
    ours: Verdict | None
    prints: Verdict | None
    """By the document's own cells."""


PRINTS_OWN = "print's other cells"
LOW_PERCENT = 60
"""Tables of which less agrees are named with the verdict."""


def page_of(directory: Path) -> str:
    """The page of a study that was run into a directory."""
    return report_html(read(directory))


def report_html(outcome: Outcome) -> str:
    """The page: one file that needs no network."""
    study, plan = outcome.plan.study, outcome.plan
    values, otherwise = outcome.values, outcome.otherwise
    means = _means(values)
    judged = judge(study.claims, Cells(means), outcome.seeds[0], Cells.of_print(study.rows))
    return render(
        "study.html",
        study.title,
        package=__package__,
        study=study,
        plan=plan,
        runs=plan.run_count,
        sentences=_sentences(means, judged),
        scores=score_grids(means),
        each_way=each_way_grid(means, otherwise),
        tables=_tables(outcome, values, otherwise),
        claims=judged,
        figures=[
            (number, drawing.title, themed(drawing.svg, f"figure-{place}", drawing.title, numbers))
            for place, (number, drawing) in enumerate(outcome.drawings.items())
            for numbers in (f"Its numbers: {plan.name}-figure-{number}.csv",)
        ],
    )


def _sentences(means: Mapping[Row, float | None], judged: Sequence[Judged]) -> list[str]:
    """How far the study agrees with its document, in words."""
    *tables, score = scores(compared(means))
    low = [table.table for table in tables if table.percent < LOW_PERCENT]
    tested = [one.ours for one in judged if one.ours]
    untested = len(judged) - len(tested)
    return [
        f"{score.agree} of {len(score.cells)} cells that have a published value agree with print "
        f"({score.percent:.0f} %).",
        *([f"Without a value here: {score.missing} of them."] if score.missing else []),
        *([f"Under {LOW_PERCENT} %: {', '.join(low)}."] if low else []),
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
    columns = {one.name: _beside_print(of_one) for one, of_one in otherwise.items()}
    columns[PRINTS_OWN] = _beside_print(summaries_of_print(outcome.plan.study))

    def table(name: str, rows: Sequence[Row]) -> Table:
        here = [other for other, column in columns.items() if any(row in column for row in rows)]
        texts: dict[str, int] = {}
        lines = []
        for row in rows:
            is_off = ours[row].agrees is False
            about = [r.text for r in outcome.plan.study.remarks if is_off and r.is_about(row)]
            numbers = [texts.setdefault(text, len(texts) + 1) for text in about]
            lines.append(Line(row, ours[row], [columns[other].get(row) for other in here], numbers))
        return Table(name, lines, here, list(texts))

    by_table: dict[str, list[Row]] = {}
    for row in values:
        by_table.setdefault(row.table, []).append(row)
    return [table(name, rows) for name, rows in by_table.items()]


def summaries_of_print(study: Study) -> dict[Row, Value]:
    """What print's own cells make of those of its cells that sum up others, where it has them."""
    cells = Cells.of_print(study.rows)

    def summary(row: Row) -> float | None:
        try:
            return study.summed_up(row, cells)
        except LookupError:
            return None

    found = {row: summary(row) for row in study.rows}
    return {row: Value(value) for row, value in found.items() if value is not None}


def _beside_print(values: Mapping[Row, Value]) -> dict[Row, Ours]:
    agrees = {cell.row: cell.agrees for cell in compared(_means(values))}
    return {row: Ours(_shown(value), agrees.get(row)) for row, value in values.items()}


def _means(values: Mapping[Row, Value]) -> dict[Row, float | None]:
    return {row: value.mean for row, value in values.items()}


def judge(claims: Sequence[Claim], ours: Cells, runs: Runs, prints: Cells) -> list[Judged]:
    """Tests each claim on our cells and runs, and on print's cells, where no run is needed."""

    def by_print(claim: Claim) -> Verdict | None:
        return _verdict(claim, prints, {}) if claim.is_of_cells else None

    return [Judged(claim, _verdict(claim, ours, runs), by_print(claim)) for claim in claims]


def _verdict(claim: Claim, cells: Cells, runs: Runs) -> Verdict | None:
    try:
        verdict = claim.test(cells, runs)
    except (LookupError, ValueError, ArithmeticError):
        return None
    return None if _NAN.search(verdict.numbers) else verdict


def _shown(value: Value) -> str:
    if value.mean is None or math.isnan(value.mean):
        return "–"
    if value.low is None or value.high is None:
        return _digits(value.mean, 5)
    return f"{_digits(value.mean, 5)} ({_digits(value.low, 4)} to {_digits(value.high, 4)})"


def _digits(value: float, digits: int) -> str:
    """So many digits, and all of a number that has more of them before its point."""
    return f"{value:.0f}" if abs(value) >= 10**digits else f"{value:.{digits}g}"


def score_grids(means: Mapping[Row, float | None]) -> list[Grid]:
    """Per table and overall: cells compared and those that agree; then the worst misses."""
    cells = compared(means)
    score = Grid(
        "Cells compared with print",
        ["table", "cells", "agree", "no value", "%"],
        [_score_row(score) for score in scores(cells)],
    )
    misses = Grid(
        "Worst misses, one of each metric in a table (in tolerances)",
        ["table", "experiment", "scheme", "load", "flow", "metric", "print", "ours", "miss"],
        [_miss_row(cell) for cell in worst(cells)],
    )
    return [grid for grid in (score, misses) if grid.rows]


def each_way_grid(
    taken: Mapping[Row, float | None], otherwise: Mapping[Alternative, Mapping[Row, Value]]
) -> Grid:
    """Per alternative and table: cells compared, those that agree as taken, and those otherwise.

    Before them those that agree in any of these ways: what is left hangs on something else.
    """
    as_taken = {cell.row: cell for cell in compared(taken)}
    ways = {one.name: compared(_means(values)) for one, values in otherwise.items()}
    if len(ways) > 1:
        ways = {"any way": _nearest(as_taken, ways.values()), **ways}
    rows = [
        [name, here.table, str(len(here.cells)), str(here.agree), str(there.agree)]
        for name, way in ways.items()
        for here, there in zip(scores(as_taken[cell.row] for cell in way), scores(way), strict=True)
    ]
    headings = ["instead", "table", "cells", "agree as taken", "agree so"]
    return Grid("Runs each way", headings, rows)


def _nearest(
    as_taken: Mapping[Row, Compared], ways: Collection[Sequence[Compared]]
) -> list[Compared]:
    """The cells that ways were run for, as taken or in the way that is nearest to print."""
    run = {cell.row for way in ways for cell in way}
    best = {row: cell for row, cell in as_taken.items() if row in run}
    for cell in chain.from_iterable(ways):
        best[cell.row] = min(best[cell.row], cell, key=lambda one: one.miss)
    return list(best.values())


def _score_row(score: Score) -> list[str]:
    counts = (len(score.cells), score.agree, score.missing)
    return [score.table, *map(str, counts), f"{score.percent:.1f}"]


def _miss_row(cell: Compared) -> list[str]:
    row = cell.row
    unit = "" if row.unit == "1" else f" {row.unit}"
    ours = "none" if cell.ours is None else _digits(cell.ours, 4) + unit
    where = [row.table, row.experiment, row.scheme, row.load, row.flow, row.metric]
    return [*where, row.published + unit, ours, f"{cell.miss:.1f}"]
