"""Grades and verdicts of results as Python objects. The Rust core computes them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from .._sojourn import applications_json
from .._sojourn import verdict as native_verdict
from .groups import Results
from .keys import key_in_words

_FEW = 8
"""So many settings stand before the answer."""


class Grade(Enum):
    """A grade, and a mark that distinguishes it without colour; the best is the first.

    >>> sojourn.Grade.GOOD.word, sojourn.Grade.GOOD.value
    ('good', '✓')
    """

    GOOD = "✓"
    FAIR = "~"
    POOR = "✗"
    FAILS = "✗✗"

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
class Steps:
    """Bounds inside grades, which decide between settings whose grades are equal."""

    metric: str
    start: Grade
    """They count from this grade on."""
    bounds: tuple[float, ...]


@dataclass(frozen=True)
class Application:
    """What is graded: its name, and the thresholds of its grades."""

    name: str
    good: tuple[Threshold, ...]
    fair: tuple[Threshold, ...]
    poor: tuple[Threshold, ...]
    """What does not meet one of them fails."""
    steps: tuple[Steps, ...]


@dataclass(frozen=True)
class Assessment:
    """An application with its measured values and grade.

    >>> call = sojourn.run("fibre", duration_s=2).grades["idle line of Fibre"]["call"]
    >>> call.grade, call.values["mos"] > 4
    (<Grade.GOOD: '✓'>, True)
    """

    application: str
    grade: Grade | None
    """`None` if a value is missing."""
    values: Mapping[str, float | None]
    summary: str
    """The measured values in words."""
    traffic: str = ""
    """The traffic entry that the values are of, of several the worst; empty for queues."""
    first_half: Mapping[str, float | None] = field(default_factory=dict)
    """The values of the first half of the time that counts."""
    changing: Sequence[str] = ()
    """The values that are still changing: a longer run may give others, or another grade."""


@dataclass(frozen=True)
class Transfer:
    """What a transfer, a torrent or a stream of data gets of its max-min fair part of the line."""

    traffic: str
    application: str
    mbps: float
    part_mbps: float
    share_percent: float | None
    grade: Grade | None


@dataclass(frozen=True)
class Price:
    """An entry that has a worse grade with the best setting than with the reference."""

    application: str
    traffic: str
    """The entry; empty for what is waited."""
    before: Grade
    after: Grade
    alternative: str | None
    """A setting that is not behind the reference there."""


@dataclass(frozen=True)
class Answer:
    """Which settings do best under one load."""

    settings: Sequence[str]
    best: Sequence[str]
    """The settings that no other one is before."""
    is_alike: bool
    """Whether these do equally well in all steps."""
    reference: str | None
    """The first of the other settings, with which the best are compared."""
    price: Sequence[Price]
    hair: str | None
    """What the answer only just rests on, in a sentence."""
    unsure: Sequence[str]
    """The settings of which the seeds do not show whether they are among the best."""


@dataclass(frozen=True)
class RoundTrip:
    """Median round trips in ms of the game or call to which load adds most, by what is under way.

    `None` is what was not measured.
    """

    letter: str | None
    """From A+ to F, by what the load that adds most adds to the mean."""
    traffic: str
    """The game or call: of several the first that has the letter of the grade under load."""
    idle_ms: float | None
    downloading_ms: float | None
    uploading_ms: float | None
    both_ms: float | None
    """While downloads and uploads run at once."""


@dataclass(frozen=True)
class Verdict:
    """The question that results answer, the answer, and the grades of each group.

    >>> verdict = sojourn.run("fibre", duration_s=2).verdict
    >>> verdict.groups["Fibre"][0].application
    'game'
    """

    question: str
    sentences: Sequence[str]
    """The answer. The first sentence is enough without the others."""
    ungraded: str
    """Names the traffic without a grade, and what is unknown without an idle line; may be empty."""
    groups: Mapping[str, Sequence[Assessment]]
    applications: Sequence[Application]
    """Applications graded in any group, in the order of `APPLICATIONS`."""
    best: str | None
    """The group that does best, the first of several that do equally well. `None` if there is
    nothing to choose, all do equally well, or several do best in different things."""
    alike: Sequence[str]
    """All groups that do equally well with it."""
    reference: str | None
    """The group that the best is compared with."""
    price: Sequence[Price]
    """What the best costs against the reference."""
    answers: Sequence[Answer]
    """The answer for each load and, where lines differ, for each line and between them."""
    transfers: Mapping[str, Sequence[Transfer]]
    """What each transfer, torrent and stream of data of each group gets."""
    idle_lines: frozenset[str]
    """The groups that are idle lines: the same traffic without bulk traffic."""
    unwatched: Sequence[str]
    """A sentence for each direction that bulk traffic loads and in which nothing measures delay."""
    round_trips: Mapping[str, RoundTrip]
    """Those of the groups that measured one and are no idle line."""
    causes: Mapping[str, Sequence[str]]
    """Where the time goes in each group, in a sentence for each game, call and video call."""

    @property
    def leading(self) -> list[str]:
        """The settings that stand before the answer: all, or of many the best and its reference."""
        settings = [name for name in self.groups if name not in self.idle_lines]
        named = (*self.alike[:1], self.best, self.reference)
        return [name for name in settings if len(settings) <= _FEW or name in named]

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
    is_late = any(is_too_late(run.meta) for group in results.groups for run in group.runs)
    return _withheld(found) if is_late else found


def is_too_late(meta: Mapping[str, Any]) -> bool:
    """Was it an emulation whose packets were too late to trust it?"""
    return bool(meta.get("emulation", {}).get("is_too_late"))


_WITHHELD = (
    "No verdict: packets of the real programs were delivered too late to trust what was measured."
)


def _withheld(found: Mapping[str, Any]) -> dict[str, Any]:
    """What was found without all that judges it."""
    groups = [
        {
            **group,
            "assessments": [{**one, "grade": None} for one in group["assessments"]],
            "transfers": [{**one, "grade": None} for one in group["transfers"]],
            "round_trip": None,
            "causes": [],
        }
        for group in found["groups"]
    ]
    nothing: dict[str, Any] = {
        "best": None,
        "alike": [],
        "reference": None,
        "price": [],
        "answers": [],
    }
    return {**found, **nothing, "sentences": [_WITHHELD], "ungraded": "", "groups": groups}


def verdict(results: Results) -> Verdict:
    """Grades results and answers their question."""
    found = verdict_json(results)
    names = [group["name"] for group in found["groups"]]

    def name_of(number: int | None) -> str | None:
        return None if number is None else names[number]

    def price(found: Sequence[Mapping[str, Any]]) -> list[Price]:
        return [
            Price(one["application"], one["traffic"], grade, after, name_of(one["alternative"]))
            for one in found
            if (grade := _grade(one["from"])) and (after := _grade(one["to"]))
        ]

    def answer(found: Mapping[str, Any]) -> Answer:
        settings, best, unsure = (
            [names[number] for number in found[key]] for key in ("settings", "best", "unsure")
        )
        return Answer(
            settings=settings,
            best=best,
            is_alike=found["is_alike"],
            reference=name_of(found["reference"]),
            price=price(found["price"]),
            hair=found["hair"],
            unsure=unsure,
        )

    return Verdict(
        question=found["question"],
        sentences=found["sentences"],
        ungraded=found["ungraded"],
        groups={g["name"]: [_assessment(one) for one in g["assessments"]] for g in found["groups"]},
        applications=[_application(one) for one in found["applications"]],
        best=name_of(found["best"]),
        alike=[names[number] for number in found["alike"]],
        reference=name_of(found["reference"]),
        price=price(found["price"]),
        answers=[answer(one) for one in found["answers"]],
        transfers={
            group["name"]: [
                Transfer(**{**one, "grade": _grade(one["grade"])}) for one in group["transfers"]
            ]
            for group in found["groups"]
        },
        idle_lines=frozenset(g["name"] for g in found["groups"] if g["is_idle_line"]),
        unwatched=found["unwatched"],
        round_trips={
            g["name"]: RoundTrip(**g["round_trip"]) for g in found["groups"] if g["round_trip"]
        },
        causes={g["name"]: g["causes"] for g in found["groups"]},
    )


def marked(results: Results, judged: Verdict | None = None) -> Results:
    """The results, with their idle lines marked as such."""
    idle = (judged or verdict(results)).idle_lines
    groups = [replace(group, is_idle=group.name in idle) for group in results.groups]
    return replace(results, groups=groups)


def _assessment(found: Mapping[str, Any]) -> Assessment:
    return Assessment(
        application=found["application"],
        grade=_grade(found["grade"]),
        values=found["values"],
        summary=found["summary"],
        traffic=found["traffic"],
        first_half=found["first_half"],
        changing=found["changing"],
    )


def _grade(word: str | None) -> Grade | None:
    return Grade[word.upper()] if word else None


def _application(found: Mapping[str, Any]) -> Application:
    good, fair, poor = (
        tuple(Threshold(**one) for one in found[grade]) for grade in ("good", "fair", "poor")
    )
    steps = (
        Steps(one["metric"], Grade[one["from"].upper()], tuple(one["bounds"]))
        for one in found["steps"]
    )
    return Application(found["name"], good, fair, poor, tuple(steps))


APPLICATIONS = tuple(map(_application, json.loads(applications_json())))
"""Graded applications, in the order of the report."""
