"""The report: one file that needs nothing else, and says what a run came to."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import sojourn
from browser import DESKTOP, PHONE, SMALL_PHONE, visit
from conftest import HOME, Cli, warning_data
from playwright.sync_api import Browser, expect
from sojourn.analysis.curves import Curve, Sample, averaged, ccdf, cdf, latencies, page_loads
from sojourn.analysis.distribution import Distribution
from sojourn.analysis.grids import low_latency_grids, more_grids
from sojourn.analysis.groups import Group, Results
from sojourn.analysis.measures import flows_of
from sojourn.analysis.summary import print_summary
from sojourn.analysis.tables import ALL_TABLES, RunTables
from sojourn.analysis.verdict import APPLICATIONS, Assessment, Grade, verdict
from sojourn.base.lookup import UnknownError
from sojourn.plot.charts.clouds import ellipse
from sojourn.plot.charts.lines import tail_grid
from sojourn.plot.drawing import inline_svg
from sojourn.plot.figures.by_kind import chart, figures
from sojourn.plot.labels import Label, places
from sojourn.report.definitions import SECTIONS, SERIES, dictionary
from sojourn.report.differences import differences
from sojourn.report.html import _left_out, _title, latency_cdf_svg, report_of
from sojourn.report.notebook import results_html
from sojourn.store.read import read_results

SWEEP = f"""
scenario = "{HOME}"
seeds = 3
duration_s = 8
series = true
[keys]
"upstream.sustained_mbps" = [3, 5]
"""


@pytest.fixture(scope="module")
def page(comparison: sojourn.Comparison) -> str:
    return report_of(comparison.groups)


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, cli: Cli) -> Path:
    """The store of a sweep: two values of a key, five variants, three seeds."""
    directory = tmp_path_factory.mktemp("swept")
    (directory / "sweep.toml").write_text(SWEEP)
    cli.printed("sweep", directory / "sweep.toml", "--out", directory / "out")
    return directory / "out"


@pytest.fixture(scope="module")
def reports(
    page: str,
    swept: Path,
    traced: sojourn.Result,
    cli: Cli,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    """A report of each kind."""
    directory = tmp_path_factory.mktemp("reports")
    paths = {name: directory / f"{name}.html" for name in ("comparison", "run", "sweep", "study")}
    paths["comparison"].write_text(page)
    paths["run"].write_text(report_of(traced.groups))
    part = ("--table", "3", "--figure", "6", "--duration-scale", "0.02")
    assert (
        cli("study", "run", "white2012", *part[:2], *part[4:], "--out", directory / "a").returncode
        == 0
    )
    for source, name in ((swept, "sweep"), (directory / "a", "study")):
        printed = cli.printed("report", source, "--out", paths[name])
        assert printed == f"report: {paths[name]}\n"
    return paths


def test_it_loads_nothing_and_runs_nothing(page: str) -> None:
    assert not re.search(r"<(link|img|iframe|script)", page)
    assert not re.search(r"\b(src|href)\s*=\s*\"(?!#)", page)
    assert not re.search(r"url\((?!#)|@import", page)
    assert "default-src 'none'" in page


def test_it_can_be_mailed(page: str) -> None:
    # Attachments of more than some 10 MB are refused by many; this is a fifteenth of that.
    assert len(page.encode()) < 650_000


def test_every_variant_is_there_in_full(page: str, comparison: sojourn.Comparison) -> None:
    for name, result in comparison.items():
        assert f"<summary>{name}</summary>" in page
        assert result.meta["fingerprint"] in page
    assert page.count("[upstream.queue.law]") == len(comparison)


def test_every_figure_has_a_name_a_description_and_its_numbers(page: str, results: Results) -> None:
    titles = [chart.title for chart in figures(results)]
    assert len(titles) == 10
    drawn = re.findall(
        r'<svg [^>]*role="img" aria-labelledby="([\w-]+) ([\w-]+)"><title id="([\w-]+)">([^<]+)',
        page,
    )
    assert [title for _, _, _, title in drawn] == titles
    assert all(name == title_id for name, _, title_id, _ in drawn)
    assert page.count("<summary>Numbers: ") == len(titles)


def test_no_two_things_have_one_identifier(page: str) -> None:
    identifiers = re.findall(r'\bid="([^"]+)"', page)
    assert len(identifiers) == len(set(identifiers)) > 25


def test_text_of_a_scenario_cannot_become_markup(alone: object) -> None:
    title = "</title><script>alert(1)</script>"
    page = report_of(sojourn.run(alone, duration_s=1, set={"title": title}).groups)
    assert "<script" not in page


def test_names_cannot_become_markup_or_formulas(alone: Path) -> None:
    name = r"</svg><script>$\frac{a$ ☃"
    scenario = alone.read_text() + f"\n[compare.'{name}']\n"
    page = report_of(sojourn.run(scenario, duration_s=1).groups)
    assert "<script" not in page
    assert r"&lt;/svg&gt;&lt;script&gt;$\frac{a$ ☃" in page


@pytest.mark.parametrize("table", ALL_TABLES)
def test_every_column_is_defined(traced: sojourn.Result, table: str) -> None:
    (section,) = (section for section in SECTIONS if section.name == table)
    assert [d.name for d in section.definitions] == getattr(traced, table).column_names
    assert all(d.meaning.endswith(".") for d in section.definitions)


def test_the_dictionary_of_columns_is_that_of_the_code() -> None:
    page = HOME.parents[1] / "docs" / "columns.md"
    assert page.read_text(encoding="utf-8") == dictionary()


def test_every_series_is_defined(comparison: sojourn.Comparison) -> None:
    defined = {definition.name for definition in SERIES.definitions}
    for result in comparison.values():
        assert set(result.series["metric"].to_pylist()) <= defined


def test_every_measure_of_a_grade_is_defined_and_every_limit_has_a_source() -> None:
    defined = {d.name for section in SECTIONS for d in section.definitions}
    for application in APPLICATIONS:
        for threshold in (*application.good, *application.fair):
            assert threshold.metric in defined
            assert len(threshold.source) > 10


def assessed(run: RunTables, application: str) -> Assessment | None:
    """The assessment of an application in a run."""
    (grades,) = verdict(Results([Group("", [run])])).groups.values()
    return next((one for one in grades if one.application == application), None)


def test_a_single_page_is_not_judged(alone: Path) -> None:
    # It was loaded before the others had filled the queue; the next begins after the end.
    page = assessed(sojourn.run(alone, duration_s=8, set=["traffic.web.pause_s=60"]), "page")
    assert page and page.grade is None and page.summary == ("fewer than two pages were loaded")


def test_pages_under_way_are_those_that_have_begun(alone: Path) -> None:
    # Pages begin 5 s after the end of the one before. That of 8.76 s takes 20.3 s beside a full
    # buffer; by 28 s it has had 19.2 s, and by 40 s the next one 6 s.
    for duration_s, loaded in ((28, 1), (40, 2)):
        run = sojourn.run(alone, duration_s=duration_s, set=["upstream.queue.limit_bytes=625000"])
        pages = run.pages.to_pylist()
        assert len(pages) == loaded
        began_s = pages[-1]["start_s"] + pages[-1]["load_time_s"] + 5
        assert run.facts.unfinished_s("web") == pytest.approx([duration_s - began_s])


def test_a_page_that_has_just_begun_says_nothing(alone: Path) -> None:
    # Pages took 2.8 and 19.6 s, 11.2 in the median; the third had 6 s, and may be slower or not.
    run = sojourn.run(alone, duration_s=40, set=["upstream.queue.limit_bytes=625000"])
    page = assessed(run, "page")
    assert page and page.summary == "half of all pages load within 11.2 s"


def test_an_upload_is_held_against_what_rate_and_burst_allow() -> None:
    # 5 Mbps and 1 250 000 B of burst in 10 s: 5 + 1 Mbps, below the peak of 20.
    scenario = {
        "duration_s": 10,
        "upstream": {"sustained_mbps": 5, "peak_mbps": 20, "burst_bytes": 1_250_000},
        "downstream": {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 100_000},
        "servers": {"files": {"delay_ms": 9}},
        "traffic": {"upload": {"kind": "transfer", "server": "files"}},
    }
    result = sojourn.run(scenario)
    (row,) = [row for row in result.flows.to_pylist() if row["direction"] == "up"]
    found = assessed(result, "upload")
    assert found
    assert found.values["share_percent"] == pytest.approx(100 * row["throughput_mbps"] / 6)
    assert found.grade is Grade.GOOD


def test_the_verdict_names_what_is_best(results: Results) -> None:
    found = verdict(results)
    assert (found.best, found.reference) == ("SFQ-CoDel", "BufferBloat")
    first, *others = found.sentences
    assert re.match(
        r"SFQ-CoDel does best: all is good\. Against BufferBloat, the game "
        r"rises from failing to good \(RTT p90 from \d+ to ",
        first,
    )
    assert any(said.startswith("Without the upload, game RTT p90 is ") for said in others)
    assert not any("No setting is good" in said for said in others)
    assert found.idle_lines == {"idle line"}


def test_the_answer_is_data_too(results: Results) -> None:
    found = verdict(results)
    (answer,) = found.answers
    assert (answer.best, answer.is_alike, answer.reference) == (["SFQ-CoDel"], True, "BufferBloat")
    assert list(found.alike) == ["SFQ-CoDel"]
    assert found.price == answer.price == []
    (upload,) = found.transfers["SFQ-CoDel"]
    assert (upload.application, upload.grade) == ("upload", Grade.GOOD)
    assert upload.share_percent == pytest.approx(100 * upload.mbps / upload.part_mbps)
    assert found.transfers["idle line"] == []


def test_the_best_has_its_price() -> None:
    scenario = {
        "duration_s": 15,
        "upstream": {"sustained_mbps": 10},
        "downstream": {"sustained_mbps": 50},
        "servers": {"near": {"delay_ms": 10}},
        "traffic": {
            "upload": {"kind": "transfer"},
            "game": {"kind": "stream", "purpose": "game"},
        },
        "compare": {
            "drop-tail": {},
            "shaped": {
                "router": {"upstream": {"rate_mbps": 7, "queue": {"law": {"kind": "codel"}}}}
            },
        },
    }
    found = verdict(Results.of(sojourn.run(scenario)))
    assert (found.best, found.reference) == ("shaped", "drop-tail")
    (price,) = found.price
    assert (price.application, price.alternative) == ("upload", "drop-tail")
    assert (price.before, price.after) == (Grade.GOOD, Grade.FAIR)
    assert found.sentences[0].endswith("If the upload matters most: drop-tail.")


def test_what_is_not_graded_is_named(alone: Path, comparison: sojourn.Comparison) -> None:
    assert verdict(Results.of(comparison)).ungraded == ""
    entries = {
        "traffic.news": {"kind": "web_sessions", "servers": ["peer"]},
        "traffic.sensors": {"kind": "on_off", "server": "peer", "mean_mbps": [0.1]},
    }
    run = sojourn.run(alone, duration_s=1, set=entries)
    sentence = "Not graded: web sessions (news), on off (sensors)."
    assert verdict(Results.of(run.runs)).ungraded == sentence
    assert sentence in report_of(run.groups)


def test_truth_and_names_are_told_as_in_a_scenario(alone: Path) -> None:
    compare = (
        "\n[compare.'marks, not drops']\nupstream.queue = { law.kind = 'codel', ecn = true }\n"
        "[compare.drops]\nupstream.queue = { law.kind = 'codel', ecn = false }\n"
    )
    runs = sojourn.run(alone.read_text() + compare, duration_s=1)
    results = Results.of(runs.runs)
    rows = {row[0]: row[1:] for row in differences(results, ["idle line"]).rows}
    assert rows["upstream.queue.ecn"] == ["true", "false"]
    assert verdict(results).question.startswith("Which of 'marks, not drops' and drops works best")
    with pytest.raises(UnknownError, match="allowed: 'marks, not drops', drops, idle line"):
        results.only(["marks"])


def test_what_all_runs_warn_of_is_told_once(comparison: sojourn.Comparison) -> None:
    def warned(run: sojourn.Result, *warnings: str) -> sojourn.Result:
        rebuild, (name, scenario, settings, meta, *rest) = run.__reduce__()
        data = [warning_data(text, path=text) for text in warnings]
        return rebuild(name, scenario, settings, {**meta, "warnings": data}, *rest)

    codel, pie = comparison["CoDel"], comparison["DOCSIS-PIE"]
    runs = {"CoDel": warned(codel, "ice"), "DOCSIS-PIE": warned(pie, "ice", "frost")}
    results = Results.of(runs)
    for page in (report_of(results), results_html(results)):
        assert len(re.findall(r"\bice\b", page)) == 1
        assert "DOCSIS-PIE: frost" in page


def test_the_question_says_what_is_compared(results: Results, traced: sojourn.Result) -> None:
    assert verdict(results).question == (
        "Which of BufferBloat, Buffer Control, CoDel, SFQ-CoDel and DOCSIS-PIE "
        "works best for game, call, page and upload?"
    )
    alone = verdict(Results.of(traced.runs)).question
    assert alone.startswith("How well does this service work for")
    rows = {row[0]: row[1:] for row in differences(results, verdict(results).idle_lines).rows}
    assert rows["upstream.queue.limit_bytes"] == ["625000", "31250", "625000", "625000", "–"]
    assert not [key for key in rows if not key.startswith("upstream.queue.")]


def test_cdfs_are_short_and_end_at_all_packets(results: Results) -> None:
    curves = [cdf(sample) for sample in latencies(results.groups, flows_of("game"))]
    ways = ["game up", "game down"]
    names = [f"{group.name}: {way}" for group in results.groups for way in ways]
    assert [curve.name for curve in curves] == names
    for curve in curves:
        assert len(curve.x) <= 503
        assert (curve.y[0], curve.y[-1]) == (0, pytest.approx(100))
        assert (curve.x[2:] > curve.x[1:-1]).all()
        assert (curve.y[1:] > curve.y[:-1]).all()


def test_of_a_single_value_the_curve_goes_from_nothing_to_all() -> None:
    curve = cdf(Sample("one", Distribution.of([3.0])))
    assert (curve.x.tolist(), curve.y.tolist()) == ([3, 3], [0, 100])


def test_the_tail_is_what_the_distribution_leaves() -> None:
    # 1000 packets: 900 within 1 ms, 90 within 10, 9 within 100, one at 1000. More than 1 ms take
    # 10 %, more than 10 ms 1 %, more than 100 ms 0.1 %, and none more than 1000.
    sample = Sample("all", Distribution.of([1.0, 10.0, 100.0, 1000.0], [900.0, 90.0, 9.0, 1.0]))
    tail = ccdf(sample)
    assert tail.x.tolist() == [1, 10, 100]
    assert tail.y == pytest.approx([10, 1, 0.1])
    assert len(ccdf(Sample("one", Distribution.of([1.0]))).x) == 0


def test_neighbours_are_averaged_without_the_gaps() -> None:
    curve = Curve("a", np.arange(1.0, 8.0), np.array([1.0, 3.0, np.nan, 5.0, np.nan, np.nan, 9.0]))
    found = averaged(curve, 2)
    # 1 and 3; a gap and 5; two gaps; the seventh has no neighbour.
    assert found.x.tolist() == [2, 4, 6]
    assert found.y[:2].tolist() == [2, 5] and np.isnan(found.y[2])


def test_the_table_of_the_tail_is_its_own() -> None:
    # Of 1000 packets 100 take more than 90 ms, 10 more than 99 and one more than 99.9; of a tenth
    # of a packet nothing can be said.
    every = Sample("all", Distribution.of([tenth / 10 for tenth in range(1, 1001)]))
    grid = tail_grid("tail", [every], "ms")
    assert grid.headings == ["", "10 %\nms", "1 %\nms", "0.1 %\nms", "0.01 %\nms"]
    assert grid.rows == [["all", "90.0", "99.0", "99.9", "–"]]


def test_no_two_figures_have_the_same_table(results: Results) -> None:
    tables = [chart.numbers for chart in figures(results)]
    assert not [table for table in tables if tables.count(table) > 1]


def test_names_stand_beside_their_points_and_over_no_other() -> None:
    # All at one place, near the right: beside it at the left, then above and below.
    labels = [Label(name, 200.0, 70.0) for name in ("first", "second", "third", "fourth")]
    found = places(labels, (260.0, 140.0))
    assert found[0] == (True, 0)
    boxes = [label.box(*place) for label, place in zip(labels, found, strict=True)]
    assert not [1 for a, b in combinations(boxes, 2) if a.meets(b)]
    assert all(box.is_inside(260, 140) for box in boxes)
    # Alone at the left there is room at its right.
    alone = Label("alone", 10.0, 70.0)
    assert places([alone], (260.0, 140.0)) == [(False, 0)]
    # A mark without a name is not covered either; where marks are everywhere there is no label.
    beside = Label("", 30.0, 70.0).mark
    assert places([alone], (260.0, 140.0), [beside]) == [(False, -1)]
    everywhere = [Label("", x, y).mark for x in range(0, 260, 10) for y in range(0, 140, 9)]
    assert places([alone], (260.0, 140.0), everywhere) == [None]


def test_ellipses_are_named_where_they_are(results: Results) -> None:
    drawn = chart(results, "ellipse", None, ())
    svg = inline_svg(drawn, "x")
    for group in results.groups:
        # In the legend, and at its place; an idle line has no goodput.
        times = 0 if group.name == "idle line" else 2
        assert svg.count(f">{group.name}</text>") == times


def test_page_loads_are_those_of_all_seeds(comparison: sojourn.Comparison) -> None:
    runs = [comparison["CoDel"], comparison["SFQ-CoDel"]]
    select = lambda result: [row for row in flows_of("pages")(result) if row["page_loads"]]  # noqa: E731
    (sample,) = page_loads([Group("both", runs)], select)
    times = sorted(t for run in runs for t in run.pages["load_time_s"].to_pylist())
    assert np.repeat(sample.values.values, sample.values.weights.astype(int)).tolist() == times


def test_cdf_agrees_with_the_median(traced: sojourn.Result) -> None:
    sample, _ = latencies(Results.of({"": traced}).groups, flows_of("game"))
    flows: pa.Table = traced.flows
    game, _ = [row for row in flows.to_pylist() if row["traffic"] == "game"]
    curve = cdf(sample)
    below = curve.y[curve.x <= game["latency_p50_ms"]]
    assert below[-1] == pytest.approx(50, abs=1)
    assert sample.values.quantile(0.5) == pytest.approx(game["latency_p50_ms"], rel=0.002)


def test_an_ellipse_is_one_standard_deviation() -> None:
    # x 0, 0, 4, 4 and y 1, 3, 1, 3: means 2 and 2, deviations (over n) 2 and 1, no covariance.
    contour = ellipse(np.array([[0.0, 0.0, 4.0, 4.0], [1.0, 3.0, 1.0, 3.0]]))
    assert (contour[0].min(), contour[0].max()) == pytest.approx((0, 4), abs=0.01)
    assert (contour[1].min(), contour[1].max()) == pytest.approx((1, 3), abs=0.01)
    inside = ((contour[0] - 2) / 2) ** 2 + (contour[1] - 2) ** 2
    assert inside == pytest.approx(np.ones_like(inside))


def test_the_figure_is_the_same_for_the_same_runs(comparison: sojourn.Comparison) -> None:
    svg = latency_cdf_svg(comparison.groups)
    assert svg == latency_cdf_svg(comparison.groups)
    assert svg.startswith(b"<?xml")


def test_what_was_stored_gives_the_same_report(saved: Path, page: str) -> None:
    assert report_of(read_results(saved)) == page


def test_a_sweep_is_read_by_group_and_seed(swept: Path) -> None:
    results = read_results(swept)
    assert (list(results.keys), results.seeds, len(results.groups)) == (
        ["upstream.sustained_mbps"],
        3,
        10,
    )
    assert results.groups[0].name == "BufferBloat, sustained 3 Mbps"
    assert [run.meta["seed"] for run in results.groups[0].runs] == [1, 2, 3]
    only = results.only(["CoDel"])
    assert [group.name for group in only.groups] == [
        "CoDel, sustained 3 Mbps",
        "CoDel, sustained 5 Mbps",
    ]


def test_a_sweep_is_summed_up_over_its_seeds(reports: dict[str, Path]) -> None:
    page = reports["sweep"].read_text()
    assert "as upstream sustained varies (mean of 3 seeds)?" in page
    assert "is good on every test in 0 of" not in page
    assert "Game RTT p90 (ms) by upstream sustained" in page
    assert "Delay against goodput" in page
    assert re.search(r"<td class=\"number\">[\d.]+ ± [\d.]+</td>", page)


def test_of_many_settings_the_answer_has_the_best_and_the_other(
    comparison: sojourn.Comparison, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [comparison["CoDel"], *[comparison["BufferBloat"]] * 8, comparison["idle line"]]
    names = ["CoDel", *(f"drop-tail {n}" for n in range(8)), "idle line"]
    results = Results.of(dict(zip(names, runs, strict=True)))
    print_summary(results)
    above, _, _ = capsys.readouterr().out.partition("CoDel does best")
    assert re.findall(r"^ (CoDel|drop-tail \d)", above, re.MULTILINE) == ["CoDel", "drop-tail 0"]
    page = report_of(results)
    shown, folded = page[: page.index("<details")], page[page.index("<details") :]
    assert re.findall(r'<th scope="row">([^<]+)', shown) == ["CoDel", "drop-tail 0"]
    assert "Grades and numbers of all 9 settings" in folded
    assert all(f'<th scope="row">{name}' in folded for name in names)


def test_a_sweep_begins_with_its_charts(chromium: Browser, reports: dict[str, Path]) -> None:
    with visit(chromium, reports["sweep"].as_uri()) as visited:
        table = visited.page.get_by_role("region", name="Grades")
        expect(table).to_be_hidden()
        heat_map = visited.page.get_by_role("img", name="Game RTT p90 (ms)")
        box = heat_map.bounding_box()
        assert box and box["y"] < 900, "below the first screen of a laptop"
        visited.page.get_by_text("Grades and numbers of all 10 settings").click()
        expect(table).to_be_visible()


def test_a_table_that_goes_on_shows_it(chromium: Browser, reports: dict[str, Path]) -> None:
    with visit(chromium, reports["comparison"].as_uri(), width=SMALL_PHONE) as visited:
        table = visited.page.get_by_role("region", name="What users notice")
        beyond = "box => box.scrollWidth - box.clientWidth"
        assert table.evaluate(beyond) > 0

        def edge() -> bytes:
            box = table.bounding_box()
            assert box
            x, y = box["x"] + box["width"], box["y"] + box["height"]
            clip = {"x": x - 4, "y": y - 4, "width": 3, "height": 3}
            return visited.page.screenshot(clip=clip)

        table.scroll_into_view_if_needed()
        shaded = edge()
        table.evaluate("box => { box.scrollLeft = box.scrollWidth }")
        # At its end the shade is gone.
        assert edge() != shaded


def test_a_study_says_how_far_it_agrees(reports: dict[str, Path]) -> None:
    assert re.search(r"\d+ of \d+ cells with a published value agree", reports["study"].read_text())


@pytest.mark.parametrize("kind", ["comparison", "run", "sweep", "study"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_it_is_whole_in_a_browser(
    chromium: Browser, reports: dict[str, Path], kind: str, dark: bool
) -> None:
    address = reports[kind].as_uri()
    with visit(chromium, address, dark=dark, offline=True) as visited:
        # What is folded away is much alike, and axe takes its time: it is looked at once.
        if kind == "run" and not dark:
            visited.page.evaluate(
                "document.querySelectorAll('details').forEach(d => d.open = true)"
            )
        for width in (DESKTOP, SMALL_PHONE, PHONE):
            visited.width = width
            visited.photograph(f"report-{kind}-{width}-{'dark' if dark else 'light'}")
            assert visited.overflow_px == 0
        assert visited.faults() == []
        assert visited.requests == [address]
        assert visited.complaints == []


def test_the_first_screen_has_question_verdict_and_grades(
    chromium: Browser, reports: dict[str, Path]
) -> None:
    with visit(chromium, reports["comparison"].as_uri()) as visited:
        for part in (".question", ".verdict", "[aria-label=Grades]"):
            box = visited.page.locator(part).bounding_box()
            assert box and box["y"] + box["height"] <= 844, part


def test_letters_in_figures_can_be_read_on_a_phone(
    chromium: Browser, reports: dict[str, Path]
) -> None:
    heights = (
        "[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height)"
    )
    with visit(chromium, reports["comparison"].as_uri(), width=SMALL_PHONE) as visited:
        px = visited.page.evaluate(heights)
        # A line of text is some 1.2 of its letters' size, which is 8 px or more.
        assert len(px) > 100 and min(px) > 9.5


def test_every_letter_of_a_figure_is_inside_of_the_page(
    chromium: Browser, reports: dict[str, Path]
) -> None:
    edges = """[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect())
        .filter(r => r.left < 0 || r.right > document.documentElement.clientWidth).length"""
    for kind, path in reports.items():
        with visit(chromium, path.as_uri(), width=SMALL_PHONE) as visited:
            assert visited.page.evaluate(edges) == 0, kind


def test_many_settings_that_differ_are_rows(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())
    groups = [Group(f"{n}", [runs[n % 2]]) for n in range(30)]
    few, many = differences(Results(groups[:8])), differences(Results(groups))
    assert few.headings == ["key", *map(str, range(8))] and len(few.rows) < 30
    assert many.headings == ["setting", *(row[0].replace(".", ".\n") for row in few.rows)]
    assert [row[0] for row in many.rows] == [*map(str, range(30))]
    assert [row[1] for row in many.rows[:8]] == few.rows[0][1:]


def test_what_is_folded_is_not_printed(chromium: Browser, reports: dict[str, Path]) -> None:
    with visit(chromium, reports["run"].as_uri()) as visited:
        scenario = visited.page.locator("pre").first
        visited.page.emulate_media(media="print", color_scheme="dark")
        assert not scenario.is_visible()
        note = "getComputedStyle(document.querySelector('#runs ~ details > summary'), '::after')"
        assert "open it before printing" in visited.page.evaluate(f"{note}.content")
        visited.page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert scenario.is_visible() and visited.page.evaluate(f"{note}.content") == "none"
        ground = "getComputedStyle(document.body).backgroundColor"
        assert visited.page.evaluate(ground) == "rgb(255, 255, 255)"


def test_a_report_of_several_scenarios_has_their_titles(alone: Path) -> None:
    runs = {
        title: sojourn.run(alone, duration_s=1, set={"title": title, "description": title})
        for title in ("Before", "After")
    }
    page = report_of(Results.of({title: run.runs[run.name] for title, run in runs.items()}))
    assert "<title>Before and After" in page
    assert "<p>Before</p>" not in page


@pytest.mark.parametrize("from_s", [0, 0.5])
def test_proactive_grants_are_shown_for_each_group_of_homes(from_s: float) -> None:
    scenario = """
        duration_s = 1
        upstream.sustained_mbps = 10
        upstream.modem.kind = "shared_channel"
        upstream.queue.scheduler.kind = "low_latency"
        upstream.scheduling = { kind = "proactive_grants", guaranteed_grant_rate_mbps = 1 }
        downstream = { sustained_mbps = 50 }
        homes = { ours = {}, others = { count = 3 } }
        servers.near.delay_ms = 9
        traffic.game = { kind = "stream", purpose = "game", dscp = 45 }
    """
    run = sojourn.run(scenario, set=[f"metrics.from_s={from_s}"])
    grid = low_latency_grids({"": [run]})[-1]
    assert grid.headings == ["homes", "service flow", "granted\nMbps", "unused\nMbps"]
    (ours, _, granted, unused), (others, *_, idle) = grid.rows
    assert (ours, others) == ("ours", "others")
    # 1 Mbps is what is asked; grants are whole minislots and frames. The game needs 0.09.
    assert 0.9 < float(unused) < float(granted) < 1.3
    assert float(idle) == pytest.approx(3 * float(granted), rel=0.1)


def test_what_a_page_leaves_out_is_said(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())[:2]
    few, many = (
        Results([Group(f"{n}", [runs[n % 2]]) for n in range(count)]) for count in (12, 13)
    )
    assert _left_out(few) == ""
    assert "shown for 12 settings at most, and there are 13" in _left_out(many)
    assert _title(["a", "b", "c", "d", "e"]) == "a and b and c and 2 more"
    alone = Results([Group("", [runs[0]])])
    page = results_html(alone)
    assert page.count("<table") == 2
    count = len(more_grids(alone, verdict(alone)))
    more = f"{count} more tables: call <code>.summary(in_full=True)</code>."
    assert f"<p>{more}</p>" in page
