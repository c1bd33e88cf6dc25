"""The report: one HTML file that works offline, and the latency figure as SVG."""

from collections.abc import Sequence
from typing import Any

from ..analysis.bufferbloat import bufferbloat_grid
from ..analysis.grids import first_grids, more_grids, run_grids
from ..analysis.groups import Group, Results
from ..analysis.summary import warnings_of
from ..analysis.verdict import marked, verdict
from ..base.grid import Grid
from ..plot.charts.base import FEW_AT_MOST
from ..plot.drawing import inline_svg, picture
from ..plot.figures.by_kind import figures, latency_cdf
from ..runs.result import changes_of
from .definitions import SHOWN
from .differences import differences
from .pages import render

__all__ = ["latency_cdf_svg", "report_of"]

_IN_FULL_AT_MOST = 12
_TITLES_AT_MOST = 3
_CHANGES_AT_MOST = 20


def report_of(results: Results) -> str:
    """The report of any results, as one self-contained page."""
    judged = verdict(results)
    results = marked(results, judged)
    groups = results.groups
    in_full = groups if len(groups) <= _IN_FULL_AT_MOST else groups[:1]
    titles, descriptions = (_distinct(results, key) for key in ("title", "description"))
    graded = [group.name for group in groups if not group.is_idle]
    headline = bufferbloat_grid(judged, graded)
    return render(
        "run.html",
        _title(titles),
        description=descriptions[0] if len(descriptions) == 1 else "",
        question=judged.question,
        answer=list(results.answer),
        verdict=judged,
        is_long=len(judged.leading) < len(graded),
        headline=headline,
        bufferbloat={row[0]: row[1:] for row in headline.rows} if headline else {},
        graded=graded,
        first=judged.leading,
        grids=first_grids(results),
        more=more_grids(results, judged) if in_full is groups else [],
        differences=differences(results, judged.idle_lines),
        figures=[
            (chart, inline_svg(chart, f"figure-{number}"))
            for number, chart in enumerate(figures(results), 1)
        ],
        unseen=_unseen(results),
        left_out=_left_out(results),
        runs=[_details(group, results) for group in in_full],
        others=_all_runs(results),
        warnings=list(warnings_of(results)),
        sections=SHOWN,
    )


def _title(titles: Sequence[str]) -> str:
    more = len(titles) - _TITLES_AT_MOST
    shown = [*titles[:_TITLES_AT_MOST], *([f"{more} more"] if more > 0 else [])]
    return " and ".join(shown) or "Sojourn report"


def _distinct(results: Results, key: str) -> list[str]:
    """The texts of the scenarios of a report, each once."""
    texts = (str(group.first.settings.get(key) or "") for group in results.groups)
    return list(dict.fromkeys(filter(None, texts)))


def latency_cdf_svg(results: Results) -> bytes | None:
    """The CDF of one-way latency, a curve per variant; `None` if no packet was delivered."""
    chart = latency_cdf(results)
    return picture(chart, "svg", columns=2) if chart else None


def _unseen(results: Results) -> str:
    """Explains why curves per setting are missing, if they are."""
    if len(results.groups) <= FEW_AT_MOST:
        return ""
    return (
        f"Curves are drawn for {FEW_AT_MOST} settings at most, and there are "
        f"{len(results.groups)}. Draw some of them with sojourn plot --variant."
    )


def _left_out(results: Results) -> str:
    """Says which tables are missing, if there are too many settings for them."""
    if len(results.groups) <= _IN_FULL_AT_MOST:
        return ""
    return (
        "Other tables, and those of single runs, are shown for "
        f"{_IN_FULL_AT_MOST} settings at most, and there are {len(results.groups)}. "
        "Below are those of the first run; sojourn export --format csv writes those of all."
    )


def _all_runs(results: Results) -> Grid:
    """A list of all runs with fingerprints, unless the report shows each in detail."""
    everything = [(group, run) for group in results.groups for run in group.runs]
    rows = [
        [group.name, str(run.meta["seed"]), run.meta["fingerprint"]] for group, run in everything
    ]
    is_all = len(everything) == len(results.groups) <= _IN_FULL_AT_MOST
    return Grid("All runs", ["setting", "seed", "fingerprint"], [] if is_all else rows)


def _details(group: Group, results: Results) -> dict[str, Any]:
    # The summary of a single run has these grids already.
    is_shown = not results.is_comparison and group is results.groups[0]
    grids = [] if is_shown and len(group.runs) == 1 else run_grids([group.first])
    facts = {key: value for key, value in group.first.meta.items() if key != "warnings"}
    if changes := changes_of(group.first.meta):
        facts["changes"] = "; ".join(map(str, changes[:_CHANGES_AT_MOST]))
        facts["changes"] += "; ..." if len(changes) > _CHANGES_AT_MOST else ""
    seeds = f" (seed {facts['seed']} of {len(group.runs)})" if len(group.runs) > 1 else ""
    return {
        "name": (group.name or "This run") + seeds,
        "grids": grids,
        "facts": facts,
        "scenario": group.first.scenario,
    }
