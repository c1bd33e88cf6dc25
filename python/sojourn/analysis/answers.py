"""The answer of a search in sentences."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from .conditions import Holds
from .search import Points, Span, Stretch, Values, span_of


@dataclass(frozen=True)
class Words:
    """What sentences need of the key that was searched."""

    key: str
    steps: Values
    say: Callable[[float], str]
    """A value of the key with its unit."""


def sentences(conditions: Mapping[str, Points], words: Words) -> Iterator[str]:
    """The joint answer first, then that of each condition if there are several, then doubts."""
    if len(conditions) > 1:
        together = span_of([*conditions.values()])
        yield from _sentences("Together the conditions", together, words, are_many=True)
    for text, points in conditions.items():
        yield from _sentences(text, span_of([points]), words)
    for text, points in conditions.items():
        yield from _doubts(text, points, words)
    if all(judged.seeds == 1 for points in conditions.values() for judged in points.values()):
        yield "A single seed has no interval: with another seed the answer may differ."


def _sentences(subject: str, span: Span, words: Words, *, are_many: bool = False) -> Iterator[str]:
    """Where conditions hold, where they fail, and what is undecided."""
    say = words.say
    holds, fails = ("hold", "They fail") if are_many else ("holds", "It fails")
    ends = f"from {say(span.low)} to {say(span.high)} of {words.key}"
    if len(span.stretches) == 1:
        match span.stretches[0].holds:
            case Holds.YES:
                yield f"{subject} {holds} at all probed values {ends}."
            case Holds.NO:
                yield f"{subject} {holds} at no probed value {ends}."
            case Holds.UNDECIDED:
                yield f"{subject}: undecided {ends}; more seeds or a longer duration decide more."
        return
    if where := _where(Holds.YES, span, say):
        yield f"{subject} {holds} with {words.key} {where}."
    else:
        yield f"{subject} surely {holds} at no probed value {ends}."
    if where := _where(Holds.NO, span, say):
        yield f"{fails} {where}."
    between = [f"{say(low)} and {say(high)}" for low, high in span.undecided(words.steps)]
    if between:
        yield f"Undecided is what lies between {' and between '.join(between)}."


def _where(holds: Holds, span: Span, say: Callable[[float], str]) -> str:
    """The stretches at which this is so."""
    return " and ".join(_place(one, span, say) for one in span.of(holds))


def _place(one: Stretch, span: Span, say: Callable[[float], str]) -> str:
    low, high = say(one.low), say(one.high)
    if one.low == span.low:
        return f"up to {high}"
    return f"from {low} on" if one.high == span.high else f"from {low} to {high}"


def _doubts(text: str, points: Points, words: Words) -> Iterator[str]:
    if span_of([points]).changes > 1:
        yield (
            f"{text} holds and fails in turns, and may change again between the probed values: "
            "search a range in which that changes once."
        )
    missing = [value for value in sorted(points) if points[value].value.n < points[value].seeds]
    if missing:
        where = ", ".join(map(words.say, missing))
        yield f"{text} fails where nothing was measured with some seeds: at {where}."
