"""The question that results answer, the answer, and the settings that differ."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..analysis.curves import judged_by_latency, latencies
from ..analysis.groups import Group, Results
from ..base.grid import NOTHING, Grid, digits
from ..base.lookup import quoted
from ..base.toml_text import toml_value
from .grades import APPLICATIONS, Application, Assessment, assess, not_graded

_NAMED_AT_MOST = 8
_BEST_NAMED_AT_MOST = 3
_SELF_EVIDENT = ("title", "description", "seed")


@dataclass(frozen=True)
class Verdict:
    """The grades of each group, and a summary in sentences."""

    groups: Mapping[str, Sequence[Assessment]]
    sentences: Sequence[str]
    ungraded: str
    """A sentence that names the traffic without a grade, or an empty string."""

    @property
    def applications(self) -> list[Application]:
        """Applications graded in any group, in the order of `APPLICATIONS`."""
        there = {found.application.name for of_group in self.groups.values() for found in of_group}
        return [application for application in APPLICATIONS if application.name in there]

    def of(self, group: str, application: Application) -> Assessment | None:
        """The assessment of an application in a group."""
        return next(
            (found for found in self.groups[group] if found.application is application), None
        )


def verdict(results: Results) -> Verdict:
    """Grades results and summarizes the grades."""
    groups = {group.name: assess(group.runs) for group in results.groups}
    if results.is_comparison:
        by_variant = _by_variant(results, groups) if results.keys else []
        sentences = [*_side_by_side(groups), *by_variant, *_contrast(results.groups)]
    else:
        sentences = [_sentence(found) for found in groups[results.groups[0].name]]
    return Verdict(groups, sentences, _ungraded(results))


def question(results: Results) -> str:
    """The question that the report answers."""
    applications = sorted(
        {f.application.name for g in results.groups for f in assess(g.runs)}, key=_place
    )
    tests = _listed(applications)
    if not results.is_comparison:
        return (
            f"How well does this service work for {tests}?"
            if applications
            else "How does traffic fare?"
        )
    variants = list(dict.fromkeys(group.variant for group in results.groups if group.variant))
    settings = (
        _listed(variants)
        if 1 < len(variants) <= _NAMED_AT_MOST
        else f"{len(results.groups)} settings"
    )
    purpose = f" for {tests}" if applications else ""
    swept = f" as {_listed(list(results.keys))} varies" if results.keys else ""
    seeds = f" (mean of {results.seeds} seeds)" if results.seeds > 1 else ""
    return f"Which of {settings} works best{purpose}{swept}{seeds}?"


def differences(results: Results) -> Grid:
    """The keys whose values differ between groups: a row per key, a column per group."""
    settings = [group.first.settings for group in results.groups]
    return settings_grid([group.name for group in results.groups], settings)


def settings_grid(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> Grid:
    """The same for complete scenarios with these names."""
    flat = [dict(_flattened(one)) for one in settings]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows = [
        [key, *(_as_toml(one[key]) if key in one else NOTHING for one in flat)]
        for key in keys
        if len({repr(one.get(key)) for one in flat}) > 1
    ]
    return Grid("Settings that differ", ["key", *names], rows)


def _ungraded(results: Results) -> str:
    """Names the traffic entries without a grade, by kind."""
    by_kind: dict[str, list[str]] = {}
    traffic = {n: e for g in results.groups for n, e in g.first.settings["traffic"].items()}
    for name in dict.fromkeys(n for g in results.groups for n in not_graded(g.first)):
        kind = traffic[name].get("purpose") or traffic[name]["kind"]
        by_kind.setdefault(kind.replace("_", " "), []).append(name)
    told = [
        kind if names == [kind] else f"{kind} ({_some(names)})" for kind, names in by_kind.items()
    ]
    return f"Not graded: {', '.join(told)}." if told else ""


def _some(names: Sequence[str]) -> str:
    return _listed(names) if len(names) <= _NAMED_AT_MOST else f"{len(names)} entries"


def _place(application: str) -> int:
    return [known.name for known in APPLICATIONS].index(application)


def _side_by_side(groups: Mapping[str, Sequence[Assessment]]) -> list[str]:
    best = [name for name, found in groups.items() if _faults(found) == []]
    others = {name: faults for name, found in groups.items() if (faults := _faults(found))}
    if not any(groups.values()):
        return ["No traffic in this scenario has grades."]
    tests = dict.fromkeys(one.application.name for found in groups.values() for one in found)
    are_named = len(groups) <= _NAMED_AT_MOST or len(best) <= _BEST_NAMED_AT_MOST
    which = _listed(best) if are_named else f"{len(best)} of {len(groups)} settings"
    verb = "scores" if len(best) < 2 else "score"
    first = f"{which if best else 'No setting'} {verb} Good on every test ({_listed(list(tests))})."
    if len(others) > _NAMED_AT_MOST:
        return [first]
    return [first, *(f"{name}: {', '.join(faults)}." for name, faults in others.items())]


def _by_variant(results: Results, groups: Mapping[str, Sequence[Assessment]]) -> list[str]:
    """In a sweep, the number of settings in which each variant is good on every test."""
    settings: dict[str, list[str]] = {}
    for group in results.groups:
        settings.setdefault(group.variant, []).append(group.name)
    if not 1 < len(settings) <= _NAMED_AT_MOST:
        return []
    return [
        f"{variant} scores Good on every test in "
        f"{sum(not _faults(groups[name]) for name in names)} of {len(names)} settings."
        for variant, names in settings.items()
    ]


def _faults(found: Sequence[Assessment]) -> list[str]:
    """The applications that are not good, by grade; unmeasured ones are included."""
    by_word: dict[str, list[str]] = {}
    for word in ("poor", "fair", "not measured"):
        for one in found:
            if word == (one.grade.word if one.grade else "not measured"):
                by_word.setdefault(word, []).append(one.application.name)
    return [f"{_listed(names)} {word}" for word, names in by_word.items()]


def _contrast(groups: Sequence[Group]) -> list[str]:
    """The best and the worst group by the 90 % quantile of game or voice latency."""
    quality, select = judged_by_latency(groups)
    if quality not in ("game", "voice"):
        return []
    samples = {group.name: values for group in groups if (values := latencies([group], select))}
    p90_ms = {n: max(s.values.quantile(0.9) or 0.0 for s in found) for n, found in samples.items()}
    if len(p90_ms) < 2:
        return []
    least, most = min(p90_ms, key=p90_ms.__getitem__), max(p90_ms, key=p90_ms.__getitem__)
    return [
        f"90 % of {quality} packets arrive within {digits(p90_ms[least])} ms with {least}, "
        f"and within {digits(p90_ms[most])} ms with {most}."
    ]


def _sentence(found: Assessment) -> str:
    grade = found.grade.word if found.grade else "not graded"
    return f"{found.application.name.capitalize()} is {grade}: {found.summary}."


def _listed(words: Sequence[str]) -> str:
    told = [quoted(word) for word in words]
    if len(told) < 2:
        return "".join(told)
    return f"{', '.join(told[:-1])} and {told[-1]}"


def _as_toml(value: Any) -> str:
    """A value as in a scenario file; strings are without quotes."""
    return value if isinstance(value, str) else toml_value(value)


def _flattened(settings: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys with their values; keys without a value are skipped."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{path}{key}.")
        elif value is not None and path + key not in _SELF_EVIDENT:
            yield path + key, value
