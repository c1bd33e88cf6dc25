"""Searches the values of a key at which conditions hold: which to probe next, and the answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
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

    def has_between(self, one: float, other: float) -> bool:
        """Has the key values between these two?"""
        return not self.is_whole or abs(one - other) > 1

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
class Stretch:
    """Probed values beside each other at which the same is so."""

    holds: Holds
    low: float
    high: float


@dataclass(frozen=True)
class Span:
    """What is so at the probed values: the stretches in their order."""

    stretches: Sequence[Stretch]

    @property
    def low(self) -> float:
        """The least probed value."""
        return self.stretches[0].low

    @property
    def high(self) -> float:
        """The greatest probed value."""
        return self.stretches[-1].high

    def of(self, *holds: Holds) -> list[Stretch]:
        """The stretches at which this is so."""
        return [one for one in self.stretches if one.holds in holds]

    @property
    def holds(self) -> tuple[float, float] | None:
        """The ends of the widest stretch at which the conditions surely hold, the last of several.

        `None` if there is none.
        """
        all_that_hold = self.of(Holds.YES)
        widest = max(all_that_hold, key=lambda one: (one.high - one.low, one.low), default=None)
        return (widest.low, widest.high) if widest else None

    @property
    def edge(self) -> tuple[float | None, float | None] | None:
        """The last value of that stretch, and the first beyond it that surely fails.

        Beyond is above it, or below it if nothing above it fails. `None` if it holds everywhere, or
        if it holds nowhere and both ends are alike; one of both if there is no such value.
        """
        fails = self.of(Holds.NO)
        if self.holds is None:
            ends = [one for one in fails if one in (self.stretches[0], self.stretches[-1])]
            if len(ends) != 1 or len(self.stretches) == 1:
                return None
            return None, ends[0].low if ends[0] is self.stretches[-1] else ends[0].high
        low, high = self.holds
        above = [one.low for one in fails if one.low > high]
        below = [one.high for one in fails if one.high < low]
        if above or (high < self.high and not below):
            return high, min(above, default=None)
        return (low, max(below, default=None)) if low > self.low else None

    @property
    def changes(self) -> int:
        """How often conditions that hold cease to, or the reverse."""
        decided = self.of(Holds.YES, Holds.NO)
        return sum(one.holds is not other.holds for one, other in pairwise(decided))

    @property
    def undecided(self) -> list[tuple[float, float]]:
        """Between which values the seeds decide nothing: decided ones, or an end of the probed."""
        befores = [self.low, *(one.high for one in self.stretches)]
        afters = [*(one.low for one in self.stretches[1:]), self.high]
        return [
            (before, after)
            for one, before, after in zip(self.stretches, befores, afters, strict=False)
            if one.holds is Holds.UNDECIDED
        ]

    def unprobed(self, values: Values) -> list[tuple[float, float]]:
        """Between which neighbours that are decided otherwise there are values."""
        return [
            (one.high, other.low)
            for one, other in pairwise(self.stretches)
            if Holds.UNDECIDED not in (one.holds, other.holds)
            and values.has_between(one.high, other.low)
        ]


def span_of(conditions: Sequence[Points]) -> Span:
    """Where conditions hold together that were probed at the same values."""
    found = {value: min(points[value].holds for points in conditions) for value in conditions[0]}
    stretches = [
        (holds, list(beside)) for holds, beside in groupby(sorted(found), key=found.__getitem__)
    ]
    return Span([Stretch(holds, beside[0], beside[-1]) for holds, beside in stretches])


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
    """What to probe between two values, to narrow where it changes or to look between equal ends.

    These are the outermost changes, of what is undecided and of what is not.
    """
    probed = sorted(points)
    found = [points[value].holds for value in probed]
    changes = [n for n in range(1, len(found)) if found[n] != found[n - 1]]
    decided = [n for n, holds in enumerate(found) if holds is not Holds.UNDECIDED]
    turns = [(n, m) for n, m in pairwise(decided) if found[n] != found[m]]
    places = {*changes[:1], *changes[-1:]}
    places.update(place for n, m in turns[:1] + turns[-1:] for place in (n + 1, m))
    for place in places or {1} & {len(found) - 1}:
        if not values.are_close(probed[place - 1], probed[place]):
            yield values.between(probed[place - 1], probed[place])


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
