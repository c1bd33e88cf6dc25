"""Numbers of a scenario times a factor: the key `homes.*.count` is the count of each group."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite
from typing import Any

from ..base.lookup import UnknownError
from ..base.toml_text import dotted, key_path
from .numeric_key import NumericKey, numeric_key

_COMPARE = "compare"


def scaled(table: Mapping[str, Any], factors: Sequence[tuple[str, str]], what: str) -> Any:
    """A scenario whose numbers with these keys are multiplied, those of its variants too.

    Whole numbers are rounded. Raises `UnknownError`, for the option `what`, for a key that the
    scenario does not set, or not as a number, and for what is no factor.
    """
    for key, text in factors:
        factor = _factor(text, f"{what} {key}")
        is_whole = _numeric_key(key, table, what).is_whole
        table = _scaled(table, _steps(key), factor, is_whole)
        variants = table.get(_COMPARE)
        if isinstance(variants, Mapping):
            each = {
                name: _scaled(own, _steps(key), factor, is_whole) for name, own in variants.items()
            }
            table = {**table, _COMPARE: each}
    return table


def factor_key(key: str, table: Mapping[str, Any], what: str) -> NumericKey:
    """The key as one to search: any factor, from 1 on."""
    _numeric_key(key, table, what)
    return NumericKey(key, False, 0, inf, 1.0)


def total(key: str, table: Mapping[str, Any]) -> float:
    """The sum of the numbers with the key."""
    return float(sum(value for _, value in _matches(table, _steps(key))))


def _factor(text: str, what: str) -> float:
    try:
        factor = float(text)
    except ValueError:
        factor = -1.0
    if not factor > 0 or not isfinite(factor):
        raise UnknownError(f"{what}: found {text}; allowed: a factor above 0")
    return factor


def _steps(key: str) -> Sequence[str]:
    """The names in a key, of which `*` is any."""
    quoted = ".".join('"*"' if name == "*" else name for name in key.split("."))
    return key_path(quoted)


def _numeric_key(key: str, table: Mapping[str, Any], what: str) -> NumericKey:
    """What the schema says of the first number with the key."""
    steps = _steps(key)
    first = next(_matches(table, steps), None)
    if first is None:
        lengths = range(1, len(steps) + 1)
        lacks = next(steps[:n] for n in lengths if not any(_matches(table, steps[:n])))
        raise UnknownError(
            f"{what}: found {key}, but the scenario does not set {'.'.join(lacks)}; allowed: a key "
            "of numbers that it sets, as duration_s (* is any name)"
        )
    return numeric_key(dotted(first[0]), table, what)


def _matches(value: Any, steps: Sequence[str]) -> Iterator[tuple[list[str], Any]]:
    """The paths and values with a key."""
    if not steps:
        yield [], value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            if steps[0] in ("*", name):
                yield from (([name, *path], found) for path, found in _matches(inner, steps[1:]))


def _scaled(value: Any, steps: Sequence[str], factor: float, is_whole: bool) -> Any:
    if not steps:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        product = value * factor if is_number else value
        return round(product) if is_number and is_whole else product
    if not isinstance(value, Mapping):
        return value
    return {
        name: _scaled(inner, steps[1:], factor, is_whole) if steps[0] in ("*", name) else inner
        for name, inner in value.items()
    }
