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
from sojourn.plot.paper import themed
from sojourn.report.pages import render

from .cases import Runs
from .claims import Cells, Claim, Verdict
from .open_points import open_points
from .references import filled, shown
from .results import Results, without_intervals
from .rows import KEYS, Row
from .running import Outcome, read
from .score import Compared, compared, scores, worst
from .study import Study

_NAN = re.compile(r"\bnan\b")


class Ours(NamedTuple):
    """What we have for a cell."""

    text: str
    agrees: bool | None
    """Nothing where there is no published value."""
    deviation: str = ""
    """From it, in percent."""


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
    """What other columns hold: alternatives, and what other published cells make of a summary."""
    remarks: Sequence[str]

    @property
    def is_off(self) -> bool:
        """Does any cell not agree?"""
        return any(line.ours.agrees is False for line in self.lines)


class Judged(NamedTuple):
    """A claim with its verdicts, or nothing where cells or runs are missing or too short."""

    claim: Claim
    ours: Verdict | None
    published: Verdict | None
    """By the document's own cells."""


FROM_OTHERS = "from other published cells"
LOW_PERCENT = 60
"""Tables of which less agrees are named with the verdict."""


def page_of(directory: Path) -> str:
    """The page of a study that was run into a directory."""
    return report_html(read(directory))


def report_html(outcome: Outcome) -> str:
    """The page: one file that needs no network."""
    study, plan = outcome.plan.study, outcome.plan
    values, otherwise = outcome.values, outcome.otherwise
    results = Results.of(values, otherwise)
    judged = judge(
        study.claims, Cells(results.baseline), outcome.seeds[0], Cells.published(study.rows)
    )
    return render(
        "study.html",
        study.title,
        package=__package__,
        study=study,
        plan=plan,
        runs=plan.run_count,
        sentences=_sentences(study, results.baseline, judged),
        scores=score_grids(study, values),
        alternatives=alternatives_grid(results),
        open_points=open_points(study, results),
        whys={claim.number: filled(claim.why, study.rows, results) for claim in study.claims},
        tables=_tables(study, results, otherwise),
        claims=judged,
        figures=[
            (number, drawing.title, themed(drawing.svg, f"figure-{place}", drawing.title, numbers))
            for place, (number, drawing) in enumerate(outcome.drawings.items())
            for numbers in (f"Its numbers: {plan.name}-figure-{number}.csv",)
        ],
    )


def _sentences(
    study: Study, means: Mapping[Row, float | None], judged: Sequence[Judged]
) -> list[str]:
    """How far the study agrees with its document, in words."""
    claims = _claims_sentences(judged)
    if not study.is_scored:
        return ["Nothing is compared with published values.", *claims]
    *tables, score = scores(compared(means))
    low = [table.name for table in tables if table.percent < LOW_PERCENT]
    return [
        f"{score.agree} of {len(score.cells)} cells with a {study.terms.values} value agree "
        f"({score.percent:.0f} %).",
        *([f"Without a value here: {score.missing} of them."] if score.missing else []),
        *([f"Under {LOW_PERCENT} %: {', '.join(low)}."] if low else []),
        *claims,
    ]


def _claims_sentences(judged: Sequence[Judged]) -> list[str]:
    tested = [one.ours for one in judged if one.ours]
    untested = len(judged) - len(tested)
    holds = sum(verdict.holds for verdict in tested)
    sentence = f"{holds} of {len(tested)} claims hold"
    return [sentence + (f"; not judged: {untested}." if untested else ".")] if tested else []


def _tables(
    study: Study, results: Results, otherwise: Mapping[str, Mapping[Row, Value]]
) -> list[Table]:
    ours = _beside_published(results.intervals)
    columns = {name: _beside_published(of_one) for name, of_one in otherwise.items()}
    columns[FROM_OTHERS] = _beside_published(summaries_of_published(study))

    def table(name: str, rows: Sequence[Row]) -> Table:
        here = [other for other, column in columns.items() if any(row in column for row in rows)]
        texts: dict[str, int] = {}
        lines = []
        for row in rows:
            is_off = ours[row].agrees is False
            about = [r.mechanism for r in study.remarks if is_off and r.is_about(row)]
            numbers = [texts.setdefault(text, len(texts) + 1) for text in about]
            lines.append(Line(row, ours[row], [columns[other].get(row) for other in here], numbers))
        return Table(name, lines, here, [filled(text, study.rows, results) for text in texts])

    by_table: dict[str, list[Row]] = {}
    for row in results.intervals:
        by_table.setdefault(row.table, []).append(row)
    return [table(name, rows) for name, rows in by_table.items()]


def summaries_of_published(study: Study) -> dict[Row, Value]:
    """What published cells make of those that sum them up."""
    cells = Cells.published(study.rows)

    def summary(row: Row) -> float | None:
        try:
            return study.summed_up(row, cells)
        except LookupError:
            return None

    found = {row: summary(row) for row in study.rows}
    return {row: Value(value) for row, value in found.items() if value is not None}


def _beside_published(values: Mapping[Row, Value]) -> dict[Row, Ours]:
    cells = {cell.row: cell for cell in compared(without_intervals(values))}

    def ours(row: Row, value: Value) -> Ours:
        cell = cells.get(row)
        return Ours(_shown(value), *((cell.agrees, cell.deviation) if cell else (None,)))

    return {row: ours(row, value) for row, value in values.items()}


def judge(claims: Sequence[Claim], ours: Cells, runs: Runs, published: Cells) -> list[Judged]:
    """Tests each claim on our cells and runs, and on published cells, where no run is needed."""

    def by_published(claim: Claim) -> Verdict | None:
        return _verdict(claim, published, {}) if claim.is_of_cells else None

    return [Judged(claim, _verdict(claim, ours, runs), by_published(claim)) for claim in claims]


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
        return shown(value.mean, 5)
    return f"{shown(value.mean, 5)} ({shown(value.low, 4)} to {shown(value.high, 4)})"


def cell_grids(study: Study, results: Mapping[Row, Value]) -> list[Grid]:
    """The cells themselves: as the study shows those that nothing is published of, or one a row."""
    if not results:
        return []
    if grids := list(study.measured(results)):
        return grids
    rows = [[*row.keys[1:], _shown(value) + _unit(row)] for row, value in results.items()]
    return [Grid("Cells", [*_WHERE, "value"], rows)]


def score_grids(study: Study, results: Mapping[Row, Value]) -> list[Grid]:
    """Per table and overall: cells compared and those that agree; then the worst misses.

    Last what else the study shows of them.
    """
    if not study.is_scored:
        return [*study.ranked(results), *study.measured(results)]
    cells, values = compared(without_intervals(results)), study.terms.values
    score = Grid(
        f"Cells compared with {values} values",
        ["table", "cells", "agree", "no value", "%"],
        [
            [one.name, *map(str, (len(one.cells), one.agree, one.missing)), f"{one.percent:.1f}"]
            for one in scores(cells)
        ],
    )
    misses = Grid(
        "Worst misses, one of each metric in a table (in tolerances)",
        [*_WHERE, values, "ours", "miss"],
        [_miss_row(cell) for cell in worst(cells)],
    )
    return [grid for grid in (score, misses, *study.overview(cells)) if grid.rows]


def alternatives_grid(results: Results) -> Grid:
    """Per alternative and table: cells compared, and those that agree at the baseline and so.

    Before them those that agree under any assumption: what is left depends on something else.
    """
    baseline = {cell.row: cell for cell in compared(results.baseline)}
    others = {name: compared(values) for name, values in results.alternatives.items()}
    if len(others) > 1:
        others = {"any of these": _nearest(baseline, others.values()), **others}
    rows = [
        [name, here.name, str(len(here.cells)), str(here.agree), str(there.agree)]
        for name, other in others.items()
        for here, there in zip(
            scores(baseline[cell.row] for cell in other), scores(other), strict=True
        )
    ]
    headings = ["alternative", "table", "cells", "agree at the baseline", "agree under it"]
    return Grid("Alternative assumptions", headings, rows)


def _nearest(
    baseline: Mapping[Row, Compared], others: Collection[Sequence[Compared]]
) -> list[Compared]:
    """The cells that alternatives were run for, each under the assumption nearest to published."""
    run = {cell.row for other in others for cell in other}
    best = {row: cell for row, cell in baseline.items() if row in run}
    for cell in chain.from_iterable(others):
        best[cell.row] = min(best[cell.row], cell, key=lambda one: one.miss)
    return list(best.values())


_WHERE = KEYS[1:]


def _unit(row: Row) -> str:
    return "" if row.unit == "1" else f" {row.unit}"


def _miss_row(cell: Compared) -> list[str]:
    row = cell.row
    ours = "none" if cell.ours is None else shown(cell.ours, 4) + _unit(row)
    return [*row.keys[1:], row.published + _unit(row), ours, f"{cell.miss:.1f}"]
