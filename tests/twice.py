"""Runs shipped scenarios and drafts, and runs them twice as long: numbers describe the line.

`python tests/twice.py` runs all, `python tests/twice.py home` those whose names contain it. No
grade may change, and no graded value by more than a tenth of its nearest bound, beyond what seeds
do. What the answer says is still changing or starting, or made by its first seconds, may.
"""

import math
import statistics
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import sojourn
from sojourn import Grade
from sojourn.runs.draft import TO_BUY, draft
from sojourn.runs.result import Outcome

SHIPPED = Path(__file__).parents[1] / "scenarios"
SEEDS = (1, 2, 3)
HOUSEHOLDS: Mapping[str, Mapping[str, Any]] = {
    "draft-usual": {"down_mbps": 50, "up_mbps": 10},
    "draft-film": {"down_mbps": 250, "up_mbps": 25, "uses": ("game", "video", "upload")},
    "draft-busy": {"down_mbps": 100, "up_mbps": 20, "neighbours": "busy-hour"},
    "draft-both": {"down_mbps": 100, "up_mbps": 10, "uses": ("call", "web", "upload", "download")},
    "draft-bought": {"down_mbps": 40, "up_mbps": 5, "aqms": TO_BUY, "neighbours": "none"},
}

Key = tuple[str, str]
"""A group and an application."""


class Seeds:
    """Grades and values of runs that differ in their seed."""

    def __init__(self, scenario: str | Path, duration_s: float | None = None) -> None:
        self.grades: dict[Key, list[Grade | None]] = defaultdict(list)
        self.values: dict[Key, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.bounds: dict[str, set[float]] = defaultdict(set)
        self.early: set[str] = set()
        self.changing: dict[Key, set[str]] = defaultdict(set)
        for seed in SEEDS:
            self._add(sojourn.run(scenario, seed=seed, duration_s=duration_s))

    def _add(self, results: Outcome) -> None:
        verdict = results.verdict
        for application in verdict.applications:
            for bound in (*application.good, *application.fair, *application.poor):
                self.bounds[bound.metric] |= {bound.bound} - {0.0}
        for name, run in results.runs.items():
            self.duration_s = run.meta["duration_s"]
            codes = [warning["code"] for warning in run.meta["warnings"]]
            self.early |= {name} if "early-tail" in codes else set()
        for group, assessments in verdict.groups.items():
            # The traffic that loads an idle line may begin after its end.
            for one in assessments if group not in verdict.idle_lines else ():
                self.grades[group, one.application].append(one.grade)
                self.changing[group, one.application] |= {*one.changing}
                for metric, value in one.values.items():
                    if one.grade and value is not None:
                        self.values[group, one.application][metric].append(value)


def faults(scenario: str | Path) -> Iterator[str]:
    """What changes with the duration that should not, in sentences."""
    once = Seeds(scenario)
    twice = Seeds(scenario, 2 * once.duration_s)
    for key, grades in once.grades.items():
        if key[0] in once.early:
            continue
        values, later = once.values[key], twice.values[key]
        # What the answer says is still starting has no grade, and no values here.
        metrics = [metric for metric in values if later[metric] and once.bounds[metric]]
        near = [_is_near(values[m], later[m], once.bounds[m]) for m in metrics]
        is_known = None not in grades and None not in twice.grades[key]
        changing = once.changing[key]
        if is_known and not changing and not (set(grades) & set(twice.grades[key]) or any(near)):
            yield f"{key}: {_words(grades)}, then {_words(twice.grades[key])}"
        for metric in metrics:
            one, other = statistics.mean(values[metric]), statistics.mean(later[metric])
            bound = min(once.bounds[metric], key=lambda b: min(abs(b - one), abs(b - other)))
            is_much = abs(one - other) > abs(bound) / 10 + _noise(values[metric], later[metric])
            if is_much and metric not in changing:
                yield f"{key}: {metric} {one:.4g}, then {other:.4g}; nearest bound {bound:g}"


def _words(grades: Sequence[Grade | None]) -> str:
    return "/".join(grade.word if grade else "none" for grade in grades)


def _noise(*means: Sequence[float]) -> float:
    """Twice the standard error of a difference of means."""
    return 2 * math.sqrt(sum(statistics.variance(v) / len(v) for v in means if len(v) > 1))


def _is_near(one: Sequence[float], other: Sequence[float], bounds: set[float]) -> bool:
    """Do seeds leave open on which side of a bound a mean is?"""
    return any(abs(statistics.mean(v) - b) <= _noise(v) for v in (one, other) for b in bounds)


def scenarios(folder: Path) -> Mapping[str, Path]:
    """Shipped scenarios and drafts, by name."""
    found = {path.stem: path for path in sorted(SHIPPED.rglob("*.toml"))}
    for name, household in HOUSEHOLDS.items():
        found[name] = folder / f"{name}.toml"
        found[name].write_text(draft(**household))
    return found


def main() -> int:
    """Prints what is wrong; the exit status is 1 if anything is."""
    count = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path in scenarios(Path(folder)).items():
            if not any(part in name for part in sys.argv[1:] or [""]):
                continue
            print(name, flush=True)
            for fault in faults(path):
                count += 1
                print("   ", fault, flush=True)
    print(f"{count} changes with the duration")
    return bool(count)


if __name__ == "__main__":
    sys.exit(main())
