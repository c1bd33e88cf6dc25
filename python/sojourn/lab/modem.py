"""Reads the service from a modem configuration file that was opened on the page."""

import json

from .._sojourn import ConfigFile, load
from .catalog import Json, catalog
from .lab_request import LabRequest


def service_of(content: bytes, name: str) -> Json:
    """The tables `upstream` and `downstream` of the file, and `notes` on ignored settings.

    The first service of the catalogue gives values that the file does not set. `name` is the file
    name for messages. Raises `ConfigError`, and `ScenarioError` if it cannot be simulated.
    """
    file = ConfigFile.from_bytes(content, name)
    (variant,) = load(_base_scenario(), name, [], (file, name))
    resolved = json.loads(variant.to_json())
    return {
        "upstream": _without_unset(resolved["upstream"]),
        "downstream": _without_unset(resolved["downstream"]),
        "notes": variant.notes,
    }


def _base_scenario() -> str:
    """A scenario for the file to override; at least one activity is required."""
    service = catalog()["services"][catalog()["first_service"]]
    base = {key: service[key] for key in ("upstream", "downstream")}
    base["duration_s"] = catalog()["duration_s"]
    chosen = {"base": base, "activities": {"call": 1}, "settings": [{"name": "the file's"}]}
    return LabRequest.read(chosen).toml()


def _without_unset(value: object) -> object:
    """The value without unset keys."""
    match value:
        case dict():
            return {key: _without_unset(inner) for key, inner in value.items() if inner is not None}
        case list():
            return [_without_unset(inner) for inner in value]
    return value
