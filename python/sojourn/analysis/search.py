"""Searches the values of a key at which conditions hold: which to probe next, and the answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isclose, log10, sqrt

from .conditions import Holds, Judged

_TOLERANCE = 0.02
"""Two values are as good as one if they differ by this share."""
_DIGITS = 3
"""Significant digits of values that are probed."""
_DOUBLINGS = 6
"""The search reaches this often twice as far from its start, to each side."""

Points = Mapping[float, Judged]
"""What was found of a condition, by the value of the key."""


@dataclass(frozen=True)
class Values:
    """The values of a key that may be probed."""

    low: float
    high: float
    start: float | None = None
    """Where the search starts, to double from there; `None` to bisect between the ends."""
    is_whole: bool = False
    step: float | None = None

    def are_close(self, one: float, other: float) -> bool:
        """Need nothing between these two be probed?"""
        gap = abs(one - other)
        if self.step is not None:
            return gap < 1.5 * self.step
        return gap <= max(self._least, _TOLERANCE * max(abs(one), abs(other)))

    @property
    def _least(self) -> float:
        """The least distance: near 0 a share of the value would be none."""
        if self.is_whole:
            return 1.0
        has_zero = self.start is None and self.low <= 0 <= self.high
        return _TOLERANCE**2 * (self.high - self.low) if has_zero else 0.0

    def between(self, one: float, other: float) -> float:
        """A value in the middle of two that are not close: a round one, or a number of steps."""
        low, high = sorted((one, other))
        middle = sqrt(low * high) if 0 < 2 * low < high else (low + high) / 2
        if self.step is not None:
            return low + max(1, round((middle - low) / self.step)) * self.step
        rounded = _rounded(middle)
        middle = rounded if low < rounded < high else middle
        return min(max(round(middle), low + 1), high - 1) if self.is_whole else middle

    def beyond(self, end: float, is_up: bool) -> float:
        """Twice or half of a value, as far as there are such."""
        value = end * 2 if is_up else end / 2
        return min(max(floor(value) if self.is_whole else value, self.low), self.high)


def _rounded(value: float) -> float:
    if value == 0:
        return value
    return round(value, _DIGITS - 1 - floor(log10(abs(value))))


@dataclass(frozen=True)
class Edge:
    """Where conditions cease to hold, seen from the side that holds."""

    holds: float | None
    """It surely holds, and no value before it fails; `None` if there is none."""
    fails: float | None
    """It surely fails, and no value after it holds; `None` if there is none."""


@dataclass(frozen=True)
class Span:
    """At which values conditions hold."""

    low: float
    high: float
    """The ends of what was probed."""
    least: Edge | None = None
    """The lower edge of what holds; `None` if it holds down to `low`."""
    greatest: Edge | None = None
    """The upper edge; `None` if it holds up to `high`."""
    flat: Holds | None = None
    """What is so at all probed values, where there is no edge."""
    is_uneven: bool = False
    """Do the conditions change more than once?"""
    contradictions: Sequence[tuple[float, float]] = ()
    """Values that fail before values that hold, seen from the side that holds."""

    @property
    def holds(self) -> tuple[float, float] | None:
        """The least and the greatest value at which the conditions surely hold, if there are."""
        if self.is_uneven or self.flat not in (None, Holds.YES):
            return None
        low = self.least.holds if self.least else self.low
        high = self.greatest.holds if self.greatest else self.high
        return None if low is None or high is None else (low, high)


def span_of(points: Points) -> Span:
    """Where a condition holds, which was probed at these values."""
    low, high = min(points), max(points)
    found = {judged.holds for judged in points.values()}
    ordered = _ordered(points)
    if ordered is None:
        is_uneven = {Holds.YES, Holds.NO} <= found
        flat = points[low].holds if len(found) == 1 else Holds.UNDECIDED
        return Span(low, high, flat=None if is_uneven else flat, is_uneven=is_uneven)
    edge, contradictions = _edge(points, ordered)
    is_upper = ordered[0] == low
    least, greatest = (None, edge) if is_upper else (edge, None)
    return Span(low, high, least, greatest, contradictions=contradictions)


def _ordered(points: Points) -> list[float] | None:
    """The values from the side that holds to the other; `None` if both sides are alike."""
    values = sorted(points)
    found = [points[value].holds for value in values]
    decided = [holds for holds in found if holds is not Holds.UNDECIDED]
    first, last = (decided or found)[0], (decided or found)[-1]
    if first == last and len(set(decided)) < 2:
        first, last = found[0], found[-1]
    if first == last:
        return None
    return values if first > last else values[::-1]


def _edge(points: Points, ordered: Sequence[float]) -> tuple[Edge, tuple[tuple[float, float], ...]]:
    """The edge of values that are ordered from the side that holds, and what contradicts it."""
    found = [points[value].holds for value in ordered]
    held, failed = _held(found), _failed(found)
    late = [n for n, holds in enumerate(found) if holds is Holds.YES and Holds.NO in found[:n]]
    return Edge(
        ordered[held - 1] if held else None, ordered[failed] if failed < len(found) else None
    ), tuple((ordered[found.index(Holds.NO)], ordered[n]) for n in late[-1:])


def _held(found: Sequence[Holds]) -> int:
    """The place after the last that holds, before the first that fails."""
    before = found[: found.index(Holds.NO)] if Holds.NO in found else found
    return max((n + 1 for n, holds in enumerate(before) if holds is Holds.YES), default=0)


def _failed(found: Sequence[Holds]) -> int:
    """The place of the first that fails, after the last that holds."""
    last = max((n for n, holds in enumerate(found) if holds is Holds.YES), default=-1)
    after = (n for n, holds in enumerate(found) if n > last and holds is Holds.NO)
    return next(after, len(found))


def joint(spans: Sequence[Span]) -> Span:
    """Where several conditions hold that were probed at the same values."""
    low, high = spans[0].low, spans[0].high
    contradictions = tuple(pair for span in spans for pair in span.contradictions)
    flats = {span.flat for span in spans}
    if Holds.NO in flats:
        return Span(low, high, flat=Holds.NO)
    if any(span.is_uneven for span in spans):
        return Span(low, high, is_uneven=True)
    least = _merged([span.least for span in spans if span.least], max)
    greatest = _merged([span.greatest for span in spans if span.greatest], min)
    if least is None and greatest is None:
        flat = Holds.UNDECIDED if Holds.UNDECIDED in flats else Holds.YES
        return Span(low, high, flat=flat)
    if Holds.UNDECIDED in flats:
        least, greatest = _unsure(least), _unsure(greatest)
    empty = _emptiness(least, greatest)
    if empty is not None:
        return Span(low, high, flat=empty, contradictions=contradictions)
    return Span(low, high, least, greatest, contradictions=contradictions)


def _merged(edges: Sequence[Edge], choose: Callable[[Iterator[float]], float]) -> Edge | None:
    """The edge of several conditions: the strictest."""
    if not edges:
        return None
    holds = [edge.holds for edge in edges]
    fails = [edge.fails for edge in edges if edge.fails is not None]
    return Edge(
        None if None in holds else choose(value for value in holds if value is not None),
        choose(iter(fails)) if fails else None,
    )


def _unsure(edge: Edge | None) -> Edge | None:
    return edge and Edge(None, edge.fails)


def _emptiness(least: Edge | None, greatest: Edge | None) -> Holds | None:
    """What is so everywhere if nothing lies between two edges."""
    if least is None or greatest is None:
        return None
    if None not in (least.fails, greatest.fails) and least.fails >= greatest.fails:  # type: ignore[operator]
        return Holds.NO
    if None not in (least.holds, greatest.holds) and least.holds > greatest.holds:  # type: ignore[operator]
        return Holds.UNDECIDED
    return None


def probes(
    conditions: Sequence[Points],
    are_upper: Sequence[bool],
    values: Values,
    accepts: Callable[[float], bool],
) -> Iterator[list[float]]:
    """The values to probe, which the caller adds to the points of each condition in between.

    `are_upper` says which conditions are upper bounds; `accepts`, whether the scenario takes a
    value, which is asked where the search doubles.
    """
    if values.start is None:
        yield [values.low, values.high]
    else:
        yield from _doubling(conditions, are_upper, values, values.start, accepts)
    while wanted := {value for points in conditions for value in _next(points, values)}:
        yield sorted(wanted)


def _next(points: Points, values: Values) -> Iterator[float]:
    """What to probe to narrow the edge of a condition, or to look between equal ends."""
    ordered = _ordered(points)
    if ordered is None:
        ends = sorted(points)
        if len(ends) == 2 and not values.are_close(*ends):
            yield values.between(*ends)
        return
    found = [points[value].holds for value in ordered]
    for place in {_held(found), _failed(found)} - {0, len(found)}:
        if not values.are_close(ordered[place - 1], ordered[place]):
            yield values.between(ordered[place - 1], ordered[place])


def _doubling(
    conditions: Sequence[Points],
    are_upper: Sequence[bool],
    values: Values,
    start: float,
    accepts: Callable[[float], bool],
) -> Iterator[list[float]]:
    """Doubles and halves until each condition holds at one value and fails at another."""
    ends = {True: start, False: start}
    left = {True: _DOUBLINGS, False: _DOUBLINGS}
    yield [start]
    while True:
        sides = {is_up for is_up, count in left.items() if count}
        pairs = zip(conditions, are_upper, strict=True)
        wanted = {_side(points, is_upper, sides) for points, is_upper in pairs}
        there = []
        for is_up in wanted - {None}:
            assert is_up is not None
            value = values.beyond(ends[is_up], is_up)
            if value == ends[is_up] or not accepts(value):
                left[is_up] = 0
                continue
            ends[is_up], left[is_up] = value, left[is_up] - 1
            there.append(value)
        if there:
            yield sorted(there)
        elif wanted == {None}:
            return


def _side(points: Points, is_upper: bool, sides: set[bool]) -> bool | None:
    """To which side to look further: is it up? `None` if not at all."""
    if {Holds.YES, Holds.NO} <= {judged.holds for judged in points.values()}:
        return None
    low, high = points[min(points)], points[max(points)]
    if low.holds != high.holds:
        is_up = high.holds is Holds.UNDECIDED
        return is_up if is_up in sides else None
    is_up = _is_better(high, low, is_upper) != (low.holds is Holds.YES)
    return is_up if is_up in sides else next(iter(sides), None)


def _is_better(one: Judged, other: Judged, is_upper: bool) -> bool:
    """Is the first nearer to what the condition requires? Equal ones are."""
    if one.value.mean is None or other.value.mean is None:
        return one.value.mean is not None
    if isclose(one.value.mean, other.value.mean):
        return other.holds is not Holds.YES
    return (one.value.mean < other.value.mean) == is_upper
