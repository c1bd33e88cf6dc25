"""The gallery: short scenarios, each with what it shows, its results, a figure and its text."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import sojourn
from sojourn.analysis.grids import first_grids, noticed_grid
from sojourn.analysis.groups import Results
from sojourn.analysis.verdict import marked, verdict
from sojourn.base.grid import Grid
from sojourn.plot.charts.base import Chart
from sojourn.plot.figures.by_kind import chart

from .figures import ROOT, standalone
from .live import link

SCENARIOS = sorted((ROOT / "scenarios" / "gallery").glob("*.toml"))

_DRAWN = {"abb": ["ABB"], "today": ["DOCSIS-PIE"]}
"""Variants in figures over time, where all of them would be too many curves."""

_HEAD = """# Gallery

*Examples for everybody. The results on this page were simulated when it was built.*

Short scenarios, each with what to look for. Run any of them with `sojourn run`, or open it in
an editor and change a number.
"""


@dataclass(frozen=True)
class Case:
    """A scenario of the gallery and its results."""

    path: Path
    results: Results

    @staticmethod
    def run(path: Path) -> "Case":
        """Simulates it."""
        return Case(path, sojourn.run(path).groups)

    @property
    def name(self) -> str:
        """The name of its file, without the number that orders it."""
        return self.path.stem.split("-", 1)[1]

    @property
    def drawing(self) -> Chart:
        """The latency of games and calls; where there are none, rates over time."""
        traffic = self.results.first.settings["traffic"].values()
        if {"game", "voice"} & {entry.get("purpose") for entry in traffic}:
            return chart(self.results, "ccdf", None, ())
        return chart(self.results.only(_DRAWN.get(self.name, ())), "timeseries", "throughput", ())

    @property
    def picture(self) -> bytes:
        """Its figure as SVG."""
        return standalone(self.drawing, self.name)

    def section(self) -> Iterator[str]:
        """Its part of the page."""
        settings = self.results.first.settings
        relative = self.path.relative_to(ROOT)
        yield f"## {settings['title']}"
        yield " ".join(settings["description"].split())
        yield f"```sh\nsojourn run {relative}\n```"
        yield verdict(self.results).sentences[0]
        for grid in first_grids(marked(self.results)):
            yield markdown_table(grid)
        yield f"![{self.drawing.title}](img/gallery-{self.name}.svg)"
        if self.name in _DRAWN:
            yield f"The figure shows the variant {', '.join(_DRAWN[self.name])}."
        yield f"The scenario is [{relative}](../{relative}). {link(self.name)}"


def gallery(cases: list[Case]) -> str:
    """The page."""
    return "\n\n".join([_HEAD, *(part for case in cases for part in case.section())]) + "\n"


def with_router_table(page: str) -> str:
    """The page on CAKE in a router with the table of its case as it is today."""
    (path,) = (path for path in SCENARIOS if path.stem.endswith("-cake-router"))
    grid = noticed_grid(marked(Case.run(path).results))
    start = page.index("| variant |")
    return page[:start] + markdown_table(grid) + page[page.index("\n\n", start) :]


def markdown_table(grid: Grid) -> str:
    """A table of text in Markdown."""
    rules = ["---:" if numeric else "---" for numeric in grid.numeric]
    rows = [[" ".join(h.split()) for h in grid.headings], rules, *grid.rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
