"""Which runs a directory of results holds."""

import csv
import json
import re
from io import StringIO
from itertools import chain
from pathlib import Path

from .._sojourn import ScenarioError, read_document
from .._sojourn import version as this_version
from ..base.csv_text import true_text
from ..base.files import is_name
from ..base.json_text import json_of
from ..base.plain_text import is_plain
from .checksums import SUMS, Checksums, DamagedError, StoreError, read_result
from .other_version import refusal_of_run
from .store import RUN_LIST, Store
from .stored_run import StoredRun

SUMMARY = "summary.json"
"""The file that marks the directory of `run --out`."""

FORMATS = ("sojourn-output-2", "sojourn-output-3", "sojourn-output-4", "sojourn-output-5")
"""The formats of such a directory; the last is this version's."""

_READ = FORMATS[-2:]
"""Those that can be read. Since the last a variant may have several runs."""

_SIMPLE = re.compile(r'-?(0|[1-9][0-9]{0,15})(\.[0-9]{1,20})?|"[^"\\]*"')
"""Most values of keys. Hundreds of thousands of them are recognized in no time."""

_MOST_CELLS = 1_000_000
"""A list of a hundred thousand runs has fewer."""


def runs_of_summary(directory: Path) -> dict[str, list[StoredRun]]:
    """The runs that `run --out` wrote, by variant; raises `StoreError` if there are none."""
    content = read_result(directory / SUMMARY)
    try:
        summary = json_of(content)
        form, variants = summary["format"], summary["variants"]
        runs: dict[str, list[StoredRun]] = {}
        places = {variant["directory"] for variant in variants}
        for variant in variants:
            name, place = variant["name"], variant["directory"]
            if not is_name(place) or not is_plain(name):
                raise ValueError
            runs.setdefault(name, []).append(StoredRun(directory / place, name))
        version, files = summary["version"], summary.get("scenarios", [])
        is_whole = all(isinstance(text, str) for text in (version, *files))
        if not runs or len(places) < len(variants) or not is_whole:
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
    there = set(store.runs)
    store.check([line["run"] in there for line in lines])
    return lines


def listed_lines(store: Store) -> list[dict[str, str]]:
    """The lines of the list of runs, whether or not the runs are there."""
    columns, *rows = _table(store)
    if not {"seed", "run"}.issubset(columns):
        raise StoreError(f"{store.directory / RUN_LIST}: lists no runs")
    return [dict(zip(columns, row, strict=True)) for row in rows]


def is_toml_value(text: str) -> bool:
    """Is it a value of a key, as `runs.csv` has it?"""
    try:
        return bool(_SIMPLE.fullmatch(text)) or list(
            json.loads(read_document(f"value = {text}", "{}", ""))
        ) == ["value"]
    except ScenarioError:
        return False


def _table(store: Store) -> list[list[str]]:
    """The rows of `runs.csv`, the names of its columns first."""
    path, content = store.directory / RUN_LIST, store.read(RUN_LIST)
    if sum(map(content.count, (b",", b"\n", b"\r"))) > _MOST_CELLS:
        raise DamagedError(path, f"found more than {_MOST_CELLS} cells")
    try:
        cells = csv.reader(StringIO(content.decode(), newline=""))
        rows = [list(map(true_text, row)) for row in cells]
    except (UnicodeDecodeError, csv.Error):
        rows = []
    widths = {len(row) for row in rows}
    if widths != {len(set(rows[0] if rows else ()))} or not is_plain("".join(chain(*rows))):
        raise DamagedError(path, "not a list of runs as sojourn writes it")
    return rows
