"""Grades and verdicts of results as Python objects. The Rust core computes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from .._sojourn import applications_json
from .._sojourn import verdict as native_verdict
from .groups import Results
from .keys import key_in_words


class Grade(Enum):
    """A grade, and a mark that distinguishes it without colour."""

    GOOD = "✓"
    FAIR = "~"
    POOR = "✗"

    @property
    def word(self) -> str:
        """The grade as a word."""
        return self.name.lower()


@dataclass(frozen=True)
class Threshold:
    """The upper or lower bound of a metric that a grade requires."""

    metric: str
    bound: float
    at_least: bool
    text: str
    source: str


@dataclass(frozen=True)
class Application:
    """What is graded: its name, and the thresholds of its grades."""

    name: str
    good: tuple[Threshold, ...]
    fair: tuple[Threshold, ...]


@dataclass(frozen=True)
class Assessment:
    """An application with its measured values and grade."""

    application: str
    grade: Grade | None
    """`None` if a value is missing."""
    values: Mapping[str, float | None]
    summary: str
    """The measured values in words."""


@dataclass(frozen=True)
class Verdict:
    """The question that results answer, the answer, and the grades of each group."""

    question: str
    sentences: Sequence[str]
    """The answer. The first sentence is enough without the others."""
    ungraded: str
    """A sentence that names the traffic without a grade, or an empty string."""
    groups: Mapping[str, Sequence[Assessment]]
    applications: Sequence[Application]
    """Applications graded in any group, in the order of `APPLICATIONS`."""
    best: str | None
    """The group that does best; `None` if no group does."""
    reference: str | None
    """The group that the best is compared with."""
    idle_lines: frozenset[str]
    """The groups that are idle lines: the same traffic without bulk traffic."""
    unwatched: Sequence[str]
    """A sentence for each direction that bulk traffic loads and in which nothing measures delay."""
    causes: Mapping[str, Sequence[str]]
    """Where the time goes in each group, in a sentence for each game, call and video call."""

    def of(self, group: str, application: Application) -> Assessment | None:
        """The assessment of an application in a group."""
        return next(
            (one for one in self.groups[group] if one.application == application.name), None
        )


def verdict_json(results: Results) -> dict[str, Any]:
    """Question, answer, grades and measures of each group, as plain data with thresholds."""
    groups = [
        (group.name, group.variant, list(group.point), [run.facts for run in group.runs])
        for group in results.groups
    ]
    found: dict[str, Any] = json.loads(
        native_verdict(groups, list(map(key_in_words, results.keys)))
    )
    return found


def verdict(results: Results) -> Verdict:
    """Grades results and answers their question."""
    found = verdict_json(results)
    names = [group["name"] for group in found["groups"]]

    def name_of(number: int | None) -> str | None:
        return None if number is None else names[number]

    return Verdict(
        question=found["question"],
        sentences=found["sentences"],
        ungraded=found["ungraded"],
        groups={g["name"]: [_assessment(one) for one in g["assessments"]] for g in found["groups"]},
        applications=[_application(one) for one in found["applications"]],
        best=name_of(found["best"]),
        reference=name_of(found["reference"]),
        idle_lines=frozenset(g["name"] for g in found["groups"] if g["is_idle_line"]),
        unwatched=found["unwatched"],
        causes={g["name"]: g["causes"] for g in found["groups"]},
    )


def _assessment(found: Mapping[str, Any]) -> Assessment:
    grade = Grade[found["grade"].upper()] if found["grade"] else None
    return Assessment(found["application"], grade, found["values"], found["summary"])


def _application(found: Mapping[str, Any]) -> Application:
    good, fair = (tuple(Threshold(**one) for one in found[grade]) for grade in ("good", "fair"))
    return Application(found["name"], good, fair)


APPLICATIONS = tuple(map(_application, json.loads(applications_json())))
"""Graded applications, in the order of the report."""
