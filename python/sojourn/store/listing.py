"""Which runs a directory of results holds."""

import csv
import json
from io import StringIO
from pathlib import Path

from .._sojourn import version as this_version
from ..base.csv_text import true_text
from .checksums import SUMS, Checksums, DamagedError, StoreError
from .other_version import refusal_of_run
from .store import RUN_LIST, Store
from .stored_run import StoredRun

SUMMARY = "summary.json"
"""The file that marks the directory of `run --out`."""

FORMATS = ("sojourn-output-2", "sojourn-output-3", "sojourn-output-4", "sojourn-output-5")
"""The formats of such a directory; the last is this version's."""

_READ = FORMATS[-2:]
"""Those that can be read. Since the last a variant may have several runs."""


def runs_of_summary(directory: Path) -> dict[str, list[StoredRun]]:
    """The runs that `run --out` wrote, by variant; raises `StoreError` if there are none."""
    try:
        summary = json.loads((directory / SUMMARY).read_text("utf-8"))
        form, variants = summary["format"], summary["variants"]
        runs: dict[str, list[StoredRun]] = {}
        for variant in variants:
            name, place = str(variant["name"]), directory / variant["directory"]
            runs.setdefault(name, []).append(StoredRun(place, name))
        version, files = summary["version"], summary.get("scenarios", [])
        if not runs:
            raise ValueError
    except (ValueError, KeyError, TypeError):
        if (directory / SUMS).exists():
            raise DamagedError(directory / SUMMARY, "not a summary that sojourn wrote") from None
        raise StoreError(f"{directory / SUMMARY}: not a summary that sojourn wrote") from None
    if form not in _READ or version != this_version:
        raise refusal_of_run(directory, version, files)
    Checksums(directory).read(SUMMARY)
    return runs


def listed_runs(store: Store) -> list[dict[str, str]]:
    """The lines of `runs.csv`; raises `StoreError` unless all runs that it lists are there."""
    try:
        (store.directory / RUN_LIST).stat()
    except FileNotFoundError:
        raise StoreError(
            f"{store.directory}: incomplete, runs.csv is missing; repeat the command with --resume"
        ) from None
    lines = listed_lines(store)
    store.check([store.keeps(line["run"]) for line in lines])
    return lines


def listed_lines(store: Store) -> list[dict[str, str]]:
    """The same, whether or not the runs are there."""
    columns, *rows = _table(store)
    if "run" not in columns:
        raise StoreError(f"{store.directory / RUN_LIST}: lists no runs")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _table(store: Store) -> list[list[str]]:
    """The rows of `runs.csv`, the names of its columns first."""
    content = store.read(RUN_LIST)
    try:
        cells = csv.reader(StringIO(content.decode(), newline=""))
        rows = [list(map(true_text, row)) for row in cells]
    except (UnicodeDecodeError, csv.Error):
        rows = []
    if not rows or any(len(row) != len(set(rows[0])) for row in rows):
        path = store.directory / RUN_LIST
        raise DamagedError(path, "not a list of runs as sojourn writes it")
    return rows
