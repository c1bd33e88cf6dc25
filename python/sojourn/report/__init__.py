"""The report: one HTML file that needs no network, and a figure for a README."""

from collections.abc import Mapping
from importlib.resources import files

from jinja2 import Environment, StrictUndefined
from plotly.offline import get_plotlyjs

from ..api import Result
from ..summary import Grid, drop_grid, is_comparison, run_grids, summary_grids
from .definitions import DEFINITIONS
from .figures import figures
from .svg import latency_cdf_svg

__all__ = ["latency_cdf_svg", "report_html"]


def report_html(runs: Mapping[str, Result]) -> str:
    """The report, as one self-contained page."""
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    page = files(__package__).joinpath("template.html").read_text(encoding="utf-8")
    template = environment.from_string(page)
    first = next(iter(runs.values()))
    plots = figures(runs)
    return template.render(
        title=first.settings["title"] or "Sojourn report",
        description=first.settings["description"],
        version=first.meta["version"],
        grids=summary_grids(runs),
        figures=plots,
        figures_json=[{"data": plot.data, "layout": plot.layout} for plot in plots],
        drops=drop_grid(runs),
        runs=[_details(name, result, is_comparison(runs)) for name, result in runs.items()],
        warnings=[(name, text) for name, r in runs.items() for text in r.meta["warnings"]],
        definitions=DEFINITIONS,
        plotly=get_plotlyjs(),
    )


def _details(name: str, result: Result, compared: bool) -> dict[str, object]:
    # The summary of a run that stands alone has its grids already.
    grids: list[Grid] = run_grids(result) if compared else []
    facts = {key: value for key, value in result.meta.items() if key != "warnings"}
    return {
        "name": name or "This run",
        "grids": grids,
        "facts": facts,
        "scenario": result.scenario,
    }
