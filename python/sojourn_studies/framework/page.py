"""The page of a study in Markdown: what agrees, what does not and why, and what is left open."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sojourn.base.grid import Grid

from .claims import Claim, Remark
from .open_points import open_points
from .references import filled
from .results import Results
from .score import Score, compared, scores
from .study import Study


class Said(NamedTuple):
    """The verdict on a claim, in words, and the numbers that give it."""

    verdict: str
    numbers: str


def page(study: Study, results: Results, said: Mapping[int, Said]) -> str:
    """The page, from results of full length."""
    blocks = [
        f"# {study.title}",
        "Explanation. Made by `sojourn study snapshot` from runs of full length and one seed; "
        "[Studies](../studies.md) explains how to run and read it.",
        *([study.terms.legend] if study.terms.legend else []),
        *(_compared(study, results, said) if study.is_scored else _measured(study, results, said)),
        *_open(study, results),
    ]
    return "\n\n".join(blocks) + "\n"


def _compared(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    yield from _agreement(study, results, said)
    yield from _misses(study, results)
    yield from _failed(study, results, said)


def _measured(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    """Findings by section, each with its numbers, and the cells: nothing is compared."""
    for section in dict.fromkeys(claim.section for claim in study.claims):
        yield f"## {section}"
        here = [claim for claim in study.claims if claim.section == section]
        yield "\n".join(f"- {_finding(claim, study, results, said)}" for claim in here)
    yield "## All cells"
    for grid in study.measured(results.baseline):
        yield f"{grid.title}:"
        yield _table(grid)


def _finding(claim: Claim, study: Study, results: Results, said: Mapping[int, Said]) -> str:
    one = said.get(claim.number)
    if one is None or one.verdict == "not judged":
        return f"{claim.sentence} (Not judged.)"
    fails = "" if one.verdict == "holds" else "**This does not hold.** "
    why = f" {filled(claim.why, study.rows, results)}" if claim.why and fails else ""
    return f"{claim.sentence} {fails}{one.numbers}.{why}"


def _agreement(study: Study, results: Results, said: Mapping[int, Said]) -> Iterator[str]:
    cells = compared(results.baseline)
    *tables, whole = scores(cells)
    judged = [one for one in said.values() if one.verdict != "not judged"]
    holds = sum(one.verdict == "holds" for one in judged)
    yield "## What agrees"
    yield (
        f"{whole.agree} of {len(whole.cells)} {study.terms.values} cells agree "
        f"({whole.percent:.0f} %), and "
        f"{holds} of {len(judged)} claims hold."
    )
    yield _table(
        Grid("", ["table or section", "cells", "agree", "%"], [_score_row(one) for one in tables])
    )
    for grid in study.overview(cells):
        yield f"{grid.title}:"
        yield _table(grid)


def _score_row(score: Score) -> list[str]:
    return [score.name, str(len(score.cells)), str(score.agree), f"{score.percent:.0f}"]


def _misses(study: Study, results: Results) -> Iterator[str]:
    off = [cell.row for cell in compared(results.baseline) if not cell.agrees]
    yield "## What does not agree, and why"
    for remark in study.remarks:
        cells = sum(map(remark.is_about, off))
        if cells:
            text = filled(remark.mechanism, study.rows, results)
            yield f"- {_where(remark)} ({cells} {'cell' if cells == 1 else 'cells'}): {text}"


def _where(remark: Remark) -> str:
    words = [
        f"**{', '.join(remark.tables)}**",
        f"{remark.experiment}…" if remark.experiment else "",
        f"metric {remark.metric}…" if remark.metric else "",
        f"under {', '.join(remark.schemes)}" if remark.schemes else "",
    ]
    return ", ".join(filter(None, words))


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
        f"Each question is one that the {study.terms.source} does not answer. The baseline "
        "assumption is what the runs have; alternatives to it are run by `--alternatives`, for "
        "the cells that they concern."
    )
    for point in open_points(study, results):
        yield f"### {point.question}"
        yield f"Baseline assumption: {point.baseline}."
        yield point.why
        if point.options:
            yield _table(point.grid)


def _table(grid: Grid) -> str:
    rows: Sequence[Sequence[str]] = [grid.headings, ["---"] * len(grid.headings), *grid.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
