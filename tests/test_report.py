"""The report: one file that needs nothing else."""

import re

import pyarrow as pa
import pytest
import sojourn
from sojourn.report import latency_cdf_svg, report_html
from sojourn.report.curves import latency_cdfs, page_cdfs
from sojourn.report.definitions import DEFINITIONS
from sojourn.summary import flows_of


@pytest.fixture(scope="module")
def page(comparison: sojourn.Comparison) -> str:
    return report_html(comparison)


@pytest.fixture(scope="module")
def markup(page: str) -> str:
    return re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)


def test_it_loads_nothing(page: str, markup: str) -> None:
    assert not re.search(r"<(link|img|iframe|script\s+src)", markup)
    assert not re.search(r"(src|href)\s*=", markup)
    assert not re.search(r"url\(|@import", markup)
    assert "default-src 'none'" in markup
    assert not re.search(r"<script[^>]+>", page.replace("<script>", "", 2)[-20_000:])


def test_the_plotting_script_is_there_once(page: str) -> None:
    assert page.count("<script>") == 2
    assert page.count("plotly.js v") == 1


def test_every_variant_is_there_in_full(markup: str, comparison: sojourn.Comparison) -> None:
    for name, result in comparison.items():
        assert f"<summary>{name}</summary>" in markup
        assert result.meta["fingerprint"] in markup
    assert markup.count("[upstream.queue.law]") == len(comparison)


def test_every_plot_has_a_label_and_a_heading(markup: str) -> None:
    plots = re.findall(r'<div class="plot" role="img" aria-label="Plot: ([^"]+)"', markup)
    assert len(plots) == 5
    assert markup.count("<h1>") == 1
    assert '<html lang="en">' in markup


def test_text_of_a_scenario_cannot_become_markup(alone: object) -> None:
    title = "</title><script>alert(1)</script>"
    page = report_html(sojourn.run(alone, duration_s=1, set={"title": title}).runs)
    assert "<script>alert" not in page


def test_variant_names_cannot_end_the_script(alone: object) -> None:
    name = "</script><b>"
    scenario = alone.read_text() + f"\n[compare.'{name}']\n"
    page = report_html(sojourn.run(scenario, duration_s=1).runs)
    assert name not in page


@pytest.mark.parametrize(
    "table",
    [
        "flows",
        "qualities",
        "connections",
        "service_flows",
        "channels",
        "queues",
        "pages",
        "delay_parts",
    ],
)
def test_every_column_is_defined(traced: sojourn.Result, table: str) -> None:
    patterns = [d.name.replace("*", ".+") for d in DEFINITIONS] + ["queue"]
    for column in getattr(traced, table).column_names:
        assert any(re.fullmatch(pattern, column) for pattern in patterns), column


def test_every_series_is_defined(comparison: sojourn.Comparison) -> None:
    defined = {definition.name for definition in DEFINITIONS}
    for result in comparison.values():
        assert set(result.series["metric"].to_pylist()) <= defined


def test_cdfs_are_short_and_end_at_all_packets(comparison: sojourn.Comparison) -> None:
    curves = latency_cdfs(comparison, flows_of("game"))
    assert [curve.name for curve in curves] == list(comparison)
    for curve in curves:
        assert len(curve.x) <= 502
        assert curve.y[-1] == pytest.approx(100)
        assert (curve.x[1:] > curve.x[:-1]).all()
        assert (curve.y[1:] > curve.y[:-1]).all()


def test_page_cdfs_are_those_of_the_pages(comparison: sojourn.Comparison) -> None:
    curves = page_cdfs(comparison)
    assert [curve.name for curve in curves] == list(comparison)
    for curve, result in zip(curves, comparison.values(), strict=True):
        times = sorted(result.pages["load_time_s"].to_pylist())
        assert curve.x.tolist() == times
        assert curve.y == pytest.approx([100 * n / len(times) for n in range(1, len(times) + 1)])


def test_cdf_agrees_with_the_median(traced: sojourn.Result) -> None:
    (curve,) = latency_cdfs(traced.runs, flows_of("game"))
    flows: pa.Table = traced.flows
    (game,) = [row for row in flows.to_pylist() if row["traffic"] == "game"]
    below = curve.y[curve.x <= game["latency_p50_ms"]]
    assert below[-1] == pytest.approx(50, abs=1)


def test_the_figure_is_the_same_for_the_same_runs(comparison: sojourn.Comparison) -> None:
    svg = latency_cdf_svg(comparison)
    assert svg == latency_cdf_svg(comparison)
    assert svg.startswith(b"<?xml")
