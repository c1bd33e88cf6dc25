"""`sojourn plot`: figures for papers."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import sojourn
from conftest import Cli
from sojourn.analysis.curves import Curve, Sample, cdf, mean_over
from sojourn.analysis.distribution import Distribution, pooled
from sojourn.analysis.groups import Group, Results
from sojourn.base.lookup import UnknownError
from sojourn.plot import shapes
from sojourn.plot.charts.bars import Bars
from sojourn.plot.charts.base import Axis
from sojourn.plot.charts.heat_map import HeatMap
from sojourn.plot.charts.lines import Lines
from sojourn.plot.drawing import COLUMNS_IN, inline_svg, picture
from sojourn.plot.figures.by_kind import KINDS, chart, figures
from sojourn.plot.layout import picture_of
from sojourn.plot.letters import cut, width_em, wrapped
from sojourn.plot.palette import IDLE, PALETTE
from sojourn.plot.scale import Scale, around


@pytest.fixture(scope="module")
def grid(comparison: sojourn.Comparison) -> Results:
    """Runs as of a sweep over two keys, one of whose settings is missing."""
    points = [("3", "1"), ("3", "2"), ("5", "1")]
    runs = list(comparison.values())
    groups = [
        Group(f"a {a}, b {b}", [run], (a, b)) for (a, b), run in zip(points, runs[:3], strict=True)
    ]
    return Results(groups, ("a", "b"))


@pytest.mark.parametrize("judged", ["a", "b"])
def test_figures_are_of_the_homes_that_answers_are_of(judged: str) -> None:
    home = {"duration_s": 2, "baseline": False, "metrics": {"homes": judged}}
    one = {"server": "near", "direction": "both", "kind": "stream", "purpose": "game"}
    up = {"server": "near", "direction": "up", "kind": "transfer"}
    result = sojourn.run(
        {
            **home,
            "upstream": {"sustained_mbps": 5},
            "downstream": {"sustained_mbps": 20},
            "servers": {"near": {"delay_ms": 5}},
            "homes": {"a": {}, "b": {}},
            "traffic": {
                f"{kind}_{name}": {**entry, "home": name}
                for kind, entry in (("game", one), ("save", up))
                for name in ("a", "b")
            },
        }
    )
    of = Results.of({"": result})
    drawn = {kind: chart(of, kind) for kind in ("cdf", "timeseries")}
    assert drawn["cdf"].title == "One-way latency of game packets"
    assert list(drawn["cdf"].names) == [f"game_{judged} up"]
    own = "upstream" if judged == "a" else "b upstream"
    assert drawn["timeseries"].title == f"Queue delay over time: {own}"
    throughput = chart(of, "timeseries", "throughput")
    assert throughput.title == f"Throughput over time: save_{judged} up"
    assert chart(of, "cdf", traffic=["game_a", "game_b"]).names


@pytest.mark.parametrize("columns", COLUMNS_IN)
def test_a_pdf_has_the_width_of_a_column_and_embedded_letters(
    saved: Path, tmp_path: Path, cli: Cli, columns: int
) -> None:
    out = tmp_path / "deep" / "figure.pdf"
    printed = cli.printed("plot", saved, "--kind", "cdf", "--columns", columns, "--out", out)
    assert printed == f"figure: {out}\n"
    pdf = out.read_bytes()
    width_pt, _ = map(float, re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", pdf).groups())
    assert width_pt == pytest.approx(72 * COLUMNS_IN[columns])
    # Type 42 is TrueType, as /FontFile2; type 3, which publishers refuse, would be drawn letters.
    assert b"/FontFile2" in pdf and b"/Type3" not in pdf
    assert b"/Subtype /Image" not in pdf
    assert b"CreationDate" not in pdf


@pytest.mark.parametrize(
    ("format", "head"), [("pdf", b"%PDF"), ("svg", b"<?xml"), ("png", b"\x89PNG")]
)
def test_the_suffix_says_what_is_written(results: Results, format: str, head: bytes) -> None:
    drawn = chart(results, "box", None, ())
    first = picture(drawn, format, 1)
    assert first.startswith(head)
    assert first == picture(drawn, format, 1)


@pytest.mark.parametrize(
    ("kind", "metric", "traffic", "x", "y"),
    [
        ("cdf", None, (), "one-way latency (ms)", "game packets (%)"),
        ("cdf", "page_load", (), "page load time (s)", "pages (%)"),
        ("ccdf", None, ("call",), "one-way latency (ms)", "call packets (%)"),
        ("box", None, ("upload",), "one-way latency (ms)", ""),
        ("timeseries", None, (), "time (s)", "queue delay (ms)"),
        ("timeseries", "throughput", ("upload",), "time (s)", "throughput (Mbps)"),
        ("timeseries", "throughput", ("web down",), "time (s)", "throughput (Mbps)"),
        ("timeseries", "queue_packets", ("downstream",), "time (s)", "queue packets (packets)"),
        ("ellipse", None, (), "game RTT p90 (ms)", "goodput of uploads (Mbps)"),
        ("ellipse", "game_rtt_p99_ms", ("web",), "game RTT p99 (ms)", "goodput of web (Mbps)"),
        ("drops", None, (), "dropped packets (%)", ""),
    ],
)
def test_axes_have_their_units(
    results: Results, kind: str, metric: str | None, traffic: tuple[str, ...], x: str, y: str
) -> None:
    drawn = chart(results, kind, metric, traffic)
    assert (drawn.x.label, drawn.y.label) == (x, y)
    assert picture(drawn, "svg", 2).startswith(b"<?xml")
    assert drawn.numbers.rows


def test_a_heat_map_has_a_cell_for_each_setting(grid: Results) -> None:
    drawn = chart(grid, "heatmap", "voice_mos", ())
    assert (list(drawn.columns), list(drawn.lines)) == (["3", "5"], ["1", "2"])
    scores = [next(r["mos"] for r in g.first.flows.to_pylist() if r["mos"]) for g in grid.groups]
    expected = [[scores[0], scores[2]], [scores[1], None]]
    assert drawn.numbers.rows == [
        [line, *("–" if score is None else f"{score:.2f}" for score in row)]
        for line, row in zip(("1", "2"), expected, strict=True)
    ]
    assert picture(drawn, "png", 1).startswith(b"\x89PNG")


def test_a_heat_map_shows_first_what_the_verdict_looks_at(grid: Results) -> None:
    drawn = chart(grid, "heatmap", None, ())
    assert drawn.title == chart(grid, "heatmap", "game_rtt_p90_ms", ()).title


@pytest.mark.parametrize("metric", ["voice_mos", "game_rtt_p90_ms"])
def test_the_best_cell_of_any_heat_map_is_the_lightest(grid: Results, metric: str) -> None:
    drawn = chart(grid, "heatmap", metric, ())
    cells = [cell.fill for cell in drawn.shapes() if isinstance(cell, shapes.Path)]
    light = dict(zip(drawn.values.flat, (sum(bytes.fromhex(c[1:])) for c in cells), strict=True))
    found = drawn.values[~np.isnan(drawn.values)]
    best, worst = (max, min) if drawn.better == "higher" else (min, max)
    assert light[best(found)] > 2 * light[worst(found)]


@pytest.mark.parametrize("columns", [2, 5, 9])
def test_numbers_and_names_of_a_heat_map_fit_its_columns(columns: int) -> None:
    names = [f"{128 + n} kB" for n in range(columns)]
    values = np.full((2, columns), 1024.04)
    drawn = HeatMap("t", "c", Axis("limit"), Axis("rate"), "p90", names, ["a", "b"], values)
    texts = [shape for shape in picture_of(drawn, 250).shapes if isinstance(shape, shapes.Text)]
    numbers = [text for text in texts if text.text == "1024"]
    assert len(numbers) == 2 * columns
    first, second = numbers[0].x[0], numbers[1].x[0]
    assert width_em("1024") * numbers[0].size < second - first
    kinds = [text for text in texts if text.text.endswith("kB")]
    assert len(kinds) == columns
    assert all(t.is_turned or width_em(t.text) * t.size < second - first for t in kinds)
    assert drawn.numbers.rows[0][1] == "1024"


def test_long_names_of_columns_make_a_heat_map_higher() -> None:
    heights = []
    for name in ("a", "a_long_name_of_a_column"):
        names, values = [f"{name}{n}" for n in range(9)], np.full((2, 9), 1.0)
        drawn = HeatMap("t", "c", Axis("x"), Axis("y"), "p90", names, ["a", "b"], values)
        found = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', inline_svg(drawn, "x"))
        assert found
        heights.append(float(found[1]))
    assert heights[1] > heights[0] + 40


def test_an_idle_line_looks_the_same_beside_any_number_of_settings() -> None:
    for settings in range(1, 8):
        x = np.arange(3.0)
        curves = [Curve(f"{n}", x, x, is_idle=n == 0) for n in range(settings + 1)]
        idle, *others = Lines("t", "c", Axis("x"), Axis("y"), curves).shapes()
        assert idle.color == IDLE
        assert [line.color for line in others] == [PALETTE[n % 6] for n in range(settings)]


def test_idle_lines_are_found(results: Results) -> None:
    drawn = chart(results, "cdf", None, ())
    assert [curve.name for curve in drawn.curves if curve.is_idle] == ["idle line"]
    assert "idle line" not in chart(results, "ellipse", None, ()).names


def test_a_single_part_is_named() -> None:
    drawn = Bars("t", "c", Axis("share (%)"), Axis(""), ["run"], {"queue full": [1.0]})
    assert ">queue full</text>" in inline_svg(drawn, "x")


def test_too_many_curves_are_refused(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())
    many = Results([Group(f"{n}", [runs[0]], variant=f"{n}") for n in range(9)])
    with pytest.raises(UnknownError, match="'cdf' draws at most 8 settings, and there are 9"):
        chart(many, "cdf", None, ())
    assert chart(many.only([f"{n}" for n in range(8)]), "cdf", None, ())
    assert chart(many, "box", None, ())
    crowd = Results([Group(f"{n}", [runs[0]], variant=f"{n}") for n in range(49)])
    with pytest.raises(UnknownError, match="'drops' draws at most 48 settings, and there are 49"):
        chart(crowd, "drops", None, ())
    with pytest.raises(UnknownError, match=r"found 'a'; allowed: 0, 1, .*, 23 and 25 more$"):
        crowd.only(["a"])


def test_a_line_joins_only_the_points_of_one_sweep(comparison: sojourn.Comparison) -> None:
    run = comparison["CoDel"]
    points = [Group(f"{n}", [run], (f"{n}",)) for n in range(9)]
    many = [Group(f"{n}", [run], variant=f"{n}") for n in range(9)]
    for results, is_joined in ((Results(points, ["a"]), True), (Results(many), False)):
        drawn = chart(results, "ellipse", None, ())
        assert (drawn.joined, "line joins" in drawn.caption) == (is_joined, is_joined)


def test_marks_of_two_seeds_are_means(comparison: sojourn.Comparison) -> None:
    seeds = Results([Group("a", [comparison["CoDel"], comparison["DOCSIS-PIE"]])])
    caption = chart(seeds, "ellipse", None, ()).caption
    assert "mean over seeds" in caption and "ellipse" not in caption


def test_a_cell_without_a_value_has_a_colour_of_its_own(grid: Results) -> None:
    drawn = chart(grid, "heatmap", "voice_mos", ())
    assert np.isnan(drawn.values).sum() == 1
    svg = picture(drawn, "svg", 1).decode()
    assert "#c8c8c8" in svg and "nothing was measured" in drawn.caption


def test_one_key_of_many_numbers_is_drawn_as_lines(comparison: sojourn.Comparison) -> None:
    runs = list(comparison.values())
    sizes = ["16_000", "64_000", "256_000", "1_000_000", "4_000_000"]
    groups = [Group(size, [run], (size,)) for size, run in zip(sizes, runs, strict=False)]
    results = Results(groups, ["upstream.queue.limit_bytes"])
    first = figures(results)[0]
    assert isinstance(first, Lines) and first.marked
    assert (first.x.label, first.x.log) == ("upstream queue limit (kB)", True)
    assert list(first.curves[0].x) == [16, 64, 256, 1000, 4000]
    assert [row[0] for row in first.numbers.rows] == ["16 kB", "64 kB", "256 kB", "1 MB", "4 MB"]
    few = Results(groups[:2], results.keys)
    assert isinstance(figures(few)[0], HeatMap)


def test_of_few_groups_each_looks_different_and_of_many_only_the_variants(
    comparison: sojourn.Comparison,
) -> None:
    runs = list(comparison.values())
    many = [Group(f"{n}", [runs[n % 5]], variant=f"v{n % 2}") for n in range(10)]
    few = chart(Results(many[:3]), "ellipse", None, ())
    all_of_them = chart(Results(many), "ellipse", None, ())
    assert list(few.names) == ["0", "1", "2"]
    assert list(all_of_them.names) == ["v0", "v1"]
    # A label beside one of many marks would be of all: the legend has it.
    assert [inline_svg(all_of_them, "x").count(f">{name}</text>") for name in ("v0", "v1")] == [
        1,
        1,
    ]


@pytest.mark.parametrize("names", [("a",), ("a", "b" * 300), ("c " * 300, "d"), ("e" * 3000,)])
def test_names_of_any_length_leave_room_for_the_figure(
    comparison: sojourn.Comparison, names: tuple[str, ...]
) -> None:
    runs = list(comparison.values())
    groups = [Group(n, [run], (n, n)) for n, run in zip(names, runs[: len(names)], strict=True)]
    for kind in ("box", "cdf", "heatmap", "drops"):
        assert picture(chart(Results(groups, ("k" * 300, "l")), kind, None, ()), "svg", 1)


def test_only_some_variants_are_drawn(results: Results) -> None:
    drawn = chart(results.only(["CoDel", "DOCSIS-PIE"]), "cdf", None, ())
    assert list(drawn.names) == ["CoDel", "DOCSIS-PIE"]
    with pytest.raises(UnknownError, match=r"variant: found 'PIE' .did you mean DOCSIS-PIE"):
        results.only(["PIE"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--kind", "pie"), f"kind: found 'pie'; allowed: {', '.join(KINDS)}"),
        (
            ("--kind", "heatmap"),
            "kind: found 'heatmap', but the results have no data for it; allowed: ",
        ),
        (("--kind", "cdf", "--metric", "mos"), "metric: found 'mos'; allowed: latency, page_load"),
        (
            ("--kind", "cdf", "--traffic", "film"),
            "traffic: found 'film'; allowed: game, call, web, upload",
        ),
        (
            ("--kind", "timeseries", "--metric", "speed"),
            "metric: found 'speed' (did you mean",
        ),
        (
            ("--kind", "timeseries", "--traffic", "game"),
            "traffic with queue_delay: found 'game'; allowed: upstream, downstream",
        ),
        (
            ("--kind", "ellipse", "--metric", "voice_mos"),
            "metric: found 'voice_mos'; allowed: game_",
        ),
        (("--kind", "cdf", "--variant", "PIE"), "variant: found 'PIE' (did you mean DOCSIS-PIE?)"),
        (("--kind", "cdf", "--columns", "3"), "--columns"),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(
    saved: Path, tmp_path: Path, cli: Cli, arguments: tuple[str, ...], message: str
) -> None:
    done = cli.refused("plot", saved, *arguments, "--out", tmp_path / "figure.pdf")
    assert message in done
    assert list(tmp_path.iterdir()) == []


def test_bad_places_are_refused(saved: Path, tmp_path: Path, cli: Cli) -> None:
    figure = tmp_path / "figure"
    for arguments, message in (
        (
            (saved, "--out", f"{figure}.doc"),
            "--out: found 'figure.doc'; allowed: a name that ends in .pdf, .svg, .png",
        ),
        ((tmp_path, "--out", f"{figure}.pdf"), "holds no results"),
        ((tmp_path / "nowhere", "--out", f"{figure}.pdf"), "no such directory"),
        ((saved, "--out", "/proc/figure.pdf"), "cannot write /proc/figure.pdf"),
    ):
        done = cli.refused("plot", *arguments, "--kind", "cdf")
        assert message in done
    assert list(tmp_path.iterdir()) == []
    cli.refused("report", tmp_path)


def test_a_part_of_nothing_has_no_edge() -> None:
    parts = {"queue full": [2.0, 1.0], "AQM": [0.0, 3.0], "link loss": [0.0, 0.0]}
    drawn = Bars("t", "c", Axis("share (%)"), Axis(""), ["a", "b"], parts)
    widths = [np.ptp(bar) for part in drawn.shapes() for bar in part.x.reshape(-1, 6)[:, :5]]
    assert widths == [2.0, 1.0, 3.0]
    assert ">link loss</text>" in inline_svg(drawn, "x")


def test_ticks_are_round_and_of_the_axis_alone() -> None:
    assert [*Scale(0.0, 7.3, 100.0).ticks(5).values()] == ["0", "2", "4", "6"]
    assert [*Scale(6.1, 5.0, 100.0).ticks(5).values()] == ["5.00", "5.25", "5.50", "5.75", "6.00"]
    assert [*Scale(3.0, 40.0, 100.0, log=True).ticks(5).values()] == ["5", "10", "20"]
    assert [*Scale(0.02, 2e3, 100.0, log=True).ticks(9).values()] == [
        "0.1",
        "1",
        "10",
        "100",
        "1000",
    ]
    assert len(Scale(1e-9, 1e9, 100.0, log=True).ticks(6)) <= 6


def test_scales_run_from_end_to_end() -> None:
    assert Scale(2.0, 4.0, 100.0)(np.array([2.0, 3.0, 5.0])).tolist() == [0.0, 50.0, 150.0]
    assert Scale(100.0, 1.0, 50.0, log=True)(np.array([10.0, 1.0])).tolist() == [25.0, 50.0]
    # Nothing has a place on a logarithmic axis below its low end.
    assert Scale(1.0, 100.0, 50.0, log=True)(np.array([0.0, -3.0])).tolist() == [0.0, 0.0]
    assert np.isnan(Scale(1.0, 100.0, 50.0, log=True)(np.array([np.nan]))).all()
    for log in (False, True):
        for values in ([], [np.nan], [0.0], [7.0, 7.0], [-1.0, 0.0]):
            low, high = around([np.array(values)], log)
            assert low < high and (low > 0 or not log)


def test_lines_of_text_fit_and_keep_units_beside_their_numbers() -> None:
    name = "a queue of 16 kB with CoDel"
    lines = wrapped(name, 6.5)
    assert " ".join(lines) == name and all(width_em(line) <= 6.5 for line in lines)
    assert any("16 kB" in line for line in lines)
    assert wrapped("18 Mbps", 3) == ["18", "Mbps"]
    for word in ("w" * 300, "名" * 80, "x"):
        assert "".join(wrapped(word, 9)) == word
        assert all(width_em(line) <= 9 for line in wrapped(word, 9))
    ends = cut("sustained rate of 5 Mbps, number 1", 12)
    assert ends.startswith("sust") and ends.endswith("ber 1") and width_em(ends) <= 12
    assert len(wrapped("one two three four", 3, 2)) == 2


def seeds_of(comparison: sojourn.Comparison) -> Results:
    """Runs that stand for three seeds of one setting."""
    return Results([Group("a", list(comparison.values())[2:5]), Group("b", [comparison["CoDel"]])])


@pytest.mark.parametrize("kind", ["cdf", "ccdf", "timeseries"])
def test_lines_of_several_seeds_have_a_band(comparison: sojourn.Comparison, kind: str) -> None:
    drawn = chart(seeds_of(comparison), kind)
    several, single = drawn.curves[0], drawn.curves[-1]
    assert single.band is None and several.band is not None
    low, high = several.band
    there = ~np.isnan(several.y + low)
    assert (low[there] <= several.y[there]).all() and (several.y[there] <= high[there]).all()
    assert (high - low)[there].max() > 0
    assert "95 % interval" in drawn.caption
    areas = [shape for shape in drawn.shapes() if isinstance(shape, shapes.Path) and shape.is_area]
    assert len(areas) == sum(curve.band is not None for curve in drawn.curves)
    plain = chart(seeds_of(comparison), kind, bands=False)
    assert not any(isinstance(s, shapes.Path) and s.is_area for s in plain.shapes())
    assert picture(drawn, "svg", 1) != picture(plain, "svg", 1)


def test_the_band_of_a_share_is_that_of_its_mean() -> None:
    # One value in four is at most 1 in one seed, and three in the other: 50 % in the mean, with a
    # standard error of 25 %. Student's t with one degree of freedom is 12.7: more than there is.
    seeds = [Distribution.of([1.0, 2.0], [1, 3]), Distribution.of([1.0, 2.0], [3, 1])]
    curve = cdf(Sample("a", pooled(seeds), seeds=seeds))
    assert (curve.x.tolist(), curve.y.tolist()) == ([1, 1, 2], [0, 50, 100])
    assert curve.band
    assert [part.tolist() for part in curve.band] == [[0, 0, 100], [0, 100, 100]]
    many = [*seeds] * 50
    low, high = cdf(Sample("a", pooled(many), seeds=many)).band or ((), ())
    # 1.985 times 25.13 % over 10.
    assert (low[1], high[1]) == pytest.approx((45.01, 54.99), abs=0.01)


def test_means_over_time_skip_what_a_seed_has_not() -> None:
    first = Curve("a", np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, np.nan]))
    second = Curve("a", np.array([2.0, 3.0]), np.array([4.0, np.nan]))
    found = mean_over([first, second])
    assert (found.x.tolist(), found.y[:2].tolist()) == ([1, 2, 3], [1, 3])
    assert np.isnan(found.y[2]) and found.band
    # A half of a difference of 2, with one degree of freedom: 12.706 times 1.
    assert found.band[1][1] == pytest.approx(3 + 12.706)
    assert np.isnan(found.band[1][[0, 2]]).all()
    assert mean_over([first]) is first


def test_titles_and_labels_are_those_given(saved: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "figure.svg"
    options = ("--title", "A <b> title", "--xlabel", "delay (ms)", "--ylabel", "share")
    cli.printed("plot", saved, "--kind", "cdf", *options, "--legend-title", "Queue", "--out", out)
    svg = out.read_text()
    for words in ("A &lt;b&gt; title", "delay (ms)", "share", "Queue"):
        assert svg.count(f">{words}</text>") == 1
    assert ">one-way latency (ms)</text>" not in svg
    plain = cli("plot", saved, "--kind", "cdf", "--out", tmp_path / "plain.svg")
    assert plain.returncode == 0
    assert "One-way latency of game packets" not in (tmp_path / "plain.svg").read_text()


def test_invisible_characters_in_titles_are_escapes(results: Results) -> None:
    given = chart(results, "cdf").with_texts(
        title="a\u202eb", x="\ufeffms", y="\x1b[2J", legend="\t"
    )
    assert picture(given, "pdf", 1).startswith(b"%PDF")
    assert (given.title, given.legend_title) == (r"a\u202eb", r"\t")
    assert (given.x.label, given.y.label) == (r"\ufeffms", r"\x1b[2J")


def test_the_title_of_a_legend_needs_a_legend(results: Results) -> None:
    with pytest.raises(UnknownError, match="legend title: found 'Queue', but a figure of this"):
        chart(results, "box").with_texts(legend="Queue")
    alone = chart(results.only(["CoDel"]), "cdf")
    assert ">CoDel</text>" not in inline_svg(alone, "x")
    titled = inline_svg(alone.with_texts(legend="Queue"), "x")
    assert ">CoDel</text>" in titled and ">Queue</text>" in titled


@pytest.mark.parametrize(
    ("metric", "column"),
    [
        ("marks", "marked_packets"),
        ("overflow_drops", "dropped_overflow_packets"),
        ("aqm_drops", "dropped_aqm_packets"),
    ],
)
def test_drops_and_marks_are_drawn_over_time(results: Results, metric: str, column: str) -> None:
    drawn = chart(results, "timeseries", metric)
    assert drawn.y.label == f"{metric.replace('_', ' ')} (packets)"
    for group in results.groups:
        (curve,) = (curve for curve in drawn.curves if curve.name == group.name)
        (row,) = (row for row in group.first.queues.to_pylist() if row["queue"] == "upstream")
        assert curve.y.sum() == row[column]


def test_a_game_that_goes_both_ways_is_drawn_where_the_bulk_goes(results: Results) -> None:
    drawn = chart(results, "cdf", traffic=["game"])
    assert list(drawn.names) == [group.name for group in results.groups]
    medians = {curve.name: float(np.interp(50, curve.y, curve.x)) for curve in drawn.curves}
    assert medians["BufferBloat"] > 10 * medians["idle line"]


def test_pages_and_papers_have_the_same_texts(results: Results) -> None:
    for kind in ("cdf", "box", "ellipse", "drops"):
        drawn = chart(results, kind)
        texts = re.findall(r">([^<]+)</text>", inline_svg(drawn, "x"))
        narrow = re.findall(r">([^<]+)</text>", picture(drawn, "svg", 2).decode())
        assert {drawn.x.label, *drawn.names} <= {*texts} & {*narrow}


def test_only_papers_and_studies_need_matplotlib(alone: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"

    def without(*typed: object) -> subprocess.CompletedProcess[str]:
        hidden = "import sys; sys.modules['matplotlib'] = None"
        code = f"{hidden}; from sojourn.cli.main import main; main()"
        command = [sys.executable, "-c", code, *map(str, typed)]
        return subprocess.run(command, capture_output=True, text=True)

    assert without("run", alone, "--duration", 1, "--out", out).returncode == 0
    assert "<svg" in (out / "report.html").read_text()
    draw = ("plot", out, "--kind", "cdf", "--out")
    assert without(*draw, tmp_path / "a.svg").returncode == 0
    study = ("study", "run", "white2012", "--figure", "6", "--out", tmp_path / "study")
    for typed, what in (
        ((*draw, tmp_path / "a.pdf"), "pictures as PDF"),
        (study, "figures of studies"),
    ):
        refused = without(*typed)
        assert refused.returncode == 2
        assert refused.stderr == (
            f"error: {what}: matplotlib is not installed; "
            'install it with: pip install "sojourn[plot]"\n'
        )
    assert {path.name for path in tmp_path.iterdir()} == {"out", "a.svg"}


def test_flows_without_a_home_are_those_of_the_first_homes() -> None:
    from sojourn.analysis.measures import judged_flows

    homes = ["homes.ours={}", "homes.others={count=2}", "metrics.homes='ours'"]
    upload = Path(__file__).parents[1] / "scenarios" / "upload.toml"
    result, *_ = sojourn.run(upload, set=homes, duration_s=1).values()
    assert {"game", "upload"} <= {row["traffic"] for row in judged_flows(result)}


def test_the_congestion_window_of_a_connection_is_drawn() -> None:
    """Only connections have it, so they are drawn, by the name of their entry."""
    watched = ["metrics.watch_connections=1"]
    results = sojourn.run("scenarios/upload.toml", duration_s=1, set=watched).groups
    drawn = chart(results, "timeseries", "congestion_window", ["upload"])
    assert isinstance(drawn, Lines)
    alone = chart(results, "timeseries", "congestion_window", [])
    of_uploads = {name for name in alone.names if ": upload " in name}
    assert isinstance(alone, Lines) and len(of_uploads) == len(drawn.names) == 2
    assert all(curve.y.max() > 10_000 for curve in drawn.curves)
