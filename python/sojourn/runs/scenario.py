"""Reads, overrides and checks scenarios without running them."""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from .._sojourn import (
    ConfigError,
    ConfigFile,
    ScenarioError,
    Variant,
    read_document,
)
from .._sojourn import load as load_native
from ..base.errors import Problem
from ..base.files import read_content, read_text
from ..base.memory import allowed_bytes
from ..base.plain_text import plain_name
from ..base.problems import refusal, refused
from ..base.toml_text import dotted, key_path, toml_document, toml_value
from .hooks import hooks
from .part_files import WHAT_TO_DO
from .parts import known
from .shipped import shipped_text

Scenario = str | os.PathLike[str] | Mapping[str, Any]

Config = str | os.PathLike[str]

Settings = Iterable[str] | Mapping[str, Any]


class Loaded(list[Variant]):
    """The variants of a scenario, each a complete scenario."""

    def _repr_html_(self) -> str:
        return hooks().scenario_html(self)


def key_of(change: str) -> str:
    """The key of a `key.path=value`, without needless quotes and spaces."""
    return key_and_value(change)[0]


def key_and_value(change: str) -> tuple[str, str]:
    """The key of a `key.path=value`, as `key_of` has it, and the value."""
    ends = (place for place, character in enumerate(change) if character == "=")
    for end in islice(ends, 16):  # in quotes a name may have some
        if path := key_path(change[:end]):
            return dotted(path), change[end + 1 :].strip()
    key, _, value = change.partition("=")
    return key.strip(), value.strip()


def read(
    scenario: Scenario,
    sets: Sequence[str],
    config: Config | None,
    max_memory_gb: float | None,
    change: Callable[[Any], Any] | None = None,
) -> Loaded:
    """The variants of a scenario, as `load` returns them, with the parts in scope.

    `change` changes the scenario before anything else overrides it.
    """
    text, source = _text_and_source(scenario)
    if change:
        text = toml_document(change(json.loads(read_document(text, "{}", source))))
    modem = None
    if config is not None:
        path = Path(config)
        modem = (ConfigFile.from_bytes(read_content(path, ConfigError), str(path)), str(path))
    parts = [part.native for part in known()]
    try:
        return Loaded(load_native(text, source, sets, modem, allowed_bytes(max_memory_gb), parts))
    except ScenarioError as error:
        problems = [_naming_files(_naming_parts(problem)) for problem in error.problems]
        raise refused(ScenarioError, problems, error.rest) from None
    except UnicodeEncodeError as error:
        found = plain_name(error.object[max(0, error.start - 40) : error.end])
        message = f"found {found}, which ends in half a character; allowed: Unicode text"
        raise refusal(ScenarioError, plain_name(source), "", message, code="not-toml") from None


_KIND_OF_PARTS = re.compile(r"(law|congestion_control|controller|traffic\.[^.]+)\.kind$")


def _naming_parts(problem: Problem) -> Problem:
    """Says of a kind that is unknown and not misspelled how a part of the user's own is given."""
    is_kind = _KIND_OF_PARTS.search(problem.path) and problem.code == "unknown-choice"
    if not is_kind or "meant" in problem.values:
        return problem
    hint = "a part of your own needs --part FILE.py:CLASS or FILE.wasm (in Python parts=[...])"
    return replace(problem, message=f"{problem.message}; {hint}")


_CHANGED = re.compile(
    r"(?P<key>\w*digest): found (?P<digest>\w+)(, of a (?P<kind>\w+) before it changed)?"
    r"; allowed: \w+(, that of (?P<path>.+))?, or none$"
)


def _naming_files(problem: Problem) -> Problem:
    """Says of a part, or a file of it, what to do where it is not that of a complete scenario."""
    found = _CHANGED.search(problem.message)
    if not found:
        return problem
    key, digest, what = found["key"], found["digest"], found["path"] or found["kind"]
    message = (
        f"{what} has changed since {digest} was its digest; allowed: {WHAT_TO_DO}, or leave out "
        f"the key {key}"
    )
    # The user has not seen the lines of a scenario that is no file.
    line = None if problem.source == "scenario" else problem.line
    return replace(problem, message=message, line=line)


def _text_and_source(scenario: Scenario) -> tuple[str, str]:
    if isinstance(scenario, Mapping):
        with _no_cycle("scenario"):
            return toml_document(scenario), "scenario"
    if not isinstance(scenario, str | os.PathLike):
        allowed = "a path, a name of sojourn.scenarios(), TOML text of several lines, or a dict"
        raise TypeError(f"scenario: found {scenario!r:.40}; allowed: {allowed}")
    if isinstance(scenario, str) and "\n" in scenario:
        return scenario, "scenario"
    source = os.fspath(scenario)
    text = shipped_text(source)
    return read_text(scenario) if text is None else text, source


@contextmanager
def _no_cycle(source: str) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        message = "found tables or lists that are nested without end; allowed: finite ones"
        raise refusal(ScenarioError, source, "", message) from None


def file_of(scenario: Scenario) -> Path | None:
    """The file that a scenario is read from; `None` for a dict, a text or a name."""
    if isinstance(scenario, Mapping) or "\n" in os.fspath(scenario):
        return None
    return Path(scenario) if shipped_text(os.fspath(scenario)) is None else None


def assignments(settings: Settings) -> list[str]:
    """Settings as `key.path=value`."""
    if isinstance(settings, Mapping):
        with _no_cycle("set"):
            return [f"{key}={toml_value(value, str(key))}" for key, value in settings.items()]
    if isinstance(settings, str):
        raise TypeError("set: found one string; allowed: a list of 'key.path=value', or a dict")
    return list(settings)
