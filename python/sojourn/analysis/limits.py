"""What results must reach for `--fail-below`: a grade, or a bound on a measure."""

from collections.abc import Iterator, Mapping, Sequence

from ..base.grid import digits
from ..base.lookup import UnknownError, look_up
from ..base.toml_text import dotted
from .conditions import Bound, bound
from .groups import Group, Results
from .measures import Measure
from .verdict import Assessment, Grade, is_too_late, verdict

_BEST_FIRST = list(Grade)
_GRADES = {grade.word: grade for grade in _BEST_FIRST[:-1]}
"""Those that something may be below."""

_SENT_NOTHING = ("late-traffic", "silent-traffic", "uncounted-traffic")

_TOO_LATE = (
    "packets of the real programs were too late to trust what was measured; required: an "
    "emulation that is in time"
)

Limit = Grade | Bound


def limit(text: str, what: str) -> Limit:
    """Reads a grade, or a condition such as `game p99 < 30`; raises `UnknownError`."""
    grade = _GRADES.get(text.strip().casefold())
    if grade is None and not any(sign in text for sign in "<>"):
        raise UnknownError(
            f"{what}: found {text!r}; allowed: {', '.join(_GRADES)}, or a condition, as "
            "'game p99 < 30'"
        )
    return grade or bound(text, what)


def failures(results: Results, limits: Sequence[Limit], names: Sequence[str] = ()) -> Iterator[str]:
    """A sentence for each limit that a setting does not reach.

    The settings are those with these names or variants, or else all but idle lines. A grade or
    measure that is missing is not reached, nor is a grade of traffic that sent nothing. Where an
    emulation was too late, no limit is reached, and that alone is said. Raises
    `NotMeasuredError` for a measure that no setting has, and `UnknownError` for an unknown name.
    """
    if not limits:
        return
    graded = verdict(results)
    loaded = [group for group in results.groups if group.name not in graded.idle_lines]
    if names:
        there = [name for group in loaded for name in group.names]
        for name in names:
            if name not in graded.idle_lines:
                look_up("--of", name, list(dict.fromkeys(there)))
        loaded = [*results.only(names).groups]
    if any(isinstance(one, Grade) for one in limits):
        yield from graded.unwatched
    if late := [group for group in loaded if any(is_too_late(run.meta) for run in group.runs)]:
        yield from (_named(group, _TOO_LATE) for group in late)
        return
    for one in limits:
        for group, failure in (
            _below(one, loaded, graded.groups) if isinstance(one, Grade) else _beyond(one, loaded)
        ):
            yield _named(group, failure)


def _named(group: Group, failure: str) -> str:
    return f"{group.name}: {failure}" if group.name else failure


def ungraded(results: Results, limits: Sequence[Limit]) -> str:
    """The sentence on traffic that a required grade is not of, or an empty one."""
    requires = any(isinstance(one, Grade) for one in limits)
    return verdict(results).ungraded if requires else ""


def _below(
    least: Grade, groups: Sequence[Group], assessments: Mapping[str, Sequence[Assessment]]
) -> Iterator[tuple[Group, str]]:
    for group in groups:
        yield from ((group, f"{why}; required: {least.word}") for why in _silent(group))
        if not assessments[group.name]:
            yield group, f"nothing has a grade; required: {least.word}"
        for one in assessments[group.name]:
            if one.grade is None:
                why = f"{one.application} has no grade: {one.summary}"
                yield group, f"{why}; required: {least.word}"
            elif _BEST_FIRST.index(one.grade) > _BEST_FIRST.index(least):
                is_so = "fails" if one.grade is Grade.FAILS else f"is {one.grade.word}"
                is_so = f"{one.application} {is_so}: {one.summary}"
                yield group, f"{is_so}; required: {least.word}"


def _silent(group: Group) -> Iterator[str]:
    """Why traffic has no grade that would have one: it sent nothing with some seed."""
    own = [dotted(["traffic", name]) for name in group.first.facts.traffic]
    warnings = (one for run in group.runs for one in run.warnings)
    said = (str(one) for one in warnings if one.code in _SENT_NOTHING and one.path in own)
    return (f"no grade, since {why}" for why in dict.fromkeys(said))


def _beyond(condition: Bound, groups: Sequence[Group]) -> Iterator[tuple[Group, str]]:
    measure = condition.named.among(run for group in groups for run in group.runs)
    for group in groups:
        mean = measure.over(group.runs).mean
        if mean is not None and condition.holds(mean):
            continue
        found = "was not measured" if mean is None else f"is {_number(mean, measure, condition)}"
        yield group, f"{measure.name} {found}; required: {condition.of(measure)}"


def _number(mean: float, measure: Measure, condition: Bound) -> str:
    """A value that fails, with more digits where the usual ones would hide that."""
    text = digits(mean)
    if condition.holds(float(text)):
        text = f"{mean:.9g}"
    return f"{text} {measure.unit}".rstrip()
