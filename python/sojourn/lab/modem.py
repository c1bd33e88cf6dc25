"""A modem's configuration file, dropped into the page: what service it gives."""

import json

from .._sojourn import ConfigFile, load
from .catalog import Json, catalog
from .lab_request import LabRequest


def service_of(content: bytes, name: str) -> Json:
    """The tables `upstream` and `downstream` that the file makes, and `notes` on what is left out.

    What it does not tell, as rates may be, is that of the page's first service. `name` is the file
    in messages. Raises `ConfigError`, and `ScenarioError` where what it sets cannot be simulated.
    """
    file = ConfigFile.from_bytes(content, name)
    (variant,) = load(_stand_in(), name, [], (file, name))
    resolved = json.loads(variant.to_json())
    return {
        "upstream": _told(resolved["upstream"]),
        "downstream": _told(resolved["downstream"]),
        "notes": variant.notes,
    }


def _stand_in() -> str:
    """A scenario for the file to be laid over; somebody must be at home."""
    service = catalog()["services"][catalog()["first_service"]]
    base = {key: service[key] for key in ("upstream", "downstream")}
    base["duration_s"] = catalog()["duration_s"]
    chosen = {"base": base, "activities": {"call": 1}, "settings": [{"name": "the file's"}]}
    return LabRequest.read(chosen).toml()


def _told(value: object) -> object:
    """The same without keys that are unset."""
    match value:
        case dict():
            return {key: _told(inner) for key, inner in value.items() if inner is not None}
        case list():
            return [_told(inner) for inner in value]
    return value
