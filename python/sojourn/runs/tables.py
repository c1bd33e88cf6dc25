"""Names of the tables of a result."""

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from .._sojourn import definitions_json
from ..base.errors import InputError
from ..base.lookup import UnknownError, look_up

TRACES: Mapping[str, Sequence[str]] = {
    "packet_trace": ("packets",),
    "modem_trace": ("modem_events",),
}
"""The tables that runs have only if the scenario sets the key in `metrics`."""

_defined, _ = json.loads(definitions_json())

ALL_TABLES: Sequence[str] = tuple(table["name"] for table in _defined)
"""All of them."""

TABLES = tuple(name for name in ALL_TABLES if name not in chain.from_iterable(TRACES.values()))
"""The tables of every result."""

_RENAMED = {"qualities": "traffic_classes"}


def known_table(name: str) -> str:
    """The name itself; raises `UnknownError`, with the new name of a table that was renamed."""
    if new := _RENAMED.get(name):
        raise UnknownError(f"table {name!r} was renamed in 0.2.0: use {new!r}")
    return look_up("table", name, ALL_TABLES)


def missing_key(table: str, settings: Mapping[str, Any]) -> str | None:
    """The key that a run with these settings would need to have the table."""
    keys = (key for key, names in TRACES.items() if table in names)
    return next((f"metrics.{key}" for key in keys if not settings["metrics"][key]), None)


def recorded(name: str, settings: Mapping[str, Any]) -> str:
    """The name itself; raises `InputError` for a trace that a run with these settings lacks."""
    if key := missing_key(known_table(name), settings):
        raise InputError(
            f"table {name!r}: not recorded by this run; set {key} = true in the scenario (--set "
            f'{key}=true, in Python set={{"{key}": True}})'
        )
    return name
