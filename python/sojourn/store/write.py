"""Writes the directory of a run or comparison: report, summary and tables."""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..analysis.summary import summary_json
from ..analysis.tables import RunTables
from ..base.files import (
    check_place,
    draft_of,
    failures_named,
    files_below,
    place_of,
    sweep_drafts,
)
from ..report.html import latency_cdf_svg, report_html
from ..runs.tables import TABLES, TRACES
from .checksums import SUMS, sums_of
from .listing import FORMATS, SUMMARY

_REPORT = "report.html"
_FIGURE = "latency-cdf.svg"


def save(
    runs: Mapping[str, RunTables],
    directory: Path,
    scenarios: Sequence[Path] = (),
    *,
    overwrite: bool = False,
) -> None:
    """Writes report, summary and tables; the directory appears only when it is complete.

    `scenarios` are the files of the scenarios, if they are files. Raises `OSError` as `check` does.
    """
    check(directory, scenarios, overwrite=overwrite)
    with failures_named(directory), draft_of(directory) as draft:
        _write_all(runs, draft, _origin(scenarios, directory))


def check(directory: Path, scenarios: Sequence[Path] = (), *, overwrite: bool = False) -> None:
    """Raises `OSError` if `save` would refuse the directory.

    It replaces earlier results of the same scenario file alone, or with `overwrite` those of any
    scenario, and never files that it has not written.
    """
    check_place(directory)
    sweep_drafts(directory / _REPORT)
    summary = _summary(directory)
    if summary is None:
        raise FileExistsError(
            f"{directory / SUMMARY}: damaged, so that it does not say what is of earlier results; "
            f"allowed: another directory, or remove {directory} if all in it is"
        )
    if strange := min(_files(directory) - set(summary.get("files", ())), default=None):
        raise FileExistsError(
            f"{directory} holds other files, such as {strange}; give another directory"
        )
    earlier, now = summary.get("scenarios"), _origin(scenarios, directory)
    if earlier is not None and earlier != now and not overwrite:
        found = _shown(earlier, directory)
        raise FileExistsError(
            f"{directory} holds results of {found}; allowed: another directory, or --overwrite "
            "(in Python, overwrite=True) to replace them"
        )


def _origin(scenarios: Sequence[Path], directory: Path) -> list[str]:
    """The paths of the scenarios from the directory of their results."""
    return [place_of(scenario, directory) for scenario in scenarios]


def _shown(origin: Sequence[str], directory: Path) -> str:
    if not origin:
        return "a scenario without a file"
    return ", ".join(os.path.relpath(directory / place) for place in origin)


def directory_names(variants: Iterable[str]) -> dict[str, str]:
    """A directory name for each variant, close to its name and valid on all file systems."""
    names: dict[str, str] = {}
    taken = {SUMMARY, _REPORT, _FIGURE, SUMS.lower()}
    for variant in variants:
        base = re.sub(r"[^\w .+-]", "_", variant)[:80].strip(". ") or "run"
        name, number = base, 2
        while name.lower() in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name.lower())
        names[variant] = name
    return names


def _files(directory: Path) -> set[str]:
    """Relative paths of all files below a directory."""
    if not directory.exists():
        return set()
    return {path.relative_to(directory).as_posix() for path in files_below(directory)}


def _summary(directory: Path) -> dict[str, Any] | None:
    """The summary of an earlier `save`, of any version; empty if there is none.

    `None` if the file is not such a summary.
    """
    try:
        summary: dict[str, Any] = json.loads((directory / SUMMARY).read_text())
        return summary if summary["format"] in FORMATS else None
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write_all(runs: Mapping[str, RunTables], directory: Path, origin: Sequence[str]) -> None:
    names = directory_names(runs)
    summary = {"format": FORMATS[-1], "scenarios": origin, **summary_json(runs)}
    for variant in summary["variants"]:
        variant["directory"] = names[variant["name"]]
    (directory / _REPORT).write_text(report_html(runs), encoding="utf-8")
    checked = [SUMMARY]
    if svg := latency_cdf_svg(runs):
        (directory / _FIGURE).write_bytes(svg)
        checked.append(_FIGURE)
    for name, result in runs.items():
        _write_run(result, directory / names[name])
    files = sorted(_files(directory) | {SUMMARY, SUMS})
    _write_json(directory / SUMMARY, {**summary, "files": files})
    _seal(directory, checked)


def _write_run(result: RunTables, directory: Path) -> None:
    directory.mkdir()
    traced = (names for key, names in TRACES.items() if result.settings["metrics"][key])
    for name in chain(TABLES, *traced):
        _write_table(getattr(result, name), directory / f"{name}.parquet")
    _write_json(directory / "meta.json", result.meta)
    (directory / "scenario.toml").write_text(result.scenario, encoding="utf-8")
    _seal(directory, _files(directory))


def _seal(directory: Path, names: Iterable[str]) -> None:
    """Writes the checksums of these files."""
    sums = sums_of({name: (directory / name).read_bytes() for name in names})
    (directory / SUMS).write_bytes(sums)


def _write_table(table: pa.Table, path: Path) -> None:
    with open(path, "wb") as file:  # pyarrow takes no path that is not UTF-8
        pq.write_table(table, file, compression="zstd")


def _write_json(path: Path, value: Any) -> None:
    # The path of a scenario may have bytes that are not UTF-8, which JSON can escape.
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
