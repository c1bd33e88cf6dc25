"""The settings that differ between groups of runs or variants."""

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

from ..analysis.groups import Results
from ..base.grid import NOTHING, Grid
from ..base.toml_text import toml_value
from ..plot.charts.base import FEW_AT_MOST

_SELF_EVIDENT = ("title", "description", "seed")


def differences(results: Results, aside: Container[str] = ()) -> Grid:
    """The keys whose values differ between groups: a row per key, a column per group.

    Of many groups each is a row, if there are fewer keys: the table is to be read and printed.

    Groups whose names are in `aside` are left out, such as idle lines.
    """
    groups = [group for group in results.groups if group.name not in aside]
    return settings_grid([g.name for g in groups], [g.first.settings for g in groups])


def settings_grid(names: Sequence[str], settings: Sequence[Mapping[str, Any]]) -> Grid:
    """The keys whose values differ between complete scenarios with these names."""
    flat = [dict(_flattened(one)) for one in settings]
    keys = dict.fromkeys(key for one in flat for key in one)
    rows = [
        [key, *(_as_toml(one[key]) if key in one else NOTHING for one in flat)]
        for key in keys
        if len({repr(one.get(key)) for one in flat}) > 1
    ]
    title = "Settings that differ"
    if not rows or len(names) <= max(FEW_AT_MOST, len(rows)):
        return Grid(title, ["key", *names], rows)
    headings, *lines = zip(["setting", *names], *rows, strict=True)
    # A part of a key on each line: a long key would make a wide column of short values.
    broken = [heading.replace(".", ".\n") for heading in headings]
    return Grid(title, broken, [list(line) for line in lines])


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
