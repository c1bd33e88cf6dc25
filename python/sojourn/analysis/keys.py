"""Swept keys and their values in words, as names of settings and figures have them."""

from collections.abc import Collection, Sequence

from .._sojourn import in_words, set_label


def is_factor(key: str) -> bool:
    """Is the key of all that a scenario sets, as `homes.*.count`, and its value a factor?"""
    return "*" in key.split(".")


def key_in_words(key: str) -> str:
    """`upstream queue limit` for `upstream.queue.limit_bytes`, without its unit."""
    if is_factor(key):
        return f"{key_in_words(_without_any(key))} factor"
    return in_words(f"{key}=0")[0].removeprefix("compare ")


def unit_of_key(key: str) -> str:
    """The unit of a key's values; empty for none."""
    return "" if is_factor(key) else in_words(f"{key}=0")[1]


def value_in_words(key: str, value: str) -> str:
    """A value as TOML with its unit: `64 kB`."""
    return value if is_factor(key) else in_words(f"{key}={value}")[2]


def setting_in_words(key: str, value: str, among: Collection[str] = ()) -> str:
    """A key's last part with its value, `limit 64 kB`, and the variant if the key is of one.

    All of the key, `upstream sustained 5 Mbps`, if a key `among` others ends as it does.
    """
    compare, _, rest = key.partition(".")
    label = label_of(key, value, among)
    return f"{rest.partition('.')[0]} {label}" if compare == "compare" else label


def label_of(key: str, value: str, among: Collection[str]) -> str:
    """A key in words with its value, without the variant that the key is of."""
    if is_factor(key):
        return f"{key_in_words(_without_any(key))} × {value}"
    among = [other for other in among if not is_factor(other)]
    name = set_label(f"{key}=0")
    if any(other != key and set_label(f"{other}=0") == name for other in among):
        return f"{key_in_words(key)} {value_in_words(key, value)}"
    return set_label(f"{key}={value}")


def numbers_of(key: str, values: Sequence[str]) -> tuple[list[float], str] | None:
    """Values as numbers for an axis, and their unit; `None` if some are no numbers.

    Bytes are given in kB.
    """
    try:
        numbers = [float(value) for value in values]
    except ValueError:
        return None
    unit = unit_of_key(key)
    return ([number / 1000 for number in numbers], "kB") if unit == "bytes" else (numbers, unit)


def _without_any(key: str) -> str:
    return ".".join(name for name in key.split(".") if name != "*")
