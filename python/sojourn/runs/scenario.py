"""Reads, overrides and checks scenarios without running them."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice, product
from pathlib import Path
from typing import Any

from .._sojourn import (
    ConfigError,
    ConfigFile,
    Problem,
    ScenarioError,
    Variant,
    distinct,
    set_label,
)
from .._sojourn import load as load_native
from ..analysis.keys import label_of
from ..base.files import read_content, read_text
from ..base.memory import allowed_bytes
from ..base.plain_text import plain_name
from ..base.problems import refusal, refused
from ..base.toml_text import dotted, key_path, toml_document, toml_value
from .hooks import hooks
from .parts import Given, Part, in_scope, known
from .shipped import shipped_text

Scenario = str | os.PathLike[str] | Mapping[str, Any]

Config = str | os.PathLike[str]

Settings = Iterable[str] | Mapping[str, Any]


class Loaded(list[Variant]):
    """The variants of a scenario, each a complete scenario."""

    def _repr_html_(self) -> str:
        return hooks().scenario_html(self)


_NO_SEED = (
    "found the seed, which is no setting; allowed: another key; for means over seeds: --seeds 5 "
    "(in Python, seeds=5)"
)


def load(
    scenario: Scenario,
    *,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: Config | None = None,
    max_memory_gb: float | None = None,
    parts: Iterable[Given | Part] = (),
) -> Loaded:
    """Reads and checks a scenario, without running it.

    `scenario` is a path, a name of `sojourn.scenarios()`, TOML text of several lines, or a dict
    with the same keys, of which those that are `None` are left out. `set` overrides single keys:
    `["upstream.sustained_mbps=10"]` or
    `{"upstream.sustained_mbps": 10}`. `config` is a modem configuration file; its service overrides
    the scenario's. Settings of the file that cannot be simulated are listed in each variant's
    `notes` and in the warnings of its run. A variant whose run may need more memory than
    `max_memory_gb` is refused (default: half of the machine's). `parts` are parts of your own that
    the scenario may choose: classes, `"my_file.py:MyLaw"` or `"my_file.wasm"`. Raises
    `ScenarioError`; its `problems` are all that is wrong.

    What overrides a key that a variant sets is part of the variant's name. Variants that are equal
    are one, which says so in its `notes`.

        >>> [variant.name for variant in sojourn.load("scenarios/upload.toml")]
        ['drop-tail', 'DOCSIS-PIE']
    """
    sets = _all_sets(set, seed, duration_s)
    with in_scope(parts):
        return _load(scenario, sets, config, max_memory_gb)


def load_all(
    scenarios: Sequence[Scenario],
    *,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    configs: Sequence[Config] = (),
    vary: Settings = (),
    swept: Settings = (),
) -> Loaded:
    """The variants of several scenarios, to run side by side.

    Each scenario is read as by `load`, with each of `configs` in turn. For each `key.path=value` of
    `vary` all variants are there once more with that key changed, which their names say. `swept`
    is set too, and only `kept_name` is without it.
    """
    sets = [*_all_sets(set, seed, duration_s), *assignments(swept)]
    varied = ["", *assignments(vary)]
    for change in varied:
        if key_of(change) == "seed":
            raise refusal(ScenarioError, f"--set {change}", "", _NO_SEED)
    modems: Sequence[Config | None] = configs or [None]
    where = list(product(scenarios, modems))
    groups = [
        (_label(scenario, config, len(scenarios) > 1), change, loaded)
        for scenario, config in where
        for change in varied
        for loaded in [_load(scenario, [*sets, *filter(None, [change])], config)]
    ]
    if len(groups) == 1:
        return groups[0][2]
    keys = [_key_and_value(change)[0] for change in varied if change]
    named = [
        variant.named(_name(label, len(where) > 1, _own(variant, swept), change, keys))
        for label, change, loaded in groups
        for variant in loaded
    ]
    return Loaded(distinct(_numbered(named)))


def _own(variant: Variant, swept: Settings) -> str:
    """The name of a variant in its scenario, which does not say what is swept."""
    return variant.kept_name if swept else variant.name


def _name(label: str, are_several: bool, own: str, change: str, keys: Sequence[str]) -> str:
    """The name of a variant among those of other files, with what was changed in it."""
    by = label_of(*_key_and_value(change), keys) if change else ""
    is_in_own = bool(change) and set_label(change) in own
    if is_in_own:
        own = own.replace(set_label(change), by)
    whose = f"{label}: {own}" if are_several and own and own != label else own or label
    return f"{whose}, {by}" if by and not is_in_own else whose


def key_of(change: str) -> str:
    """The key of a `key.path=value`, without needless quotes and spaces."""
    return _key_and_value(change)[0]


def _key_and_value(change: str) -> tuple[str, str]:
    ends = (place for place, character in enumerate(change) if character == "=")
    for end in islice(ends, 16):  # in quotes a name may have some
        if path := key_path(change[:end]):
            return dotted(path), change[end + 1 :].strip()
    key, _, value = change.partition("=")
    return key.strip(), value.strip()


def _numbered(variants: Sequence[Variant]) -> list[Variant]:
    """Different variants of one name get numbers."""
    names = [variant.name for variant in variants]
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [
        variant.named(f"{variant.name} ({count})") if count > 1 else variant
        for count, variant in zip(counts, variants, strict=True)
    ]


def _label(scenario: Scenario, config: Config | None, are_several: bool) -> str:
    """What tells a scenario with a modem's file from others: the names of the files."""
    is_text = isinstance(scenario, Mapping) or "\n" in os.fspath(scenario)
    stem = "scenario" if is_text else Path(os.fspath(scenario)).stem  # type: ignore[arg-type]
    modem = [] if config is None else [Path(config).name]
    return plain_name(", ".join([*([stem] if are_several or not modem else []), *modem]))


def _load(
    scenario: Scenario,
    sets: Sequence[str],
    config: Config | None,
    max_memory_gb: float | None = None,
) -> Loaded:
    text, source = _text_and_source(scenario)
    modem = None
    if config is not None:
        path = Path(config)
        modem = (ConfigFile.from_bytes(read_content(path, ConfigError), str(path)), str(path))
    parts = [part.native for part in known()]
    try:
        return Loaded(load_native(text, source, sets, modem, allowed_bytes(max_memory_gb), parts))
    except ScenarioError as error:
        problems = list(map(_naming_parts, error.problems))
        raise refused(ScenarioError, problems, error.rest) from None
    except UnicodeEncodeError as error:
        found = plain_name(error.object[max(0, error.start - 40) : error.end])
        message = f"found {found}, which ends in half a character; allowed: Unicode text"
        raise refusal(ScenarioError, plain_name(source), "", message) from None


_KIND_OF_PARTS = re.compile(r"(law|congestion_control|traffic\.[^.]+)\.kind$")


def _naming_parts(problem: Problem) -> Problem:
    """Says of a kind that is unknown and not misspelled how a part of the user's own is given."""
    text = problem.message
    if not _KIND_OF_PARTS.search(problem.path) or "found" not in text or "did you mean" in text:
        return problem
    hint = "a part of your own needs --part FILE.py:CLASS or FILE.wasm (in Python parts=[...])"
    return Problem(problem.source, problem.path, f"{text}; {hint}", problem.line)


def _all_sets(settings: Settings, seed: int | None, duration_s: float | None) -> list[str]:
    sets = assignments(settings)
    given = {"seed": seed, "duration_s": duration_s}
    return [*sets, *assignments({key: one for key, one in given.items() if one is not None})]


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
