"""The page of a study in Markdown: what agrees, what does not and why, and what is left open."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

from sojourn.base.grid import Grid

from .claims import Claim, Remark
from .open_points import OpenPoint, open_points
from .references import filled
from .results import Results
from .rows import FigureNumber, Row
from .score import compared, scores
from .study import Study

_MOST_NAMES = 3
"""How many experiments or metrics a cause lists one by one."""


class Said(NamedTuple):
    """The verdict on a claim, in words, and the numbers that give it."""

    verdict: str
    numbers: str


def page(study: Study, results: Results, said: Mapping[int, Said]) -> str:
    """The page, from results of full length."""
    blocks = [
        f"# {study.title}",
        f"*Explanation.* The numbers come from runs of full length with {_seeds(study)}. "
        "[Studies](../studies.md) explains how to run this study and how to read this page, which "
        "`sojourn study snapshot` writes.",
        *([study.terms.legend] if study.terms.legend else []),
        *(_compared(study, results, said) if study.is_scored else _measured(study, results, said)),
        *_open(study, results),
    ]
    return "\n\n".join(blocks) + "\n"


def _seeds(study: Study) -> str:
    return "seed 1" if study.seeds == 1 else f"the seeds 1 to {study.seeds}"


def _compared(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    yield from _agreement(study, results, said)
    yield from _misses(study, results)
    yield from _failed(study, results, said)


def _measured(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    """Ranks, findings by section, each with its numbers, and the cells: nothing is compared."""
    yield from _grids("Ranking", study.ranked(results.intervals))
    for number, caption in study.pictures.items():
        yield f"![{caption.partition('.')[0]}](img/{picture_name(study.name, number)})"
        yield caption
    for section in dict.fromkeys(claim.section for claim in study.claims):
        yield f"## {section}"
        here = [claim for claim in study.claims if claim.section == section]
        yield "\n".join(f"- {_finding(claim, study, results, said)}" for claim in here)
    yield from _grids("All cells", study.measured(results.intervals))


def _grids(heading: str, grids: Sequence[Grid]) -> Iterator[str]:
    if grids:
        yield f"## {heading}"
    for grid in grids:
        yield f"{grid.title}:"
        yield _table(grid)


def picture_name(study: str, number: FigureNumber) -> str:
    """The file of a figure that a page shows."""
    return f"{study}-{number}.svg"


def _finding(claim: Claim, study: Study, results: Results, said: Mapping[int, Said]) -> str:
    one = said.get(claim.number)
    if one is None or one.verdict == "not judged":
        return f"{claim.sentence} (Not judged.)"
    fails = "" if one.verdict == "holds" else "**This does not hold.** "
    why = f" {filled(claim.why, study.rows, results)}" if claim.why and fails else ""
    return f"{claim.sentence} {fails}Measured: {one.numbers}.{why}"


def _agreement(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    cells = compared(results.baseline)
    *tables, whole = scores(cells)
    judged = [one for one in said.values() if one.verdict != "not judged"]
    holds = sum(one.verdict == "holds" for one in judged)
    yield "## What agrees"
    yield (
        f"A cell is one {study.terms.values} value. "
        f"{whole.agree} of {len(whole.cells)} cells agree "
        f"({whole.percent:.0f} %), and {holds} of {len(judged)} claims hold."
    )
    yield _table(
        Grid("", ["table or section", "cells", "agree", "%"], [one.texts for one in tables])
    )
    for grid in study.overview(cells):
        yield f"{grid.title}:"
        yield _table(grid)


def _misses(study: Study, results: Results) -> Iterator[str]:
    off = [cell.row for cell in compared(results.baseline) if not cell.agrees]
    yield "## What does not agree, and why"
    about = [(remark, list(filter(remark.is_about, off))) for remark in study.remarks]
    yield _count(len(off), sum(len(rows) for _, rows in about))
    for remark, rows in about:
        if rows:
            text = filled(remark.mechanism, study.rows, results)
            yield f"- {_where(remark, rows)} ({_cells(len(rows))}): {text}"


def _count(off: int, named: int) -> str:
    """How many cells do not agree, and why the causes may name more."""
    if named == off:
        return f"{_cells(off)} {'does' if off == 1 else 'do'} not agree."
    return (
        f"{_cells(off)} do not agree. A cell with several causes is counted with each of them, so "
        f"the counts below add up to {named}."
    )


def _cells(count: int) -> str:
    return f"{count} {'cell' if count == 1 else 'cells'}"


def _where(remark: Remark, rows: Sequence[Row]) -> str:
    words = [
        f"**{', '.join(remark.tables)}**",
        _named("experiment", remark.experiment, {row.experiment for row in rows}),
        _named("metric", remark.metric, {row.metric for row in rows}),
        f"under {', '.join(remark.schemes)}" if remark.schemes else "",
    ]
    return ", ".join(filter(None, words))


def _named(kind: str, prefix: str, names: Set[str]) -> str:
    """The names that begin so, or what they begin with if they are many."""
    if not prefix:
        return ""
    if len(names) > _MOST_NAMES:
        return f"{kind}s that begin with `{prefix}`"
    return f"{kind}{'' if len(names) == 1 else 's'} " + ", ".join(f"`{n}`" for n in sorted(names))


def _failed(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    failed = [c for c in study.claims if c.number in said and said[c.number].verdict[0] == "d"]
    if failed:
        yield "## Claims that do not hold"
        yield "Claims are summarised in our words; they are not quotations."
    for claim in failed:
        yield f"- {_claim(claim)} Here: {said[claim.number].numbers}." + (
            f" {filled(claim.why, study.rows, results)}" if claim.why else ""
        )


def _claim(claim: Claim) -> str:
    section = claim.section if claim.section[0].isalpha() else f"Section {claim.section}"
    return f"{section}: {claim.sentence}"


def _open(study: Study, results: Results) -> Iterator[str]:
    yield f"## {study.terms.open_points}"
    yield (
        f"The {study.terms.source} does not answer the questions below. The runs use the baseline "
        f"assumption.{_how_to_run_alternatives(study)}"
    )
    for point in open_points(study, results):
        yield f"### {point.question}"
        yield f"Baseline assumption: {point.baseline}."
        yield point.why
        yield from _alternatives(point)


def _how_to_run_alternatives(study: Study) -> str:
    if not study.alternatives:
        return ""
    return (
        f" `sojourn study run {study.name} --alternatives` runs the alternatives too, "
        "each for the cells that it can change."
    )


def _alternatives(point: OpenPoint) -> Iterator[str]:
    """A table of those that were run; the names of the others."""
    run = [option for option in point.options if option.cells]
    if run:
        yield _table(replace(point, options=run).grid)
    if others := [f"`{one.name}` ({one.what})" for one in point.options if not one.cells]:
        yield f"Alternatives without stored results: {'; '.join(others)}."


def _table(grid: Grid) -> str:
    rows: Sequence[Sequence[str]] = [grid.headings, ["---"] * len(grid.headings), *grid.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
