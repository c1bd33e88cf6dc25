"""Names of the tables of a result."""

from collections.abc import Mapping
from typing import Any

from ..analysis.tables import ALL_TABLES, TRACES
from ..base.errors import InputError
from ..base.lookup import UnknownError, look_up

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
