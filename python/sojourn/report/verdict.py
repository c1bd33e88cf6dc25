"""The question that results answer, the answer in plain words, and what was compared."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..analysis.curves import judged_by_latency, latencies
from ..analysis.groups import Group, Results
from ..base.grid import NOTHING, Grid, digits
from ..base.lookup import quoted
from ..base.toml_text import toml_value
from .grades import USES, Judged, Use, judged, not_graded

_NAMED_AT_MOST = 8
_BEST_NAMED_AT_MOST = 3
_SELF_EVIDENT = ("title", "description", "seed")


@dataclass(frozen=True)
class Verdict:
    """The grades of each group, and what they come to."""

    groups: Mapping[str, Sequence[Judged]]
    sentences: Sequence[str]
    ungraded: str
    """What else there is, that has no grade: a sentence, or nothing."""

    @property
    def uses(self) -> list[Use]:
        """What any group was judged by, in the order of `USES`."""
        there = {found.use.name for of_group in self.groups.values() for found in of_group}
        return [use for use in USES if use.name in there]

    def of(self, group: str, use: Use) -> Judged | None:
        """The grade of a group for a use."""
        return next((found for found in self.groups[group] if found.use is use), None)


def verdict(results: Results) -> Verdict:
    """Judges results."""
    groups = {group.name: judged(group.runs) for group in results.groups}
    if results.is_comparison:
        by_variant = _by_variant(results, groups) if results.keys else []
        sentences = [*_side_by_side(groups), *by_variant, *_contrast(results.groups)]
    else:
        sentences = [_sentence(found) for found in groups[results.groups[0].name]]
    return Verdict(groups, sentences, _ungraded(results))


def question(results: Results) -> str:
    """What is asked of results like these."""
    uses = sorted({f.use.name for g in results.groups for f in judged(g.runs)}, key=_place)
    people = f"who is at home ({_listed(uses)})" if uses else "who is at home"
    if not results.is_comparison:
        return f"How well does this line serve {people}?"
    variants = list(dict.fromkeys(group.variant for group in results.groups if group.variant))
    which = (
        f"Which of {_listed(variants)} serves {people} best"
        if 1 < len(variants) <= _NAMED_AT_MOST
        else f"Which of {len(results.groups)} settings serves {people} best"
    )
    swept = f", over values of {_listed(list(results.keys))}" if results.keys else ""
    seeds = f", in the mean of {results.seeds} seeds" if results.seeds > 1 else ""
    return f"{which}{swept}{seeds}?"


def differences(results: Results) -> Grid:
    """The keys whose values are not the same in all groups: a row each, a column for each group."""
    settings = [group.first.settings for group in results.groups]
    return settings_grid([group.name for group in results.groups], settings)


def settings_grid(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> Grid:
    """The same of scenarios in full, by their names."""
    flat = [dict(_flattened(one)) for one in settings]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows = [
        [key, *(_as_toml(one[key]) if key in one else NOTHING for one in flat)]
        for key in keys
        if len({repr(one.get(key)) for one in flat}) > 1
    ]
    return Grid("What differs; all else is the same", ["key", *names], rows)


def _ungraded(results: Results) -> str:
    """The entries that are not graded, by what they do."""
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


def _place(use: str) -> int:
    return [known.name for known in USES].index(use)


def _side_by_side(groups: Mapping[str, Sequence[Judged]]) -> list[str]:
    best = [name for name, found in groups.items() if _faults(found) == []]
    others = {name: faults for name, found in groups.items() if (faults := _faults(found))}
    if not any(groups.values()):
        return ["There is nothing in it that is graded."]
    uses = dict.fromkeys(one.use.name for found in groups.values() for one in found)
    graded = f"All that is graded ({_listed(list(uses))}) is good with"
    first = (
        f"{graded} {_listed(best)}."
        if best and (len(groups) <= _NAMED_AT_MOST or len(best) <= _BEST_NAMED_AT_MOST)
        else f"{graded} {len(best)} of {len(groups)} settings."
        if best
        else "Nothing here is good at everything that is graded."
    )
    if len(others) > _NAMED_AT_MOST:
        return [first]
    return [first, *(f"{name}: {', '.join(faults)}." for name, faults in others.items())]


def _by_variant(results: Results, groups: Mapping[str, Sequence[Judged]]) -> list[str]:
    """Of a sweep: in how many settings each variant is good at everything."""
    settings: dict[str, list[str]] = {}
    for group in results.groups:
        settings.setdefault(group.variant, []).append(group.name)
    if not 1 < len(settings) <= _NAMED_AT_MOST:
        return []
    return [
        f"{variant}: everything is good in {sum(not _faults(groups[name]) for name in names)} "
        f"of {len(names)} settings."
        for variant, names in settings.items()
    ]


def _faults(found: Sequence[Judged]) -> list[str]:
    """What is not good, by grade; what could not be measured counts among it."""
    by_word: dict[str, list[str]] = {}
    for word in ("poor", "fair", "not measured"):
        for one in found:
            if word == (one.grade.word if one.grade else "not measured"):
                by_word.setdefault(word, []).append(one.use.name)
    return [f"{_listed(names)} {word}" for word, names in by_word.items()]


def _contrast(groups: Sequence[Group]) -> list[str]:
    """How far the best and the worst are apart, in the latency that matters most."""
    quality, select = judged_by_latency(groups)
    if quality not in ("game", "voice"):
        return []
    samples = {group.name: values for group in groups if (values := latencies([group], select))}
    p90_ms = {n: max(s.values.quantile(0.9) or 0.0 for s in found) for n, found in samples.items()}
    if len(p90_ms) < 2:
        return []
    least, most = min(p90_ms, key=p90_ms.__getitem__), max(p90_ms, key=p90_ms.__getitem__)
    return [
        f"Nine of ten {quality} packets arrive within {digits(p90_ms[least])} ms with {least}, "
        f"within {digits(p90_ms[most])} ms with {most}."
    ]


def _sentence(found: Judged) -> str:
    grade = found.grade.word if found.grade else "not graded"
    return f"The {found.use.name} is {grade}: {found.words}."


def _listed(words: Sequence[str]) -> str:
    told = [quoted(word) for word in words]
    if len(told) < 2:
        return "".join(told)
    return f"{', '.join(told[:-1])} and {told[-1]}"


def _as_toml(value: Any) -> str:
    """A value as in a scenario, but words without their quotes."""
    return value if isinstance(value, str) else toml_value(value)


def _flattened(settings: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    """Keys with their paths and values; a key without a value is as good as missing."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{path}{key}.")
        elif value is not None and path + key not in _SELF_EVIDENT:
            yield path + key, value
