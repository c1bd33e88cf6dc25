"""What a search is asked: a key, its range and conditions."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

from .._sojourn import ScenarioError, Variant
from ..analysis.conditions import Bound
from ..analysis.keys import is_factor
from ..analysis.search import Values
from ..base.errors import Problem
from ..base.files import place_of
from ..base.lookup import UnknownError
from ..base.problems import refused
from ..base.toml_text import are_nested
from ..runs.factors import factor_key
from ..runs.numeric_key import NumericKey, numeric_key
from ..runs.request import Request
from ..runs.scenario import Settings, file_of, key_of
from ..runs.seeds import most_seeds

_LEAST_STEP = 1e-9
"""Of the largest value: no simulated measure is that precise, and floats are not much more."""


@dataclass(frozen=True)
class Search:
    """What to find: the values of a key at which all bounds hold."""

    request: Request
    """One scenario, with the first seed."""
    key: str
    bounds: Sequence[Bound]
    low: float | None = None
    high: float | None = None
    step: float | None = None
    seeds: int = 5

    def name(self, parameter: str) -> str:
        """What a parameter is called in messages."""
        return self.request.name(parameter)

    def load(self, swept: Settings = ()) -> dict[str, Variant]:
        """The variants by name, with a value of the key if there is one."""
        return {variant.kept_name: variant for variant in self.request.load(swept)}

    def at(self, value: float) -> dict[str, Variant]:
        """The variants with a value of the key; raises `ScenarioError` that names it."""
        try:
            return self.load({self.key: value})
        except ScenarioError as error:
            problems = [self._restated(problem, value) for problem in error.problems]
            raise refused(ScenarioError, problems, error.rest) from None

    def _restated(self, problem: Problem, value: float) -> Problem:
        is_of_key = problem.source.startswith(f"--set {self.key}=")
        reason = problem.message if is_of_key else str(problem)
        source = f"{self.name('key')} {self.key}"
        values = {**problem.values, "at": value, "reason": reason}
        return Problem(source, "", f"at {value:.15g}: {reason}", code=problem.code, values=values)

    def about(self, directory: Path) -> dict[str, object]:
        """The question, to be stored in a directory."""
        request = self.request
        file = file_of(request.scenarios[0])
        return {
            "sweep": place_of(file, directory) if file else "",
            "key": self.key,
            "until": [f"{one.named.text} {one.sign} {one.value}" for one in self.bounds],
            "values": [self.low, self.high, self.step],
            "seeds": [self.seeds, request.seed],
            "duration_s": request.duration_s,
            "set": list(request.set),
            "config": list(map(str, request.configs)),
            "vary": list(request.vary),
            "scale": list(request.scale),
        }


def values_of(search: Search) -> Values:
    """The values to search; raises `UnknownError` for what cannot be searched."""
    _check_settings(search)
    variants = list(search.load().values())
    try:
        most_seeds(variants, search.seeds, (), search.name("seeds"))
    except ValueError as error:
        raise UnknownError(str(error)) from None
    settings = tomllib.loads(variants[0].to_toml())
    describe = factor_key if is_factor(search.key) else numeric_key
    return _values(search, describe(search.key, settings, search.name("key")))


def _check_settings(search: Search) -> None:
    """Raises `UnknownError` for a search without conditions, or one whose key is set elsewhere."""
    if not search.bounds:
        until = search.name("until")
        raise UnknownError(f"{until}: missing; allowed: a condition, as 'game p99 < 30'")
    others = [
        f"{search.name('vary')} {text}"
        for text in search.request.vary
        if are_nested(search.key, key_of(text))
    ]
    if search.key == "duration_s" and search.request.duration_s is not None:
        others.append(search.name("duration_s"))
    if others:
        raise UnknownError(f"{others[0]}: found as {search.name('key')} too; allowed: one of them")


def _values(search: Search, key: NumericKey) -> Values:
    """The values to search; raises `UnknownError` for a range that the key does not have."""
    given = {name: _float(getattr(search, name)) for name in ("low", "high", "step")}
    for name, value in given.items():
        if value is not None:
            _check_value(search.name(name), value, key, is_step=name == "step")
    low, high, step = (given[name] for name in ("low", "high", "step"))
    if low is not None and high is not None and low >= high:
        names = f"{search.name('low')}, {search.name('high')}"
        raise UnknownError(f"{names}: found {low:g} and {high:g}; allowed: the lesser value first")
    least, most = key.least if low is None else low, key.most if high is None else high
    start = None if None not in (search.low, search.high) else _start(search, key)
    _check_step(search.name("step"), step, [least, most, start or 0.0])
    low, high, start, step = (
        int(value) if value is not None and key.is_whole and abs(value) < inf else value
        for value in (least, most, start, step)
    )
    assert low is not None and high is not None
    return Values(low, high, start and min(max(start, low), high), key.is_whole, step)


def _float(value: float | None) -> float | None:
    """The number itself, or infinity if no float is as large."""
    try:
        return value if value is None or float(value) else 0
    except OverflowError:
        return inf


def _check_step(name: str, step: float | None, ends: Sequence[float]) -> None:
    """Raises `UnknownError` for a step that is no step of a float near the largest value."""
    least = _LEAST_STEP * max(abs(end) for end in ends if abs(end) < inf)
    if step is not None and step < least:
        raise UnknownError(f"{name}: found {step:g}; allowed: {least:.3g} or more, for these ends")


def _check_value(name: str, value: float, key: NumericKey, *, is_step: bool) -> None:
    least, most = (0, inf) if is_step else (key.least, key.most)
    is_fine = least <= value <= most and abs(value) < inf and not (is_step and value == 0)
    if is_fine and not (key.is_whole and value != int(value)):
        return
    kind = "a whole number" if key.is_whole else "a number"
    bounds = "above 0" if is_step else f"from {least:.15g} to {most:.15g}"
    raise UnknownError(f"{name}: found {value:.15g}; allowed for {key.path}: {kind} {bounds}")


def _start(search: Search, key: NumericKey) -> float:
    """Where to double from: the scenario's value, or the end that is given."""
    for value in (key.value, search.low, search.high):
        if value is not None and value > 0:
            return value
    found = "no value" if key.value is None else f"{key.value:g}"
    low, high = search.name("low"), search.name("high")
    raise UnknownError(
        f"{search.name('key')} {key.path}: found {found} in the scenario, from which the search "
        f"cannot double; give {low} and {high}"
    )
