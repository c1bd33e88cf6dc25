"""The answer of a search in sentences."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .conditions import Holds
from .search import Edge, Points, Span, Values


@dataclass(frozen=True)
class Words:
    """What sentences need of the key that was searched."""

    key: str
    steps: Values
    say: Callable[[float], str]
    """A value of the key with its unit."""


def sentences(
    conditions: Mapping[str, Points], spans: Sequence[Span], whole: Span, words: Words
) -> Iterator[str]:
    """The joint answer first, then that of each condition if there are several, then doubts."""
    if len(conditions) > 1:
        yield from _sentences("Together the conditions", whole, words, are_many=True)
    for (text, points), span in zip(conditions.items(), spans, strict=True):
        yield from _exceptions(text, points, span, words) or _sentences(text, span, words)
    for (text, points), span in zip(conditions.items(), spans, strict=True):
        yield from _doubts(text, points, span, words.say)
    if all(judged.seeds == 1 for points in conditions.values() for judged in points.values()):
        yield "A single seed has no interval: with another seed the answer may differ."


def _sentences(subject: str, span: Span, words: Words, *, are_many: bool = False) -> Iterator[str]:
    """Where conditions hold, where they fail, and what is undecided."""
    say = words.say
    holds, fails = ("hold", "They fail") if are_many else ("holds", "It fails")
    ends = f"from {say(span.low)} to {say(span.high)}"
    if span.is_uneven:
        yield (
            f"{subject} {holds} and {fails.split()[1]} in turns {ends} of {words.key}: "
            "search a range in which that changes once."
        )
        return
    match span.flat:
        case Holds.YES:
            yield f"{subject} {holds} at all probed values {ends} of {words.key}."
        case Holds.NO:
            yield f"{subject} {holds} at no probed value {ends} of {words.key}."
        case Holds.UNDECIDED:
            yield (
                f"{subject}: undecided {ends} of {words.key}; more seeds or a longer duration "
                "decide more."
            )
        case None:
            where = _where(span, say)
            yield (
                f"{subject} {holds} with {words.key} {where}."
                if where
                else (f"{subject} surely {holds} at no probed value {ends} of {words.key}.")
            )
            if failing := " and ".join(_failing(span, say)):
                yield f"{fails} {failing}."
            if between := " and between ".join(_undecided(span, words)):
                yield f"Undecided is what lies between {between}."


def _where(span: Span, say: Callable[[float], str]) -> str:
    if span.holds is None:
        return ""
    low, high = map(say, span.holds)
    if span.least and span.greatest:
        return f"from {low} to {high}"
    return f"up to {high}" if span.greatest else f"from {low} on"


def _failing(span: Span, say: Callable[[float], str]) -> Iterator[str]:
    if span.least and span.least.fails is not None:
        yield f"up to {say(span.least.fails)}"
    if span.greatest and span.greatest.fails is not None:
        yield f"from {say(span.greatest.fails)} on"


def _undecided(span: Span, words: Words) -> Iterator[str]:
    for edge, outer, inner in (
        (span.least, span.low, span.high),
        (span.greatest, span.high, span.low),
    ):
        if edge and (between := _between(edge, outer, inner, words.steps)):
            yield " and ".join(map(words.say, sorted(between)))


def _between(edge: Edge, outer: float, inner: float, steps: Values) -> tuple[float, float] | None:
    """The values around an edge, or the end of what was probed where one of them is unknown."""
    holds, fails = _around(edge, outer, inner)
    is_known = None not in (edge.holds, edge.fails)
    return None if is_known and steps.are_close(holds, fails) else (holds, fails)


def _around(edge: Edge, outer: float, inner: float) -> tuple[float, float]:
    holds = inner if edge.holds is None else edge.holds
    return holds, outer if edge.fails is None else edge.fails


def _exceptions(text: str, points: Points, span: Span, words: Words) -> list[str]:
    """A sentence, if some values alone are undecided and all others are alike."""
    undecided = [value for value in sorted(points) if points[value].holds is Holds.UNDECIDED]
    if span.flat is not Holds.UNDECIDED or len(undecided) == len(points):
        return []
    does = "holds" if points[span.low].holds is Holds.YES else "fails"
    ends = f"from {words.say(span.low)} to {words.say(span.high)} of {words.key}"
    where = ", ".join(map(words.say, undecided))
    return [f"{text} {does} at all probed values {ends} except {where}, where it is undecided."]


def _doubts(text: str, points: Points, span: Span, say: Callable[[float], str]) -> Iterator[str]:
    for fails, holds in span.contradictions:
        yield (
            f"The points are in no order: {text} fails at {say(fails)} and holds at {say(holds)}."
        )
    edge = span.greatest or span.least
    if edge:
        outer, inner = (span.high, span.low) if span.greatest else (span.low, span.high)
        low, high = sorted(_around(edge, outer, inner))
        odd = [v for v in sorted(points) if points[v].holds is Holds.UNDECIDED]
        if where := ", ".join(say(value) for value in odd if not low <= value <= high):
            yield f"{text} is undecided at {where} too."
    missing = [value for value in sorted(points) if points[value].value.n < points[value].seeds]
    if missing:
        where = ", ".join(map(say, missing))
        yield f"{text} fails where nothing was measured with some seeds: at {where}."
