"""What to run: scenarios with all that overrides them, as commands and programs ask for it."""

import json
import os
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import product
from pathlib import Path

from .._sojourn import ScenarioError, Variant, distinct, record_settings
from ..analysis.keys import is_factor, label_of
from ..base.errors import Problem
from ..base.lookup import UnknownError
from ..base.plain_text import plain_name
from ..base.problems import refusal, refused
from .factors import scaled
from .parts import Given, Part, in_scope, parts_of
from .scenario import Config, Loaded, Scenario, Settings, assignments, key_and_value, key_of, read

_NO_SEED = (
    "found the seed, which is no setting; allowed: another key; for means over seeds: --seeds 5 "
    "(in Python, seeds=5)"
)


@dataclass(frozen=True)
class Request:
    """Scenarios, to run side by side, and what overrides their keys."""

    scenarios: Sequence[Scenario] = ()
    seed: int | None = None
    duration_s: float | None = None
    set: Sequence[str] = ()
    """Settings for all runs, as `key.path=value`."""
    configs: Sequence[Config] = ()
    """Modem configuration files, with each of which each scenario is read."""
    vary: Sequence[str] = ()
    """Settings with each of which all variants are there once more."""
    scale: Sequence[str] = ()
    """Factors of keys that the scenarios set, as `homes.*.count=2`; those of `vary` may be too."""
    parts: Sequence[Part] = ()
    replay: str | os.PathLike[str] | None = None
    """A record of real packets that are sent again."""
    replay_anyway: bool | None = None
    """Whether it may be of another line."""
    names: Mapping[str, str] = field(default_factory=dict)
    """What parameters are called in messages, where it is not their name."""

    @staticmethod
    def of(
        *scenarios: Scenario,
        seed: int | None = None,
        duration_s: float | None = None,
        set: Settings | None = None,
        config: Config | Sequence[Config] | None = None,
        vary: Settings | None = None,
        scale: Settings | None = None,
        parts: Iterable[Given | Part] = (),
        replay: str | os.PathLike[str] | None = None,
        replay_anyway: bool = False,
        names: Mapping[str, str] | None = None,
    ) -> "Request":
        """A request with settings in any form, of which those that are `None` are not given."""
        return Request(
            scenarios,
            seed,
            duration_s,
            assignments(set or ()),
            [config] if isinstance(config, str | os.PathLike) else config or (),
            assignments(vary or ()),
            assignments(scale or ()),
            parts_of(parts),
            replay,
            replay_anyway or None,
            names or {},
        )

    def over(self, other: "Request") -> "Request":
        """The other request with what this one gives."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        given = {name: value for name, value in values.items() if value or value == 0}
        names = {name: option for name, option in self.names.items() if name in given}
        return replace(other, **{**given, "names": names})

    def name(self, parameter: str) -> str:
        """What a parameter is called in messages."""
        return self.names.get(parameter, parameter)

    def load(self, swept: Settings = (), *, max_memory_gb: float | None = None) -> Loaded:
        """The variants of all scenarios; raises `ScenarioError` that names what was given.

        Each scenario is read with each of `configs` in turn. For each setting of `vary` all
        variants are there once more, which their names say. `swept` is set too, and only
        `kept_name` is without it.
        """
        modems: Sequence[Config | None] = self.configs or [None]
        where = list(product(self.scenarios, modems))
        with in_scope(self.parts):
            groups = [
                (_label(scenario, config, len(self.scenarios) > 1), change, loaded)
                for scenario, config in where
                for change in ("", *self.vary)
                for loaded in [self._read(scenario, config, swept, change, max_memory_gb)]
            ]
        if len(groups) == 1:
            return groups[0][2]
        keys = list(map(key_of, self.vary))
        named = [
            variant.named(_name(label, len(where) > 1, _own(variant, swept), change, keys))
            for label, change, loaded in groups
            for variant in loaded
        ]
        return Loaded(distinct(_numbered(named)))

    def _replayed(self) -> list[str]:
        """The settings with which a scenario replays the record."""
        if self.replay is None:
            if self.replay_anyway:
                what, record = self.name("replay_anyway"), self.name("replay")
                raise UnknownError(f"{what}: found it without a record; allowed: {record} too")
            return []
        settings = record_settings(Path(self.replay).absolute())
        records = [one for one in settings if ".record=" in one] if self.replay_anyway else []
        return [*settings, *(f"{one.partition('.record=')[0]}.anyway=true" for one in records)]

    def _read(
        self,
        scenario: Scenario,
        config: Config | None,
        swept: Settings,
        change: str,
        max_memory_gb: float | None,
    ) -> Loaded:
        if key_of(change) == "seed":
            raise refusal(ScenarioError, f"--vary {change}", "", _NO_SEED)
        given = {"seed": self.seed, "duration_s": self.duration_s}
        own = {name: one for name, one in given.items() if one is not None}
        options = dict(zip(assignments(own), map(self.names.get, own), strict=True))
        each = [*options, *assignments(swept), *filter(None, [change])]
        if bad := next((one for one in self.set if is_factor(key_of(one))), ""):
            what, scale = self.name("set"), self.name("scale")
            raise UnknownError(
                f"{what} {bad}: found a key with *; allowed: one without, or {scale}, which "
                "multiplies"
            )
        factors = [*self.scale, *(one for one in each if is_factor(key_of(one)))]
        replayed = self._replayed()
        sets = [*replayed, *self.set, *(one for one in each if not is_factor(key_of(one)))]
        options[change] = f"--vary {change}"
        options |= dict.fromkeys(replayed, self.name("replay"))
        pairs = list(map(key_and_value, factors))
        try:
            loaded = read(
                scenario,
                sets,
                config,
                max_memory_gb,
                (lambda table: scaled(table, pairs, self.name("scale"))) if pairs else None,
            )
        except ScenarioError as error:
            problems = [_named(problem, options) for problem in error.problems]
            raise refused(ScenarioError, problems, error.rest) from None
        for one in [one for one in sets if key_of(one) == "duration_s"][-1:]:
            own_name = self.name("duration_s") if one in options else f"{self.name('set')} {one}"
            _refuse_another(one, options.get(one) or own_name, loaded)
        return loaded


def _refuse_another(duration: str, what: str, loaded: Iterable[Variant]) -> None:
    """Raises `UnknownError` if runs do not take as long as was asked for."""
    asked_s = tomllib.loads(f"s = {key_and_value(duration)[1]}")["s"]
    for variant in loaded:
        if variant.duration_s != asked_s and _is_replay(variant):
            raise UnknownError(
                f"{what}: found {asked_s:g} s for a replay, which takes as long as its record, "
                f"{variant.duration_s:.3f} s; allowed: no duration"
            )


def _is_replay(variant: Variant) -> bool:
    """Has it packets of a record? Other variants may have a duration of their own."""
    traffic = json.loads(variant.to_json())["traffic"].values()
    return any(entry.get("record") is not None for entry in traffic)


def _named(problem: Problem, options: Mapping[str, str | None]) -> Problem:
    """The problem by the option that gave its setting, if one did."""
    setting = problem.source.removeprefix("--set ")
    option = options.get(setting)
    if option is None or setting == problem.source:
        return problem
    path = "" if setting.startswith(f"{problem.path}=") else problem.path
    is_text = problem.code == "wrong-type" and isinstance(problem.values.get("found"), str)
    is_list = is_text and "," in setting
    hint = "; for several values repeat --vary" if is_list and option.startswith("--vary") else ""
    return replace(problem, source=option, path=path, message=f"{problem.message}{hint}")


def load(
    scenario: Scenario,
    *,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: Config | None = None,
    scale: Settings = (),
    max_memory_gb: float | None = None,
    parts: Iterable[Given | Part] = (),
    replay: str | os.PathLike[str] | None = None,
    replay_anyway: bool = False,
) -> Loaded:
    """Reads and checks a scenario, without running it.

    `scenario` is a path, a name of `sojourn.scenarios()`, TOML text of several lines, or a dict
    with the same keys, of which those that are `None` are left out. `set` overrides single keys:
    `["upstream.sustained_mbps=10"]` or
    `{"upstream.sustained_mbps": 10}`. `scale` multiplies what the scenario sets, before anything
    overrides it: with `{"homes.*.count": 2}` each group that has a count has twice as many homes.
    `config` is a modem configuration file; its service overrides
    the scenario's. Settings of the file that cannot be simulated are listed in each variant's
    `notes` and in the warnings of its run. A variant whose run may need more memory than
    `max_memory_gb` is refused (default: half of the machine's). `parts` are parts of your own that
    the scenario may choose: classes, `"my_file.py:MyLaw"` or `"my_file.wasm"`. `replay` is a record
    of real packets (`sojourn emulate --record`), which come again when they came there; the run
    takes as long as that one. With other settings of what one may choose, such as queues, this is
    an open loop, as a note says. A record of another scenario is refused without `replay_anyway`.
    Raises `ScenarioError`; its `problems` are all that is wrong.

    What overrides a key that a variant sets is part of the variant's name. Variants that are equal
    are one, which says so in its `notes`.

        >>> [variant.name for variant in sojourn.load("scenarios/upload.toml")]
        ['drop-tail', 'DOCSIS-PIE']
    """
    request = Request.of(
        scenario,
        seed=seed,
        duration_s=duration_s,
        set=set,
        config=config,
        scale=scale,
        parts=parts,
        replay=replay,
        replay_anyway=replay_anyway,
    )
    return request.load(max_memory_gb=max_memory_gb)


def _own(variant: Variant, swept: Settings) -> str:
    """The name of a variant in its scenario, which does not say what is swept."""
    return variant.kept_name if swept else variant.name


def _name(label: str, are_several: bool, own: str, change: str, keys: Sequence[str]) -> str:
    """The name of a variant among those of other files, with what was changed in it."""
    by = label_of(*key_and_value(change), keys) if change else ""
    label_alone = label_of(*key_and_value(change), ()) if change else ""
    is_in_own = bool(change) and label_alone in own
    if is_in_own:
        own = own.replace(label_alone, by)
    whose = f"{label}: {own}" if are_several and own and own != label else own or label
    return f"{whose}, {by}" if by and not is_in_own else whose


def _numbered(variants: Sequence[Variant]) -> list[Variant]:
    """Different variants of one name get numbers."""
    names = [variant.name for variant in variants]
    counts = [names[: place + 1].count(name) for place, name in enumerate(names)]
    return [
        variant.named(f"{variant.name} ({count})") if count > 1 else variant
        for count, variant in zip(counts, variants, strict=True)
    ]


def _label(scenario: Scenario, config: Config | None, are_several: bool) -> str:
    """What distinguishes a scenario with a modem's file: the names of the files."""
    is_text = isinstance(scenario, Mapping) or "\n" in os.fspath(scenario)
    stem = "scenario" if is_text else Path(os.fspath(scenario)).stem  # type: ignore[arg-type]
    modem = [] if config is None else [Path(config).name]
    return plain_name(", ".join([*([stem] if are_several or not modem else []), *modem]))
