"""The figures of published studies."""

import csv
import math
import os
import pty
import re
import subprocess
import sys
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Cli, made_once, read_until, started
from sojourn.analysis.distribution import Distribution, evenly, pooled
from sojourn.base.lookup import UnknownError, look_up
from sojourn.store.checksums import StoreError
from sojourn_studies.framework.claims import Cells
from sojourn_studies.framework.plan import Plan
from sojourn_studies.framework.registry import STUDIES, draw, study
from sojourn_studies.framework.report import judge, report_html, summaries_of_published
from sojourn_studies.framework.rows import KEYS, Row, data
from sojourn_studies.framework.running import Outcome, read, run_plan
from sojourn_studies.framework.score import compared, worst
from sojourn_studies.framework.study import measure
from sojourn_studies.white2013.cases import GROUPS, TRAFFIC
from sojourn_studies.white2014 import derandomiser


def test_effective_probability_of_appendix_b() -> None:
    # White 2014 appendix B: about 0.541 of p where p is small; 0.46 to 0.85 is never reached.
    # Exactly: p 0.001 0.5410, 0.01 0.5436, 0.05 0.5557, 0.1 0.5556, 0.5 0.6667.
    ratios = {p: derandomiser.effective(p) / p for p in (0.001, 0.01, 0.05, 0.1, 0.5)}
    expected = {0.001: 0.5410, 0.01: 0.5436, 0.05: 0.5557, 0.1: 0.5556, 0.5: 0.6667}
    assert ratios == pytest.approx(expected, abs=1e-4)
    assert derandomiser.effective(0.8499999) == pytest.approx(0.459, abs=1e-3)
    # Forced after ten packets, which is as good as never: 0.15^9.
    assert derandomiser.effective(0.85) == pytest.approx(0.85, abs=1e-7)


def test_the_simulator_drops_at_the_exact_rate() -> None:
    drawing = draw("white2014", 16)
    for series, p, share in drawing.rows:
        if series == "simulated":
            # 20 000 runs: a standard error of at most 0.4 %. Adding 0.85/p floats may take a packet
            # more than exact arithmetic; p = 0.1 is the worst, 9 packets or 10.
            assert share == pytest.approx(derandomiser.effective(p), rel=0.03), p


def test_run_lengths_and_counts_are_distributions() -> None:
    assert derandomiser.run_length_pmf(0.01).sum() == pytest.approx(1)
    lengths = np.flatnonzero(derandomiser.run_length_pmf(0.01))
    assert (lengths[0], lengths[-1]) == (85, 850)
    counts = derandomiser.drop_count_pmf(0.01, 1000)
    assert counts.sum() == pytest.approx(1)
    # Much narrower than the binomial's standard deviation of 3.1.
    k = np.arange(len(counts))
    mean = counts @ k
    assert float(np.sqrt(counts @ (k - mean) ** 2)) < 2


def test_rates_from_grants_follow_the_channel_and_pies_own_do_not() -> None:
    def error(number: int) -> float:
        rows = np.array(draw("white2014", number).rows)
        settled = rows[rows[:, 0] > 15]
        return float(np.nanmedian(np.abs(settled[:, 2] / settled[:, 1] - 1)))

    own, grants = error(11), error(13)
    assert grants < 0.05
    assert own > 3 * grants


def test_a_figure_alone_is_drawn(tmp_path: Path, cli: Cli) -> None:
    cli.printed("study", "run", "white2014", "--figure", 16, "--out", tmp_path)
    assert (tmp_path / "white2014-figure-16.svg").read_text().startswith("<?xml")


DURATION_SCALES = {
    "white2012": 0.02,
    "white2013": 0.004,
    "white2014": 0.03,
    "hong2015": 0.0025,
    "linux": 0.04,
    "l4s": 0.01,
    "lld": 0.01,
    "rfc7928": 0.02,
    "lines": 0.1,
}
"""Of runs of 600 s, 2 h, 120 s, in which a page takes 3 s, 1000 or 2000 s, 8 to 40 s, 90 or 300 s,
20 or 60 s, 300 s, and 5 to 120 s."""

PARTS: dict[str, dict[str, Any]] = {
    "rfc7928": {"scheme": ["fq-codel", "dualpi2"], "load": ["docsis"]},
}
"""Of studies with a thousand runs."""

LONG = {"white2014", "hong2015"}
"""Studies whose shortest runs take long."""


@pytest.fixture(
    scope="module",
    params=[pytest.param(n, marks=pytest.mark.long) if n in LONG else n for n in STUDIES],
)
def redone(request: pytest.FixtureRequest, shared: Path) -> Outcome:
    """Each study end to end, with short runs."""
    name = request.param
    plan = Plan(name, duration_scale=DURATION_SCALES[name], **PARTS.get(name, {}))
    with made_once(shared / name) as is_first:
        return run_plan(plan, shared / name) if is_first else read(shared / name)


def test_every_figure_is_drawn(redone: Outcome) -> None:
    for number in redone.plan.figures:
        path = f"{redone.store.directory / redone.plan.name}-figure-{number}"
        assert Path(f"{path}.svg").read_text().startswith("<?xml")
        with Path(f"{path}.csv").open(newline="", encoding="utf-8") as file:
            headings, *lines = csv.reader(file)
        assert len(lines) > 4
        # Labels may have commas, as "Tier-1, 80 ms" of figure 4.5 of Hong 2015.
        assert {len(line) for line in lines} == {len(headings)}


def test_every_cell_of_the_contract_is_produced(redone: Outcome) -> None:
    """In the order of the published file; then what was not published."""
    ours = _keys((redone.store.directory / "cells.csv").read_text())
    theirs = _keys(data("published", f"{redone.plan.name}.csv"))
    assert ours[: len(theirs)] == theirs
    assert len(ours) == len(redone.plan.rows)


def test_even_short_runs_give_most_cells_a_value(redone: Outcome) -> None:
    """Those of pages and lost packets may have none."""
    there = [value is not None and not math.isnan(value) for value in redone.means.values()]
    assert sum(there) > 0.8 * len(there)


def test_the_report_has_every_table_once_and_every_claim(redone: Outcome) -> None:
    page = report_html(redone)
    for table in {row.table for row in redone.plan.rows}:
        assert page.count(f"<summary>{table}</summary>") == 1
    assert all(
        f'<td class="number">{claim.number}</td>' in page for claim in redone.plan.study.claims
    )
    assert "http://" not in page.replace("http://www.w3.org", "") and "<script" not in page


@pytest.mark.parametrize("name", STUDIES)
def test_every_alternative_changes_runs(name: str) -> None:
    plan = Plan(name, with_alternatives=True)
    taken = {case.name: (case.scenario, case.draw) for case in Plan(name).cases}
    others = {case.name: (case.scenario, case.draw) for case in plan.cases}
    assert [one.name for one in plan.alternatives] == [
        one.name for one in plan.study.alternatives
    ], "each is run for some cell"
    for one in plan.alternatives:
        changed = [
            case for case in taken if others.get(f"{case} | {one.name}") not in (None, taken[case])
        ]
        assert changed, one.name


def test_alternatives_stand_beside_the_baseline(tmp_path: Path, cli: Cli) -> None:
    """The upload alone of White & Rice: 7 cells under each of three alternatives."""
    options = ("white2013", "--table", "sec-4.4")
    alone, both = tmp_path / "alone", tmp_path / "both"
    for directory, more in ((alone, ()), (both, ("--alternatives",))):
        cli.printed("study", "run", *options, "--out", directory, *more)
    assert (alone / "cells.csv").read_bytes() == (both / "cells.csv").read_bytes()
    assert not (alone / "alternatives.csv").exists()
    with (both / "alternatives.csv").open() as file:
        rows = list(csv.DictReader(file))
    names = ("window-400", "scripts", "cubic")
    assert [row["alternative"] for row in rows] == [name for name in names for _ in range(7)]
    assert set(rows[0]) == {"alternative", *KEYS, "value", "unit"}
    assert {row["study"] for row in rows} == {"white2013"}
    # Windows of 400 segments cannot overshoot by as much as those of 672 (of 5 Mbps and 16 times
    # 100 ms), so CoDel drops less of them.
    dips = {
        row["alternative"]: float(row["value"])
        for row in rows
        if (row["scheme"], row["metric"]) == ("CoDel", "throughput_dip")
    }
    taken = read(alone).means
    (dip,) = (v for r, v in taken.items() if (r.scheme, r.metric) == ("CoDel", "throughput_dip"))
    assert dip is not None and dips["window-400"] > dip
    page = report_html(read(both))
    assert '<h2 id="alternatives">' in page and '<th scope="col">window-400</th>' in page
    assert '<h2 id="alternatives">' not in report_html(read(alone))
    subject = cli("study", "score", both).stdout
    assert (
        "window-400" in subject and "agree at the baseline" in subject and "any of these" in subject
    )
    # Another selection has no alternatives, and leaves neither file nor page of those of the last.
    assert cli("study", "report", both).returncode == 0
    assert cli("study", "run", *options, "--out", both, "--resume").returncode == 0
    assert not (both / "alternatives.csv").exists() and not (both / "report.html").exists()


def test_the_summary_of_2012_is_rounder_than_its_tables() -> None:
    subject = study("white2012")
    found = [value.mean for value in summaries_of_published(subject).values()]
    # Of the eight differences and ratios of tables 7 and 8, by hand.
    assert found == pytest.approx([2.8125, 100 / 12, -1, 2, 0.075, 0.125])


def test_a_sentence_of_hong_is_not_what_its_table_has() -> None:
    """Section 4.2.1.1 says of DT20's queue that it is 20 ms; 0.090 s less 80 ms are 10."""
    found = {row: value.mean for row, value in summaries_of_published(study("hong2015")).items()}
    (wait_ms,) = (v for r, v in found.items() if (r.scheme, r.metric) == ("DT20", "latency_mean"))
    assert wait_ms == pytest.approx(10)


# A study without published cells has nothing to judge its claims by but its runs.
@pytest.mark.parametrize(
    "name", [name for name in STUDIES if any(row.published for row in study(name).rows)]
)
def test_claims_hold_of_the_documents_own_cells(name: str) -> None:
    subject = study(name)
    judged = judge(subject.claims, Cells({}), {}, Cells.published(subject.rows))
    by_published = {one.claim.number: one.published.holds for one in judged if one.published}
    assert len(by_published) >= 3
    assert [number for number, holds in by_published.items() if not holds] == []


def test_claims_are_judged_by_runs_that_there_are(tmp_path: Path) -> None:
    """Figure 6 is about claim 7 alone."""
    page = report_html(run_plan(Plan("white2012", figure=[6]), tmp_path))
    assert "of 1 claims hold; not judged: 18." in page


def test_claims_whose_runs_are_missing_are_not_judged(tmp_path: Path) -> None:
    """Table 3.1 is computed without a run, and no claim is about it."""
    outcome = run_plan(Plan("hong2015", table=["3.1"]), tmp_path)
    page = report_html(outcome)
    assert page.count("not judged (runs missing or too short)") == len(outcome.plan.study.claims)
    assert "does not hold" not in page


def _keys(text: str) -> list[tuple[str, ...]]:
    return [tuple(row[key] for key in (*KEYS, "unit")) for row in csv.DictReader(StringIO(text))]


def test_the_page_of_appendix_a_is_as_printed(tmp_path: Path) -> None:
    # 614 402 bytes of objects and 102 400 of HTML; an object a connection, some 0.1 s each.
    outcome = run_plan(Plan("white2012", table=["appendix-a"], duration_scale=0.1), tmp_path)
    assert sum(value or 0 for value in outcome.means.values()) == 614_402 + 102_400
    assert all(cell.agrees for cell in compared(outcome.means))


@pytest.mark.parametrize(
    ("place", "metric", "published", "note", "agreeing", "off"),
    [
        # 12 % of 10 are 1.2; 12 % of 0.1 are 0.012, less than 0.05.
        ("s/t", "plt_median", "10", "", 11.2, 11.21),
        ("s/t", "plt_median", "10", "", 8.8, None),
        ("s/t", "plt_median", "0.1", "", 0.15, 0.151),
        ("s/t", "nothing_else", "100", "", 115, 116),
        ("s/t", "plt_median", "600", ">; none in 600 s", 1000, 500),
        # A table may have tolerances of its own: 5 % of 100 ms, and 10 % for BBR.
        ("linux/cubic", "qdelay_mean", "100", "", 105, 105.1),
        ("linux/bbr", "qdelay_mean", "100", "", 110, 110.1),
        # Within 15 % of 20, 17 to 23, or beyond it towards the range's other end.
        ("s/t", "another", "20", "range low", 30.0, 16.0),
        ("s/t", "another", "20", "range high", 10.0, 24.0),
        ("s/t", "another", "20", "", 22.9, 24.0),
    ],
)
def test_a_cell_agrees_within_the_larger_of_both_tolerances(
    place: str, metric: str, published: str, note: str, agreeing: float, off: float | None
) -> None:
    row = Row(*place.split("/"), "e", "c", "l", "f", metric, published, "s", note)
    assert compared({row: agreeing})[0].agrees and not compared({row: off})[0].agrees


def test_deviations_are_in_percent_of_what_is_published() -> None:
    row = Row("s", "t", "e", "c", "l", "f", "drops", "40", "packets", "")
    (more, none, bound, of_zero) = (
        compared({one: ours})[0].deviation
        for one, ours in (
            (row, 41.0),
            (row, None),
            (row._replace(note=">"), 41.0),
            (row._replace(published="0"), 41.0),
        )
    )
    assert (more, none, bound, of_zero) == ("+2.5 %", "", "", "")
    assert compared({row: 39.999})[0].deviation == "0.0 %"


def test_the_worst_misses_are_of_different_kinds() -> None:
    (row,) = [row for row in study("white2012").rows if row.result == 13.7]
    again, other = row._replace(experiment="D07"), row._replace(metric="plt_mad")
    cells = compared({row: 30.0, again: 40.0, other: 99.0})
    assert [cell.row for cell in worst(cells)] == [again, other]


def test_what_is_no_result_is_not_compared() -> None:
    row = Row("s", "t", "gaming", "none", "", "web", "latency_good", "20", "ms", "")
    assert len(compared({row: None})) == 1
    for background in ("cited", "criterion", "config", "expectation"):
        assert compared({row._replace(experiment=background): None}) == []


def test_distributions_are_put_together_evenly_or_pooled() -> None:
    few, many = Distribution.of([1.0, 3.0]), Distribution.of([2.0, 4.0], [6.0, 2.0])
    # Pooled: weights 1, 6, 1, 2 of 10 at 1, 2, 3, 4. Evenly: 1/2 + 1/2 and 3/4 + 1/4 of 2.
    assert pooled([few, many]).share.tolist() == pytest.approx([0.1, 0.7, 0.8, 1.0])
    assert evenly([few, many]).share.tolist() == pytest.approx([0.25, 0.625, 0.875, 1.0])
    assert [pooled([few, many]).quantile(q) for q in (0, 0.5, 0.71, 1)] == [1, 2, 3, 4]
    assert pooled([few, many]).share_below(3) == pytest.approx(0.7)
    assert evenly([]).quantile(0.5) is None and evenly([]).share_below(1) is None


def test_the_scenarios_of_2013_are_as_the_text_says() -> None:
    # §3.7: 7 light, 4 moderate, 6 heavy. §4.1.1: heavy ones have 60 (4 + 24 + 32) to 110
    # (4 + 4 * 24 + 10) sessions, 4 of them voice. §4.2: one web client in all moderate ones, and
    # four in some light and most heavy ones.
    groups = {name: [t for t in TRAFFIC.values() if t.group == name] for name in GROUPS}
    assert [len(group) for group in groups.values()] == [7, 4, 6]
    heavy = [traffic.sessions for traffic in groups["heavy"]]
    assert (min(heavy), max(heavy)) == (60, 110)
    assert {traffic.voip for traffic in groups["heavy"]} == {4}
    assert {traffic.web for traffic in groups["moderate"]} == {1}
    assert sum(traffic.web == 4 for traffic in groups["heavy"]) == 4


def test_means_of_several_seeds_have_students_interval(tmp_path: Path) -> None:
    plan = Plan("white2012", table=["3"], experiment=["D04"], duration_scale=0.01, seeds=3)
    outcome = run_plan(plan, tmp_path)
    alone = [measure(plan.study, plan.rows, runs) for runs in outcome.seeds]
    row = plan.rows[0]
    values = [cells[row] or 0.0 for cells in alone]
    # t of two degrees of freedom is 4.303.
    half = 4.303 * float(np.std(values, ddof=1)) / 3**0.5
    value = outcome.values[row]
    assert value.mean == pytest.approx(np.mean(values))
    assert (value.low, value.high) == pytest.approx((value.mean - half, value.mean + half))
    assert "value,ci_low,ci_high,unit" in (tmp_path / "cells.csv").read_text()


def test_the_old_option_names_the_new_one(cli: Cli) -> None:
    message = cli.refused("study", "run", "white2012", "--each-way")
    assert "found --each-way; allowed: --alternatives" in message


def test_unknown_names_are_refused_with_what_there_is(cli: Cli) -> None:
    with pytest.raises(UnknownError, match="allowed: white2012, white2013, white2014, hong2015"):
        draw("white2015", 16)
    with pytest.raises(UnknownError, match="found 99; allowed: 7, 8, 9, 10"):
        draw("white2014", 99)
    for arguments in (
        ("white2014", "--figure", 99),
        ("white2012", "--table", "99"),
        ("white2012", "--scheme", "PIE"),
        ("white2012", "--seeds", 0),
    ):
        cli.refused("study", "run", *arguments)


def test_selections_that_nothing_fits_are_refused(tmp_path: Path) -> None:
    for other in ({"experiment": ["TAPPG"]}, {"figure": ["5.8"]}):
        with pytest.raises(UnknownError, match=r"nothing that is of table '4\.2'"):
            run_plan(Plan("hong2015", table=["4.2"], **other), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_directory_keeps_its_study_and_scale(tmp_path: Path) -> None:
    plan = Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.001)
    run_plan(plan, tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for other in (Plan("white2013", figure=[1]), replace(plan, duration_scale=0.002)):
        with pytest.raises(StoreError, match="holds white2012 with duration scale"):
            run_plan(other, tmp_path)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    # Another selection of the same goes on in it.
    assert run_plan(replace(plan, experiment=(), scheme=["DropTail-417pkt"]), tmp_path).values


def test_short_runs_give_blank_cells_and_unjudged_claims(tmp_path: Path) -> None:
    plan = Plan("hong2015", table=["4.7"], scheme=["DT"], duration_scale=0.0005)
    assert None in run_plan(plan, tmp_path / "hong").means.values()
    page = report_html(run_plan(Plan("white2012", duration_scale=0.01), tmp_path / "white"))
    assert not re.search(r"\bnan\b", page)


def test_runs_of_an_instant_are_refused(tmp_path: Path) -> None:
    # The shortest run is of 25 s: 25 ms.
    with pytest.raises(UnknownError, match=r"found 0\.001, .* last 0\.025 s; allowed: 0\.004 or"):
        run_plan(Plan("white2012", duration_scale=0.001), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_score_tells_that_its_runs_were_not_as_long(tmp_path: Path, cli: Cli) -> None:
    plan = Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.01)
    run_plan(plan, tmp_path)
    done = cli("study", "score", tmp_path)
    assert done.stdout.startswith("runs are 0.01 times as long as the document's\n"), done.stderr


def test_a_terminal_is_shown_how_far_a_report_is(tmp_path: Path) -> None:
    run_plan(Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.01), tmp_path)
    cells = len((tmp_path / "cells.csv").read_text().splitlines()) - 1
    terminal, its_end = pty.openpty()
    command = (sys.executable, "-m", "sojourn", "study", "report", tmp_path)
    with started(*command, stderr=its_end, stdout=subprocess.PIPE) as process:
        os.close(its_end)
        read_until(terminal, f"{cells} of {cells} cells".encode())
        assert process.stdout.read() == f"report: {tmp_path / 'report.html'}\n"
        assert process.wait() == 0
    os.close(terminal)


@pytest.mark.parametrize("name", ["flows.parquet", "meta.json", "scenario.toml"])
@pytest.mark.parametrize("keep", [0, 100, -1])
def test_a_damaged_run_is_named_and_made_again(tmp_path: Path, name: str, keep: int) -> None:
    plan = Plan("white2012", table=["7"], experiment=["D01/C01"], duration_scale=0.001)
    run_plan(plan, tmp_path)
    (place, *_) = sorted(tmp_path.glob(f"runs/*/{name}"))
    whole = place.read_bytes()
    place.write_bytes(whole[:keep] or b"\xff")
    with pytest.raises(StoreError, match=rf"{name}: damaged .* --resume"):
        _ = read(tmp_path).values
    added = run_plan(plan, tmp_path, resume=True).store.added
    assert [task.run for task in added] == [place.parent.name]
    assert place.read_bytes() == whole


def test_what_was_run_and_what_was_there_are_told_apart(tmp_path: Path, cli: Cli) -> None:
    command = ("study", "run", "white2012", "--duration-scale", "0.001", "--out", tmp_path)
    first = cli(*command, "--experiment", "D01").stdout
    assert first.startswith("2 runs, 1.2 s simulated in")
    again = cli(*command, "--experiment", "D01/C01", "--resume").stdout
    assert again.startswith("2 of 3 runs were there already\n1 run, 0.6 s simulated in")
    anew = cli(*command, "--experiment", "D01/C01").stdout
    assert "\n3 of them had been there before: --resume would have kept them\n" in anew


def test_a_figure_without_cells_has_no_line_of_cells(tmp_path: Path, cli: Cli) -> None:
    part = ("--figure", "fig-28", "--duration-scale", "0.004")
    done = cli("study", "run", "white2013", *part, "--out", tmp_path)
    assert "\n0 cells: " in done.stdout
    (line,) = (tmp_path / "cells.csv").read_text().splitlines()
    assert line == "study,table,experiment,scheme,load,flow,metric,value,unit"
    scored = cli("study", "score", tmp_path)
    assert (scored.returncode, scored.stdout.split(":")[0]) == (0, "nothing to compare")
    assert scored.stdout.count("\n") == 1


def test_cells_that_nothing_is_published_of_are_shown(tmp_path: Path, cli: Cli) -> None:
    part = ("--scheme", "codel", "--experiment", "reno", "--duration-scale", "0.04", "--seeds", "2")
    done = cli("study", "run", "rfc7928", *part, "--out", tmp_path)
    assert f"cells.csv; sojourn study score {tmp_path} shows them" in done.stdout
    scored = cli("study", "score", tmp_path)
    for shown in (done.stdout, scored.stdout):
        assert "5.1.1 `reno`: one Reno flow" in shown


def test_the_nearest_name_is_told(cli: Cli) -> None:
    for option, word, meant in (
        ("--experiment", "d04", "D04"),
        ("--scheme", "codel-417", "CoDel-417pkt"),
    ):
        done = cli("study", "run", "white2012", option, word)
        assert f"found {word!r} (did you mean {meant}?); allowed: " in done.stderr
    # Of hundreds of names those that are alike come first.
    done = cli("study", "run", "linux", "--experiment", "n_bbr_nope")
    assert "found 'n_bbr_nope' (did you mean n_bbr_" in done.stderr


def test_a_report_needs_a_name(tmp_path: Path, cli: Cli) -> None:
    cli("study", "run", "hong2015", "--table", "3.1", "--out", tmp_path)
    message = cli.refused("study", "report", tmp_path, "--out", "")
    assert message.endswith("allowed: the path of a file\n")


def test_a_study_without_runs_has_no_tables(tmp_path: Path, cli: Cli) -> None:
    cli("study", "run", "hong2015", "--table", "3.1", "--out", tmp_path / "study")
    for name, option, value, out in (
        ("plot", "--kind", "cdf", "out.svg"),
        ("export", "--format", "csv", "out"),
    ):
        message = cli.refused(name, tmp_path / "study", option, value, "--out", tmp_path / out)
        assert message.endswith("runs.csv: lists no runs\n")


def test_a_selection_may_name_several() -> None:
    plan = Plan("white2012", table=["4", "table-6"], experiment=["D02", "C05"])
    plan.check()
    assert {(row.table, row.experiment) for row in plan.rows} == {
        (table, experiment) for table in ("table-4", "table-6") for experiment in ("D02", "C05")
    }
    assert Plan("white2012", figure=[5, 2]).figures == [2, 5]
    with pytest.raises(UnknownError, match="table of white2012: found '99'"):
        Plan("white2012", table=["4", "99"]).check()


@pytest.mark.parametrize("content", ["[]", "{", '{"name": "white2012", "table": 5}'])
def test_a_damaged_plan_is_named_with_what_to_do(tmp_path: Path, cli: Cli, content: str) -> None:
    options = ("white2012", "--duration-scale", "0.001", "--experiment", "D01", "--out", tmp_path)
    cli("study", "run", *options)
    whole = (tmp_path / "study.json").read_text()
    (tmp_path / "study.json").write_text(content)
    message = cli.refused("study", "score", tmp_path)
    assert "study.json: damaged (it differs from its checksum" in message
    (tmp_path / "study.json").unlink()
    cli("study", "run", *options, "--resume")
    assert (tmp_path / "study.json").read_text() == whole


def test_words_with_commas_are_listed_in_quotes(cli: Cli) -> None:
    listed = " ".join(cli("study", "list").stdout.split())
    assert ", 'ARED,CoDel,PIE', none, " in listed


def test_nothing_asked_is_near_no_name() -> None:
    with pytest.raises(UnknownError, match="point: missing; allowed: none, home"):
        look_up("point", None, ["none", "home"])
