"""Whether earlier results in a directory may be replaced: by the same runs again, or on request."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._sojourn import Variant
from .._sojourn import version as this_version
from ..analysis.groups import THIS_RUN, Results
from ..analysis.precision import Target
from ..base.files import (
    check_place,
    files_below,
    held,
    is_name,
    lock_beside,
    place_of,
    sweep_drafts,
)
from ..base.json_text import json_of
from ..report.differences import settings_grid
from ..runs.result import seeds_in_words
from .checksums import DamagedError, read_result
from .listing import FORMATS, SUMMARY
from .store import REPORT
from .stored_run import StoredRun

_SHOWN_AT_MOST = 3


@dataclass(frozen=True)
class Wanted:
    """The runs whose results a directory is to hold."""

    scenarios: Mapping[str, str]
    """The complete scenario of each variant with its first seed, as TOML."""
    seeds: Mapping[str, Sequence[int]]
    """The seeds of each variant; with `until`, the most that may be run."""
    files: Sequence[Path] = ()
    """The files of the scenarios, if they are files."""
    until: Sequence[Target] = ()
    """What ends the seeds, as in `run --until`."""
    asides: Sequence[str] = ()
    """Keys that say what came of a run, as how long a program ran."""

    @staticmethod
    def of(
        variants: Sequence[Variant],
        seeds: int,
        files: Sequence[Path],
        until: Sequence[Target] = (),
        asides: Sequence[str] = (),
    ) -> "Wanted":
        """Runs that are still to be made."""
        return Wanted(
            {variant.name: variant.to_toml() for variant in variants},
            {variant.name: range(variant.seed, variant.seed + seeds) for variant in variants},
            files,
            until,
            asides,
        )

    @staticmethod
    def of_results(results: Results) -> "Wanted":
        """Runs that were made."""
        return Wanted(
            {group.variant: group.first.scenario for group in results.groups},
            {group.variant: [run.meta["seed"] for run in group.runs] for group in results.groups},
        )

    def origin(self, directory: Path) -> list[str]:
        """The paths of the scenarios from the directory of their results."""
        return [place_of(scenario, directory) for scenario in self.files]


@contextmanager
def reserved(directory: Path, wanted: Wanted, *, overwrite: bool = False) -> Iterator[None]:
    """Holds a directory for the results of these runs, from before they are made.

    Raises `OSError` if another process holds it, or as `check` does.
    """
    check_place(directory)
    with held(directory, lock_beside(directory)):
        check(directory, wanted, overwrite=overwrite)
        yield


def check(directory: Path, wanted: Wanted, *, overwrite: bool = False) -> None:
    """Raises `OSError` if the directory holds anything but earlier results of the same runs.

    With `overwrite` they may be results of any runs, but never files of somebody else.
    """
    sweep_drafts(directory / REPORT)
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
    if not summary or overwrite:
        return
    origin = wanted.origin(directory)
    earlier = summary.get("scenarios", origin)
    is_same = earlier == origin
    differences = [*dict.fromkeys(_differences(summary, directory, wanted))] if is_same else []
    if differences or not is_same:
        raise FileExistsError(
            f"{directory} holds results of {_shown(earlier, summary, directory)}"
            f"{_listed(differences)}; "
            "allowed: another directory, or --overwrite (in Python, overwrite=True) to replace them"
        )


def _listed(differences: Sequence[str]) -> str:
    more = len(differences) - _SHOWN_AT_MOST
    shown = ", ".join(differences[:_SHOWN_AT_MOST]) + (f" and {more} more" if more > 0 else "")
    return f" with {shown}" if shown else ""


def _differences(summary: Mapping[str, Any], directory: Path, wanted: Wanted) -> Iterator[str]:
    """In what earlier results differ from those that are wanted."""
    if summary["version"] != this_version:
        yield f"version {summary['version']} instead of {this_version}"
    there: dict[str, list[Mapping[str, Any]]] = {}
    for run in summary["variants"]:
        there.setdefault(run["name"], []).append(run)
    if set(there) != set(wanted.seeds):
        yield f"{_names(there)} instead of {_names(wanted.seeds)}"
    until = [one["until"] for one in summary.get("until", ())]
    if wanted.until and until != (texts := [target.text for target in wanted.until]):
        yield f"{_ended(until)} instead of {_ended(texts)}"
    for name in filter(wanted.seeds.__contains__, there):
        seeds, now = [run["seed"] for run in there[name]], list(wanted.seeds[name])
        if seeds != (now[: len(seeds)] if wanted.until else now):
            yield f"{seeds_in_words(seeds)} instead of {seeds_in_words(now)}"
        with suppress(DamagedError):  # nothing is lost with it
            before = StoredRun(directory / there[name][0]["directory"]).settings
            now_set = tomllib.loads(wanted.scenarios[name])
            asides = {key: now_set[key] for key in wanted.asides}
            yield from _changed({**before, **asides}, now_set)


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """The keys that differ between two complete scenarios."""
    grid = settings_grid(["before", "now"], [before, now])
    yield from (f"{key} {earlier} instead of {later}" for key, earlier, later in grid.rows)


def _names(variants: Mapping[str, object]) -> str:
    return f"variants {', '.join(name or THIS_RUN for name in variants)}"


def _ended(until: Sequence[str]) -> str:
    return f"seeds until {' and '.join(until)}" if until else "a fixed number of seeds"


def _shown(origin: Sequence[str], summary: Mapping[str, Any], directory: Path) -> str:
    if not origin:
        title = summary.get("title")
        return repr(title) if title else "a scenario without a file"
    return ", ".join(os.path.relpath(directory / place) for place in origin)


def _files(directory: Path) -> set[str]:
    """Relative paths of all files below a directory."""
    if not directory.exists():
        return set()
    return {path.relative_to(directory).as_posix() for path in files_below(directory)}


def _summary(directory: Path) -> dict[str, Any] | None:
    """The summary of an earlier `save`, of any version; empty if there is none.

    `None` if the file is not such a summary.
    """
    if not os.path.lexists(directory / SUMMARY):
        return {}
    try:
        summary: dict[str, Any] = json_of(read_result(directory / SUMMARY))
        return summary if _is_whole(summary) else None
    except (ValueError, KeyError, TypeError):
        return None


def _is_whole(summary: Mapping[str, Any]) -> bool:
    runs = summary["variants"]
    texts = [
        summary["version"],
        *(run["name"] for run in runs),
        *(one["until"] for one in summary.get("until", ())),
        *summary.get("files", ()),
        *summary.get("scenarios", ()),
    ]
    return (
        summary["format"] in FORMATS
        and all(isinstance(text, str) for text in texts)
        and bool(runs)
        and all(isinstance(run["seed"], int) and is_name(run["directory"]) for run in runs)
    )
