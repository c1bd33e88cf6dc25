"""Writes the directory of a run or comparison: report, summary and tables."""

import json
import re
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from ..analysis.groups import Group, Results
from ..analysis.summary import summary_json
from ..analysis.tables import TABLES, TRACES, RunTables
from ..base.files import draft_of, failures_named, files_below
from ..report.html import latency_cdf_svg, report_of
from .checksums import SUMS, sums_of
from .listing import FORMATS, SUMMARY
from .replace import Wanted, reserved
from .store import REPORT
from .table_file import parquet_of

_FIGURE = "latency-cdf.svg"


def save(results: Results, directory: Path, *, overwrite: bool = False) -> None:
    """Writes report, summary and tables; raises `OSError` as `reserved` does."""
    wanted = Wanted.of_results(results)
    with reserved(directory, wanted, overwrite=overwrite):
        write(results, directory, wanted)


def write(results: Results, directory: Path, wanted: Wanted) -> None:
    """Writes report, summary and tables into a reserved directory, which appears when complete."""
    summary = {"scenarios": wanted.origin(directory), **summary_json(results, wanted.until)}
    with failures_named(directory), draft_of(directory) as draft:
        _write_all(results, draft, summary)


def directory_names(labels: Iterable[str]) -> list[str]:
    """A directory name for each label, close to it and valid on all file systems."""
    names: list[str] = []
    taken = {SUMMARY, REPORT, _FIGURE, SUMS.lower()}
    for label in labels:
        base = re.sub(r"[^\w .+-]", "_", label)[:80].strip(". ") or "run"
        name, number = base, 2
        while name.lower() in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name.lower())
        names.append(name)
    return names


def _label(group: Group, run: RunTables) -> str:
    return f"{group.variant} seed {run.meta['seed']}" if len(group.runs) > 1 else group.variant


def _write_all(results: Results, directory: Path, about: dict[str, Any]) -> None:
    runs = [(group, run) for group in results.groups for run in group.runs]
    names = directory_names(_label(group, run) for group, run in runs)
    summary = {"format": FORMATS[-1], **about}
    for variant, name in zip(summary["variants"], names, strict=True):
        variant["directory"] = name
    (directory / REPORT).write_text(report_of(results), encoding="utf-8")
    checked = [SUMMARY]
    if svg := latency_cdf_svg(results):
        (directory / _FIGURE).write_bytes(svg)
        checked.append(_FIGURE)
    for (_, run), name in zip(runs, names, strict=True):
        _write_run(run, directory / name)
    written = (path.relative_to(directory).as_posix() for path in files_below(directory))
    files = sorted({*written, SUMMARY, SUMS})
    _write_json(directory / SUMMARY, {**summary, "files": files})
    _seal(directory, checked)


def _write_run(result: RunTables, directory: Path) -> None:
    directory.mkdir()
    traced = (names for key, names in TRACES.items() if result.settings["metrics"][key])
    for name in chain(TABLES, *traced):
        (directory / f"{name}.parquet").write_bytes(parquet_of(getattr(result, name)))
    _write_json(directory / "meta.json", result.meta)
    (directory / "scenario.toml").write_text(result.scenario, encoding="utf-8")
    _seal(directory, [path.name for path in directory.iterdir()])


def _seal(directory: Path, names: Iterable[str]) -> None:
    """Writes the checksums of these files."""
    sums = sums_of({name: (directory / name).read_bytes() for name in names})
    (directory / SUMS).write_bytes(sums)


def _write_json(path: Path, value: Any) -> None:
    # The path of a scenario may have bytes that are not UTF-8, which JSON can escape.
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
