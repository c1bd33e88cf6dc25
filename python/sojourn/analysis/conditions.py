"""Measures by the names that people type, and conditions on them: bounds and precisions."""

import math
import operator
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from ..base.lookup import UnknownError, look_up
from .measures import MEASURES, Measure
from .statistics import Value, over_seeds
from .tables import RunTables

_ROUND_TRIP = re.compile(r"\brtt\b", re.IGNORECASE)
_COMPARES: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BOUND = re.compile(r"(?P<name>[^<>=]*)(?P<sign>[<>]=?)(?P<value>[^<>=]*)")
_QUANTITY = re.compile(r"(?P<number>[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)\s*(?P<unit>.*)", re.IGNORECASE)
_PRECISION = re.compile(r"(?P<name>.*\S)\s+(?P<number>\S+?)\s*%")


class NotMeasuredError(UnknownError):
    """A measure that the runs do not have."""


@dataclass(frozen=True)
class Named:
    """The measures that a name may stand for; the runs decide which of them it is."""

    what: str
    """The option or parameter that has the name, for messages."""
    text: str
    candidates: Sequence[Measure]
    """A round trip comes before the one-way measure of the same name."""

    def among(self, runs: Iterable[RunTables]) -> Measure:
        """The measure that all of the runs have, or else any; raises `NotMeasuredError`."""
        runs = list(runs)
        for enough in (all, any):
            for measure in self.candidates:
                if enough(measure.applies([run]) for run in runs):
                    return measure
        there = [measure.name for measure in MEASURES if measure.applies(runs)]
        raise NotMeasuredError(
            f"{self.what}: found {self.text!r}, which is not measured here; "
            f"allowed: {', '.join(there) or 'none, since nothing is measured here'}"
        )


class Holds(IntEnum):
    """Is a condition true, by the mean over seeds and its interval?"""

    NO = 0
    UNDECIDED = 1
    YES = 2

    @property
    def word(self) -> str:
        """It as a word."""
        return self.name.lower()


@dataclass(frozen=True)
class Judged:
    """What was measured over seeds, and whether a condition holds."""

    value: Value
    seeds: int
    """The number of runs, of which some may have no value."""
    holds: Holds


@dataclass(frozen=True)
class Bound:
    """A condition such as `game p99 < 30`."""

    named: Named
    sign: str
    value: float

    def of(self, measure: Measure) -> str:
        """The condition with the full name of the measure and its unit."""
        return f"{measure.name} {self.sign} {self.value:g} {measure.unit}".rstrip()

    @cached_property
    def is_upper(self) -> bool:
        """Must the measure stay below the value?"""
        return self.sign.startswith("<")

    def holds(self, value: float) -> bool:
        """Is it true of this value?"""
        return _COMPARES[self.sign](value, self.value)

    def judged(self, values: Sequence[float | None]) -> Judged:
        """Does it hold for the whole 95 % interval over seeds, for none of it, or for a part?

        It does not where nothing was measured. The value of a single seed has no interval.
        """
        value = over_seeds(values)
        ends = [value.mean] if value.low is None else [value.low, value.high]
        held = {self.holds(end) for end in ends if end is not None}
        if value.n < len(values) or held == {False}:
            return Judged(value, len(values), Holds.NO)
        return Judged(value, len(values), Holds.YES if held == {True} else Holds.UNDECIDED)


@dataclass(frozen=True)
class Precision:
    """A half-width of the 95 % interval, in percent of the mean, such as `game p99 5%`."""

    named: Named
    percent: float


def named(name: str, what: str) -> Named:
    """The measures of a key or label; raises `UnknownError` with the names that there are.

    `game p99` stands for `game RTT p99` too: what is measured in both ways has the shorter name.
    The first word is enough where no other measure begins with it: `page` stands for `page load`.
    """
    text = _folded(name)
    exact = [m for m in MEASURES if text in (_folded(m.key), _folded(m.name))]
    begun = [m for m in MEASURES if text == _folded(m.name).split(" ")[0]]
    exact = exact or (begun if len(begun) == 1 else [])
    round_trips = [m for m in MEASURES if m not in exact and text == _without_round_trip(m.name)]
    if not (candidates := [*round_trips, *exact]):
        look_up(what, name.strip(), [m.key if "_" in name else m.name for m in MEASURES])
    return Named(what, " ".join(name.split()), candidates)


def bound(text: str, what: str = "until") -> Bound:
    """Reads a condition such as `game p99 < 30`, whose unit may follow; raises `UnknownError`."""
    parts = _BOUND.fullmatch(text)
    if parts is None:
        raise UnknownError(
            f"{what}: found {text!r}; allowed: a measure, one of <, <=, > and >=, and a number, "
            "as 'game p99 < 30'"
        )
    measure = named(parts["name"], what)
    value = _quantity(parts["value"].strip(), measure.candidates[0], f"{what} {text!r}")
    return Bound(measure, parts["sign"], value)


def precision(text: str, what: str = "until") -> Precision:
    """Reads a precision such as `game p99 5%`; raises `UnknownError`."""
    parts = _PRECISION.fullmatch(text.strip())
    percent = _number(parts["number"]) if parts else None
    if parts is None or percent is None or percent <= 0:
        raise UnknownError(
            f"{what}: found {text!r}; allowed: a measure and a percentage above 0 for how "
            "precisely to know it, as 'game p99 5%'"
        )
    return Precision(named(parts["name"], what), percent)


def _quantity(text: str, measure: Measure, what: str) -> float:
    """A number, which may be followed by the unit of the measure."""
    parts = _QUANTITY.fullmatch(text)
    number = _number(parts["number"]) if parts else None
    if parts is None or number is None:
        allowed = f"a number, or a number with {measure.unit}" if measure.unit else "a number"
        raise UnknownError(f"{what}: found {text!r} as its value; allowed: {allowed}")
    if parts["unit"] and _folded(parts["unit"]) != _folded(measure.unit):
        allowed = f"{measure.unit}, or no unit" if measure.unit else "no unit"
        raise UnknownError(
            f"{what}: found the unit {parts['unit']!r}; allowed for {measure.name}: {allowed}"
        )
    return number


def _number(text: str) -> float | None:
    """The number that the text is; `None` if it is none, or not finite."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _folded(name: str) -> str:
    return " ".join(name.split()).casefold()


def _without_round_trip(name: str) -> str:
    return _folded(_ROUND_TRIP.sub("", name)) if _ROUND_TRIP.search(name) else ""
