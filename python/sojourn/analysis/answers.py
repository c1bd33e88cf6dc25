"""The answer of a search in sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
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
    yield from _rests_on([span_of([points]) for points in conditions.values()], words)
    yield _probed(next(iter(conditions.values())))


def _rests_on(spans: Sequence[Span], words: Words) -> Iterator[str]:
    """What would say more."""
    if any(span.undecided for span in spans):
        yield "More seeds or a longer duration decide more."
    if any(span.unprobed(words.steps) for span in spans):
        yield "A smaller step comes nearer."


def _probed(points: Points) -> str:
    count, seeds = len(points), max(judged.seeds for judged in points.values())
    probed = f"{count} values were probed" if count > 1 else "One value was probed"
    if seeds > 1:
        return f"{probed} with {seeds} seeds each."
    return f"{probed} with a single seed, which has no interval: another seed may answer otherwise."


def _sentences(subject: str, span: Span, words: Words, *, are_many: bool = False) -> Iterator[str]:
    """Where conditions hold, where they fail, and what is undecided."""
    say = words.say
    holds, fails = ("hold", "They fail") if are_many else ("holds", "It fails")
    ends = f"from {say(span.low)} to {say(span.high)} of {words.key}"
    if span.low == span.high:
        ends = f"there is, {say(span.low)} of {words.key}"
    if len(span.stretches) == 1:
        match span.stretches[0].holds:
            case Holds.YES:
                yield f"{subject} {holds} at all probed values {ends}."
            case Holds.NO:
                yield f"{subject} {holds} at no probed value {ends}."
            case Holds.UNDECIDED:
                yield f"{subject}: undecided at all probed values {ends}."
        return
    if where := _where(Holds.YES, span, say):
        yield f"{subject} {holds} with {words.key} {where}."
    else:
        yield f"{subject} surely {holds} at no probed value {ends}."
    if where := _where(Holds.NO, span, say):
        yield f"{fails} {where}."
    if undecided := _between(span.undecided, say):
        yield f"Undecided is what lies {undecided}."
    if unprobed := _between(span.unprobed(words.steps), say):
        yield f"Not probed is what lies {unprobed}."


def _between(ranges: Sequence[tuple[float, float]], say: Callable[[float], str]) -> str:
    return " and ".join(f"between {say(low)} and {say(high)}" for low, high in ranges)


def _where(holds: Holds, span: Span, say: Callable[[float], str]) -> str:
    """The stretches at which this is so."""
    return " and ".join(_place(one, span, say) for one in span.of(holds))


def _place(one: Stretch, span: Span, say: Callable[[float], str]) -> str:
    low, high = say(one.low), say(one.high)
    if one.low == span.low:
        return f"up to {high}"
    if one.high == span.high:
        return f"from {low} on"
    return f"at {low}" if one.low == one.high else f"from {low} to {high}"


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
