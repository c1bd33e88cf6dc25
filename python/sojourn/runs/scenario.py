"""Reads, overrides and checks scenarios without running them."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .._sojourn import ConfigFile, Variant
from .._sojourn import load as load_native
from ..base.files import read_text
from ..base.toml_text import toml_document, toml_value
from .hooks import hooks

Scenario = str | os.PathLike[str] | Mapping[str, Any]

Settings = Iterable[str] | Mapping[str, Any]


class Loaded(list[Variant]):
    """The variants of a scenario, each a complete scenario."""

    def __init__(self, variants: Iterable[Variant], name: str = "") -> None:
        """Lists the variants of the scenario of this name."""
        super().__init__(variants)
        self.name = name
        """What the scenario is called beside others: the name of its file, or its title."""

    def _repr_html_(self) -> str:
        return hooks().scenario_html(self)


def load(
    scenario: Scenario,
    *,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: str | os.PathLike[str] | None = None,
) -> Loaded:
    """Reads and checks a scenario, without running it.

    `scenario` is a path, TOML text of several lines, or a dict with the same keys. `set` overrides
    single keys: `["upstream.sustained_mbps=10"]` or `{"upstream.sustained_mbps": 10}`. `config` is
    a modem configuration file; its service overrides the scenario's. Settings of the file that
    cannot be simulated are listed in each variant's `notes` and in the warnings of its run. Raises
    `ScenarioError`; its `problems` are all that is wrong.

        >>> [variant.name for variant in sojourn.load("scenarios/upload.toml")]
        ['no upload', 'upload, drop-tail', 'upload, DOCSIS-PIE']
    """
    text, source = _text_and_source(scenario)
    modem = None
    if config is not None:
        path = Path(config)
        modem = (ConfigFile.from_bytes(path.read_bytes(), str(path)), str(path))
    sets = _assignments(set)
    if seed is not None:
        sets.append(f"seed={seed}")
    if duration_s is not None:
        sets.append(f"duration_s={duration_s}")
    variants = load_native(text, source, sets, modem)
    return Loaded(variants, _name(scenario, variants[0]))


def _name(scenario: Scenario, first: Variant) -> str:
    if isinstance(scenario, Mapping) or (isinstance(scenario, str) and "\n" in scenario):
        title: str = json.loads(first.to_json())["title"]
        return title or "scenario"
    return Path(scenario).stem


def _text_and_source(scenario: Scenario) -> tuple[str, str]:
    if isinstance(scenario, Mapping):
        return toml_document(scenario), "scenario"
    if isinstance(scenario, str) and "\n" in scenario:
        return scenario, "scenario"
    return read_text(scenario), os.fspath(scenario)


def _assignments(settings: Settings) -> list[str]:
    if isinstance(settings, Mapping):
        return [f"{key}={toml_value(value)}" for key, value in settings.items()]
    if isinstance(settings, str):
        raise TypeError("set: found one string; allowed: a list of 'key.path=value', or a dict")
    return list(settings)
