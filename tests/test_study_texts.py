"""The texts of studies: references to cells, claims, open points and the pages that they make."""

import re
from collections import Counter

import pytest
from conftest import ROOT
from sojourn_studies.framework.claims import Cells
from sojourn_studies.framework.page import page
from sojourn_studies.framework.references import (
    Reference,
    filled,
    references,
    typed_numbers,
    without_references,
)
from sojourn_studies.framework.registry import STUDIES, study
from sojourn_studies.framework.report import judge
from sojourn_studies.framework.results import Results
from sojourn_studies.framework.rows import Row
from sojourn_studies.framework.score import compared
from sojourn_studies.framework.snapshot import (
    CELLS_DIRECTORY,
    PAGES_DIRECTORY,
    SCORES,
    said_of_claims,
    scores_toml,
    stored,
)
from sojourn_studies.framework.study import Study

TWO_LINES = 210


def texts(subject: Study) -> list[str]:
    """All that may have references."""
    return [
        *(remark.mechanism for remark in subject.remarks),
        *(claim.why for claim in subject.claims),
        *(choice.why for choice in subject.choices),
    ]


@pytest.mark.parametrize("name", STUDIES)
def test_every_reference_names_cells_of_one_unit_and_an_alternative(name: str) -> None:
    subject = study(name)
    alternatives = {one.name: one for one in subject.alternatives}
    for text in texts(subject):
        assert not set("{}") & set(without_references(text)), text
        for reference in references(text):
            problem = _problem(reference, subject, alternatives)
            assert problem is None, f"{reference}: {problem}"


def _problem(reference: Reference, subject: Study, alternatives: dict) -> str | None:
    rows = [row for row in subject.rows if reference.names(row)]
    if reference.alternative:
        if reference.alternative not in alternatives:
            return "no such alternative"
        rows = [row for row in rows if alternatives[reference.alternative].wants(row)]
    if not rows:
        return "no such cell"
    if reference.kind == "agree":
        return None
    if len(kinds := {(row.metric, row.unit) for row in rows}) > 1:
        return f"cells of several kinds: {kinds}"
    if reference.kind == "published" and all(row.result is None for row in rows):
        return "not published"
    return None


@pytest.mark.parametrize("name", STUDIES)
def test_mechanisms_take_two_lines_and_no_typed_numbers(name: str) -> None:
    subject = study(name)
    for text in [
        *(remark.mechanism for remark in subject.remarks),
        *(c.why for c in subject.claims),
    ]:
        assert typed_numbers(text) == [], text
        assert len(without_references(text)) <= TWO_LINES, text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("PIE has 13 ms instead of {fig-1/PIE}.", ["13"]),
        ("CoDel loses 0.4 % in D04, and ns-2's Sack1 more.", ["0.4"]),
        ("Tables 7 and 8, §4.1.1, figure 5.7 and RFC 8033 have it under ABB-4.", []),
        ("It changes with 1024-bins and window-400.", []),
    ],
)
def test_typed_numbers_are_found(text: str, numbers: list[str]) -> None:
    assert typed_numbers(text) == numbers


@pytest.mark.parametrize("name", STUDIES)
def test_texts_are_about_tables_and_alternatives_that_there_are(name: str) -> None:
    subject = study(name)
    tables = {row.table for row in subject.rows}
    assert {table for remark in subject.remarks for table in remark.tables} <= tables
    chosen = Counter(one for choice in subject.choices for one in choice.alternatives)
    assert chosen == Counter(one.name for one in subject.alternatives), "each answers one question"
    assert all(claim.section and claim.sentence.endswith(".") for claim in subject.claims)


def test_references_become_numbers() -> None:
    row = Row("s", "t", "D01/C01", "PIE", "ftp=1", "web", "plt", "3", "s", "")
    other, bound = row._replace(load="ftp=2", published="5"), row._replace(table="b", note="<")
    rows = [row, other, bound]
    results = Results({row: 3.14159, other: 9.0, bound: None}, {"fast": {row: 2.0}})
    for text, expected in (
        ("{t/PIE/ftp=1}", "3.14 s"),
        ("{t/D01:C01}", "3.14 to 9 s"),
        ("{t/ftp=1@fast}", "2 s"),
        ("{t/ftp=1@slow}", ""),
        (
            "PIE has {t/ftp=1}. With slow {t/ftp=1@slow}. It is\nchance.",
            "PIE has 3.14 s. It is chance.",
        ),
        ("{b}", "no value"),
        ("{published: t}", "3 to 5 s"),
        ("{published: b}", "<3 s"),
        ("{agree: t}\nof {agree: t@fast}", "1 of 2 of 0 of 1"),
    ):
        assert filled(text, rows, results) == expected


@pytest.mark.parametrize("name", STUDIES)
def test_stored_cells_give_the_stored_scores_and_page(name: str) -> None:
    """`sojourn study snapshot` renews all of them."""
    subject, place = study(name), ROOT / CELLS_DIRECTORY / name
    results, said = stored(subject, place), said_of_claims(place)
    assert scores_toml(results, said) == (place / SCORES).read_text()
    assert page(subject, results, said) == (ROOT / PAGES_DIRECTORY / f"{name}.md").read_text()


@pytest.mark.parametrize("name", STUDIES)
def test_stored_verdicts_are_those_of_the_stored_cells(name: str) -> None:
    subject, place = study(name), ROOT / CELLS_DIRECTORY / name
    said = said_of_claims(place)
    judged = judge(subject.claims, Cells(stored(subject, place).baseline), {}, Cells({}))
    verdicts = {
        one.claim.number: "holds" if one.ours.holds else "does not hold"
        for one in judged
        if one.ours
    }
    assert verdicts, "some are of cells alone"
    assert {number: said[number].verdict for number in verdicts} == verdicts


@pytest.mark.parametrize("name", STUDIES)
def test_remarks_are_about_cells_that_do_not_agree(name: str) -> None:
    subject = study(name)
    results = stored(subject, ROOT / CELLS_DIRECTORY / name)
    run = {row.table for row in results.baseline}
    off = [cell.row for cell in compared(results.baseline) if not cell.agrees]
    for remark in subject.remarks:
        if set(remark.tables) <= run:
            assert any(map(remark.is_about, off)), remark.mechanism


@pytest.mark.parametrize("name", STUDIES)
def test_claims_that_do_not_hold_say_why(name: str) -> None:
    subject = study(name)
    said = said_of_claims(ROOT / CELLS_DIRECTORY / name)
    failed = {number for number, one in said.items() if one.verdict == "does not hold"}
    judged = {number for number, one in said.items() if one.verdict != "not judged"}
    explained = {claim.number for claim in subject.claims if claim.why}
    assert explained & judged == failed


def test_pages_have_no_reference_left() -> None:
    for name in STUDIES:
        text = (ROOT / PAGES_DIRECTORY / f"{name}.md").read_text()
        assert not re.search(r"[{}]", text)
