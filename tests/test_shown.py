"""What is shown of any results: the answer first, two tables, no zeros, few digits."""

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sojourn
from browser import PHONE, visit
from conftest import warning_data
from playwright.sync_api import Browser
from sojourn._sojourn import shipped
from sojourn.analysis.grids import first_grids, more_grids, with_interval
from sojourn.analysis.groups import Group, Results
from sojourn.analysis.statistics import Value
from sojourn.analysis.summary import warnings_of
from sojourn.analysis.verdict import marked, verdict
from sojourn.base.grid import NOTHING, digits, informative
from sojourn.plot.charts.base import FEW_AT_MOST
from sojourn.plot.figures.by_kind import figures
from sojourn.report.html import report_of
from sojourn.runs.draft import draft

BITTORRENT = Path(__file__).parents[1] / "scenarios/gallery/05-bittorrent.toml"
NEIGHBOURS = "a household with neighbours"
SCENARIOS = [*(name for name, _ in shipped()), NEIGHBOURS]
FEW = ["home", "neighbourhood", "05-bittorrent", NEIGHBOURS]

_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.])")


@cache
def run(name: str) -> sojourn.Comparison | sojourn.Result:
    text = draft(down_mbps=50, up_mbps=10, aqms=["low_latency"], uses=["game", "upload"])
    return sojourn.run(text if name == NEIGHBOURS else name, duration_s=5)


@cache
def results(name: str) -> Results:
    return marked(run(name).groups)


@cache
def page(name: str) -> str:
    return report_of(results(name))


def unfolded(html: str) -> str:
    """A page without what is folded away."""
    while "<details" in html:
        html = re.sub(r"<details(?:(?!<details).)*?</details>", "", html, flags=re.DOTALL)
    return html


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_column_has_zeros_alone_and_numbers_have_three_digits(name: str) -> None:
    for grid in [*first_grids(results(name)), *more_grids(results(name), verdict(results(name)))]:
        assert grid.rows, grid.title
        _, *columns = zip(*grid.rows, strict=True)
        for heading, column in zip(grid.headings[1:], columns, strict=True):
            assert set(column) - {"0", NOTHING, ""}, (grid.title, heading)
        cells = " ".join(cell for column in columns for cell in column)
        measured = [number for number in _NUMBER.findall(cells) if "." in number]
        assert all(len(number.replace(".", "").lstrip("0")) <= 3 for number in measured), grid.title


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_answer_comes_first_then_two_tables_then_one_warning(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(name).summary()
    lines = capsys.readouterr().out.splitlines()
    sentence = verdict(results(name)).sentences[0]
    answer = next(n for n, line in enumerate(lines) if line and sentence.startswith(line.strip()))
    titles = re.compile("What users notice|Where the time ")
    tables = [n for n, line in enumerate(lines) if titles.match(line)]
    warnings = [n for n, line in enumerate(lines) if line.startswith("warning: ")]
    assert 1 <= len(tables) <= 2 and len(warnings) <= 1
    assert [answer, *tables, *warnings] == sorted([answer, *tables, *warnings])
    # Above the answer there is nothing but the letter with its numbers.
    has_letter = lines[0].startswith("Bufferbloat: ")
    assert has_letter or answer == 0
    assert sum("───" in line for line in lines) == len(tables) + has_letter
    run(name).summary(in_full=True)
    assert len(capsys.readouterr().out.splitlines()) >= len(lines) - 1


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_report_has_two_tables_below_letter_and_grades(name: str) -> None:
    shown = unfolded(page(name))
    titles = re.findall(r"<caption>([^<]*)", shown)
    assert shown.count("<table") <= 3 and "Warnings" not in shown
    if any(one.letter for one in verdict(results(name)).round_trips.values()):
        assert titles[0].startswith("Bufferbloat: ")
    answer = shown.index('class="verdict')
    # A grade is a word.
    cells = re.findall(r"<td[^>]*>(.*?)</td>", shown[:answer])
    assert not [cell for cell in cells if cell and not re.search("[A-Za-z0-9]", cell)]
    assert answer < shown.index("<caption>What users notice") < shown.index('<h2 id="figures')


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_first_figure_has_delay_and_rates_on_one_time_axis(name: str) -> None:
    if len(results(name).groups) > FEW_AT_MOST:
        return
    first = figures(results(name))[0]
    assert first.title == "Delay and rates over time"
    delay, *rates = [part.y.label for part in first.panels]
    assert re.match("round trip|queue delay", delay)
    assert rates and all("rate (Mbps)" in label for label in rates)
    assert [part.x.label for part in first.panels] == [*[""] * len(rates), "time (s)"]
    names = [part.names for part in first.panels]
    assert names.count(names[0]) == len(names) or len(results(name).groups) == 1


@pytest.mark.parametrize(
    "names", [FEW, pytest.param(SCENARIOS, marks=pytest.mark.long)], ids=["few", "all"]
)
def test_on_a_phone_answer_and_letter_are_on_the_first_screen(
    chromium: Browser, tmp_path: Path, names: list[str]
) -> None:
    with visit(chromium, "about:blank", width=PHONE) as visited:
        for name in names:
            path = tmp_path / f"{name}.html"
            path.write_text(page(name))
            visited.page.goto(path.as_uri())
            assert visited.overflow_px == 0
            found = [".verdict li >> nth=0"]
            if len(results(name).groups) <= 8 and verdict(results(name)).round_trips:
                found.append("[aria-label=Grades] tbody tr >> nth=0")
            for place in found:
                box = visited.page.locator(place).bounding_box()
                assert box and box["y"] + box["height"] <= 844, (name, place)


@pytest.mark.parametrize("name", SCENARIOS)
def test_nobody_is_warned_of_a_line_that_cannot_be_set(name: str) -> None:
    idle = verdict(results(name)).idle_lines
    for text in warnings_of(results(name)):
        assert not any(line in text for line in idle)
    assert "neighbours_" not in "".join(warnings_of(results(name)))


def test_low_latency_rows_are_of_the_judged_homes() -> None:
    tables = {
        grid.title: grid for grid in more_grids(results(NEIGHBOURS), verdict(results(NEIGHBOURS)))
    }
    rows = tables["Low-latency and classic queue: delay, marks by cause"].rows
    assert [row[1] for row in rows if row[0] == "LLD"] == [
        "upstream low_latency",
        "upstream classic",
    ]


@pytest.mark.parametrize(
    ("lines", "row"),
    [
        (["idle line of a", "idle line of b"], "idle line of a and b"),
        (["a without uploads", "b without uploads"], "a and b without uploads"),
        (["idle line of a", "b without uploads"], "idle line of a and b without uploads"),
        (["idle line of a, c", "idle line of b"], "idle line of 'a, c' and b"),
    ],
)
def test_equal_idle_lines_are_one_row(
    comparison: sojourn.Comparison, lines: list[str], row: str
) -> None:
    loaded, idle = comparison["CoDel"], comparison["idle line"]
    groups = [
        Group(name, [idle if name in lines else loaded], variant=name, is_idle=name in lines)
        for name in ["a", "b", *lines]
    ]
    for grid in first_grids(Results(groups)):
        assert [cells[0] for cells in grid.rows] == ["a", "b", row]


def test_equal_warnings_are_one_and_those_of_idle_lines_none(
    comparison: sojourn.Comparison,
) -> None:
    def warned(run: sojourn.Result, *warnings: dict[str, object]) -> Any:
        rebuild, (name, scenario, settings, meta, *rest) = run.__reduce__()
        return rebuild(name, scenario, settings, {**meta, "warnings": list(warnings)}, *rest)

    ours, others = (
        warning_data(f"{queue}: inactive", path="queue.law") for queue in ("up", "far up")
    )
    runs = {
        "CoDel": warned(comparison["CoDel"], ours, others),
        "idle line": warned(comparison["idle line"], warning_data("nothing to do", path="x")),
    }
    results = marked(Results.of(runs))
    assert list(warnings_of(results)) == ["up: inactive (and 1 more of this kind)"]
    assert list(warnings_of(results, in_full=True)) == ["up: inactive", "far up: inactive"]


def test_shares_of_the_line_are_in_a_table() -> None:
    """And so is all else that has a grade and no column: what load adds, rates kept, waits."""
    found = sojourn.run(BITTORRENT, duration_s=12).groups
    judged = verdict(found)
    cells = {cell for grid in more_grids(found, judged) for row in grid.rows for cell in row}
    known = [one for of in judged.transfers.values() for one in of]
    for name, transfers in judged.transfers.items():
        for one in transfers:
            assert {digits(one.part_mbps), digits(one.share_percent)} <= cells, (name, one)
    assert any(one.share_percent is None for one in known) and len(known) == 6
    beside = {
        "added_delay_ms",
        "kept_video_rate_percent",
        "kept_call_rate_percent",
        "wait_mean_ms",
    }
    values = [
        value
        for of in judged.groups.values()
        for one in of
        for metric, value in one.values.items()
        if metric in beside
    ]
    assert len(values) == 6 and set(map(digits, values)) <= cells


def test_each_of_several_games_is_in_a_table() -> None:
    games = {
        f"traffic.{name}": {"kind": "stream", "purpose": "game", "server": "near"}
        for name in ("game", "other")
    }
    for several in (games, {"traffic.game": games["traffic.game"]}):
        found = sojourn.run(
            BITTORRENT.with_name("01-bufferbloat.toml"), duration_s=5, set=several
        ).groups
        tables = [grid for grid in more_grids(found, verdict(found)) if "several" in grid.title]
        assert len(tables) == (len(several) > 1)
        for table in tables:
            assert {row[1] for row in table.rows} == {"game", "other"}


def test_digits_before_the_point_are_never_cut() -> None:
    values = [None, float("nan"), 0.0, 0.000_01, 0.012_34, 9.996, 43.94, 997.4, 1002.2, 30_000]
    assert list(map(digits, values)) == [
        NOTHING,
        NOTHING,
        "0",
        "0",
        "0.0123",
        "10.0",
        "43.9",
        "997",
        "1002",
        "30000",
    ]


def test_an_interval_has_no_more_digits_than_its_mean() -> None:
    means = [(187.3, 20.44), (96.9, 134.2), (0.0835, 1.0606), (4.41, 0.001), (3.0, None)]
    shown = [with_interval(Value(m, m - (h or 0), h and m + h, 2)) for m, h in means]
    assert shown == ["187 ± 20", "96.9 ± 134", "0.0835 ± 1.06", "4.41 ± 0.00", "3.00"]


def test_a_table_of_zeros_is_none() -> None:
    grid = informative("t", ["a", "b", "c"], [["x", "0", "1"], ["y", NOTHING, "0"]])
    assert (grid.headings, grid.rows) == (["a", "c"], [["x", "1"], ["y", "0"]])
    assert informative("t", ["a", "b"], [["x", "0"], ["y", "0 ± 0.0"]]).rows == []
