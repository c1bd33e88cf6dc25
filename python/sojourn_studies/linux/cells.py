"""From runs to the cells of the comparison with Linux."""

from collections.abc import Sequence

from sojourn.base.grid import Grid

from ..framework.cases import Case, Runs
from ..framework.references import shown
from ..framework.rows import Row
from ..framework.score import Compared, Score, scores
from . import further
from .cases import case, link
from .measured import value


def cases_of(row: Row) -> Sequence[Case]:
    """The upload that a cell is measured of."""
    return further.cases_of(row) if row.table == further.TABLE else [case(row)]


def value_of(row: Row, runs: Runs) -> float | None:
    """A cell."""
    if row.table == further.TABLE:
        return further.value_of(row, runs)
    return value(row, runs[case(row).name])


_SHOWN = {
    "goodput": "goodput, Mbps",
    "qdelay_mean": "mean delay, ms",
    "qdelay_p50": "median, ms",
    "qdelay_p99": "p99, ms",
    "drops": "drops",
    "drops_all": "drops, whole run",
}
"""What is shown of each case."""


def case_name(row: Row) -> str:
    """A case in words: rate, round trip, buffer; paced if nothing else is said."""
    if row.table == further.TABLE:
        return further.title(row)
    of = {name: f"{number:g}" for name, number in link(row).items()}
    words = [
        f"{of['flows']} flows" if "flows" in of else "",
        f"{of['rate']} Mbps" + (f" (peak {of['peak']})" if "peak" in of else ""),
        f"{of['rtt']} ms",
        f"CoDel {of['codel']} ms" if "codel" in of else f"buffer {of['buffer']} ms",
        row.scheme if row.scheme != "paced" else "",
        "8 s" if row.experiment.startswith("s_") else "",
    ]
    return ", ".join(filter(None, words))


def overview(cells: Sequence[Compared]) -> Sequence[Grid]:
    """The score of each metric, and each case: its score, ours, the kernel's, the deviation."""
    by_metric = [score.texts for score in scores(cells, lambda row: row.metric)]
    *cases, _ = scores(cells, lambda row: f"{row.table}: {case_name(row)}")
    return [
        Grid("Cells by metric", ["metric", "cells", "agree", "%"], by_metric),
        Grid(
            "Further cases: shares of flows, files, chunks, marks and the way back, "
            "and the kernel's runs; ✗ does not agree",
            ["case", "of", "figure", "ours", "kernel"],
            [
                _further_row(cell)
                for cell in cells
                if cell.row.table == further.TABLE and cell.row.metric not in _SHOWN
            ],
        ),
        Grid(
            "Cases (rate, round trip, buffer): ours / the kernel's (deviation); ✗ does not agree",
            ["case", "agree", *_SHOWN.values()],
            [_case_row(case) for case in cases],
        ),
    ]


def _case_row(case: Score) -> list[str]:
    by_metric = {cell.row.metric: cell for cell in case.cells}
    return [
        case.name,
        f"{case.agree} of {len(case.cells)}",
        *(_beside(by_metric[metric]) if metric in by_metric else "" for metric in _SHOWN),
    ]


def _further_row(cell: Compared) -> list[str]:
    row = cell.row
    ours = "none" if cell.ours is None else shown(cell.ours, 4)
    runs = " to ".join(dict.fromkeys(shown(end, 4) for end in row.spread or (cell.published,)))
    figure = f"{row.metric.replace('_', ' ')}, {row.unit}"
    return [case_name(row), row.flow, figure, ours + cell.mark, runs]


def _beside(cell: Compared) -> str:
    ours = "none" if cell.ours is None else shown(cell.ours, 4)
    deviation = f" ({cell.deviation})" if cell.deviation else ""
    return f"{ours} / {shown(cell.published, 4)}{deviation}{cell.mark}"
