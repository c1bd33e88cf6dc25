"""Quantiles of measured lines, as `published/lines.csv` has them.

`python -m sojourn_studies.lines.derived DIRECTORY OUT` makes them anew from the raw series, which
are not kept here: `pings.csv.gz` (run, series, t_s, rtt_ms, up_ms, down_ms) and `telstra.csv.gz`
(start_local, ping_ms, plan). Rows of the laboratory and the field are of documents, and stay.
"""

import csv
import gzip
import sys
from collections import defaultdict
from collections.abc import Iterator
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
from sojourn.analysis.distribution import Numbers

PERCENTS = (1, *range(5, 100, 5), 99)
"""Of which all but the median are cells, where a fit is held against them."""
_FEWER = (1, 5, 10, 25, 75, 90, 95, 99)
_PART_S = 150
"""The ends of what such parts of the second half gave are how near a cell must come."""
_CONDITIONS = {"A": "idle", "C": "upload", "D": "download"}
_WAYS = {"up": "up_ms", "down": "down_ms"}
_NIGHT, _EVENING = range(2, 6), range(19, 23)
_SCHEMES = {("idle", "up"): ("fitted", "default", "lone"), ("idle", "down"): ("jitter", "default")}
_USUAL = ("fitted", "default")
_OTHER_HALF = "other-half"
_DOCUMENTS = ("lines,lab,", "lines,field,")
_HEADER = "study,table,experiment,scheme,load,flow,metric,value,unit,note"

Series = dict[str, Numbers]
"""Columns by name."""


def from_median(delays_ms: Numbers) -> Numbers:
    """Delays at `PERCENTS`, less the median."""
    values = np.percentile(delays_ms[~np.isnan(delays_ms)], PERCENTS)
    return np.asarray(values - values[PERCENTS.index(50)])


def _pings(directory: Path) -> dict[str, Series]:
    """By run, all probes that have one-way delays."""
    rows: dict[str, list[list[float]]] = defaultdict(list)
    with gzip.open(directory / "pings.csv.gz", "rt") as file:
        for line in csv.DictReader(file):
            if line["up_ms"]:
                values = [line[name] for name in ("t_s", "rtt_ms", "up_ms", "down_ms")]
                rows[line["run"]].append([float(value or "nan") for value in values])
    names = ("t_s", "rtt_ms", "up_ms", "down_ms")
    return {run: dict(zip(names, np.array(lines).T, strict=True)) for run, lines in rows.items()}


def _parts(series: Series, column: str) -> list[Numbers]:
    """The series in parts of about `_PART_S`, the same number in each half."""
    values, time_s = series[column], series["t_s"]
    end_s = float(time_s.max()) + 1e-9
    ends = np.linspace(0, end_s, 2 * round(end_s / 2 / _PART_S) + 1)
    return [values[(start <= time_s) & (time_s < end)] for start, end in pairwise(ends)]


def _lines_of_pings(runs: dict[str, Series]) -> Iterator[tuple[list[str], str]]:
    """A quantity's cells, with what it was in the first half.

    Clocks drift by tenths of a millisecond in a quarter of an hour, so a half has the means of its
    parts' quantiles, each from the part's own median.
    """
    for run, condition in _CONDITIONS.items():
        for way, column in _WAYS.items():
            quantiles = np.array([from_median(part) for part in _parts(runs[run], column)])
            chosen = PERCENTS if condition == "idle" and way == "up" else _FEWER
            for percent in chosen:
                if percent != 50:
                    values = quantiles[:, PERCENTS.index(percent)]
                    yield _row(condition, way, f"p{percent}", values)
        if run != "A":
            idle = float(np.nanmedian(runs["A"]["rtt_ms"]))
            added = [np.nanmedian(part) - idle for part in _parts(runs[run], "rtt_ms")]
            yield _row(condition, "round trip", "added", np.array(added))


def _row(table: str, experiment: str, metric: str, parts: Numbers) -> tuple[list[str], str]:
    first, second = np.split(parts, 2)
    note = f"runs {second.min():.3f} to {second.max():.3f}"

    def line(scheme: str, value: float, note: str) -> str:
        keys = f"lines,{table},{experiment},{scheme},spectrum,probes,{metric}"
        return f"{keys},{value:.3f},ms,{note}"

    schemes = _SCHEMES.get((table, experiment), _USUAL)
    cells = [line(scheme, second.mean(), note) for scheme in schemes]
    return cells, line(_OTHER_HALF, first.mean(), "")


def _lines_of_telstra(directory: Path) -> Iterator[str]:
    pings: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(directory / "telstra.csv.gz", "rt") as file:
        for line in csv.DictReader(file):
            hour = int(line["start_local"][11:13])
            time = "evening" if hour in _EVENING else "night" if hour in _NIGHT else ""
            if time and line["ping_ms"]:
                pings[line["plan"], time].append(float(line["ping_ms"]))
    for plan in dict.fromkeys(plan for plan, _ in pings):
        more = np.median(pings[plan, "evening"]) - np.median(pings[plan, "night"])
        load = "plan=" + plan.replace("/", "-")
        yield f"lines,evening,round trip,busy-hour,{load},ping,added,{more:.3f},ms,"


def main(directory: Path, out: Path) -> None:
    """Writes the cells, and those of the first halves."""
    path = out / "lines.csv"
    documents = [line for line in path.read_text().splitlines() if line.startswith(_DOCUMENTS)]
    cells, first = zip(*_lines_of_pings(_pings(directory)), strict=True)
    lines = [*chain(*cells), *_lines_of_telstra(directory), *documents]
    path.write_text("\n".join([_HEADER, *lines]) + "\n")
    (out / "lines-first.csv").write_text("\n".join([_HEADER, *first]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
