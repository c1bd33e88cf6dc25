"""Swept keys and their values in words, as names of settings and figures have them."""

from collections.abc import Sequence

from .._sojourn import in_words, set_label


def key_in_words(key: str) -> str:
    """`upstream queue limit` for `upstream.queue.limit_bytes`, without its unit."""
    return in_words(f"{key}=0")[0].removeprefix("compare ")


def unit_of_key(key: str) -> str:
    """The unit of a key's values; empty for none."""
    return in_words(f"{key}=0")[1]


def value_in_words(key: str, value: str) -> str:
    """A value as TOML with its unit: `64 kB`."""
    return in_words(f"{key}={value}")[2]


def setting_in_words(key: str, value: str) -> str:
    """A key's last part with its value, `limit 64 kB`, and the variant if the key is of one."""
    compare, _, rest = key.partition(".")
    label = set_label(f"{key}={value}")
    return f"{rest.partition('.')[0]} {label}" if compare == "compare" else label


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
