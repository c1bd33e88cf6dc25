"""The simulator (Rust). All units are in the names."""

from collections.abc import Callable, Sequence
from typing import Protocol, final

from .base.errors import InputError, Problem, Warning

__all__ = [
    "ArrowTable",
    "Cancelled",
    "ConfigError",
    "ConfigFile",
    "Defect",
    "Facts",
    "Job",
    "Part",
    "PartError",
    "RunResult",
    "ScenarioError",
    "Variant",
    "all_changed_defaults",
    "all_codes",
    "applications_json",
    "definitions_json",
    "distinct",
    "empty_tables",
    "idle_lines",
    "in_words",
    "jfi",
    "load",
    "max_min",
    "measures_json",
    "mmr",
    "presets_json",
    "read_document",
    "run",
    "schema_json",
    "set_label",
    "shipped",
    "stored_scenario",
    "studies",
    "unit_of",
    "verdict",
    "version",
]

version: str

class ScenarioError(InputError):
    """A scenario that cannot be run. `problems` lists what is wrong, up to 30 problems.

    `rest` says how many more there are. `source` and `path` are those of the first problem.
    """

    problems: list[Problem]
    rest: str | None
    source: str
    path: str

class ConfigError(InputError):
    """A modem's file that cannot be read or made; its attributes are those of `ScenarioError`."""

    problems: list[Problem]
    rest: str | None
    source: str
    path: str

class PartError(Exception):
    """A part from outside that failed in a run. Its cause is the exception of the part."""

class Cancelled(Exception):
    """The run was cancelled by its job."""

class Defect(RuntimeError):
    """An invariant of the simulator does not hold."""

@final
class Part:
    """A part from outside, for scenarios that are loaded with it."""

    def __new__(cls, declaration: str, make: Callable[[Sequence[float], int], object]) -> Part: ...
    @staticmethod
    def of_module(module: bytes, digest: str) -> Part: ...
    @property
    def calls_python(self) -> bool: ...
    @property
    def kind(self) -> str: ...
    @property
    def role(self) -> str: ...

@final
class Variant:
    """One run of a scenario file: the scenario in full, with a name where several are compared."""

    @property
    def name(self) -> str: ...
    @property
    def kept_name(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def notes(self) -> list[Warning]: ...
    @property
    def memory_bytes(self) -> int: ...
    @property
    def calls_python(self) -> bool: ...
    def warnings(self) -> list[Warning]: ...
    def changed_defaults(self) -> list[tuple[str, list[str], Warning]]: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...
    def named(self, name: str) -> Variant: ...

@final
class ConfigFile:
    """A modem's configuration file, with what is wrong in it."""

    @staticmethod
    def from_bytes(content: bytes, source: str) -> ConfigFile: ...
    @staticmethod
    def from_toml(text: str, source: str, secret: bytes | None = None) -> ConfigFile: ...
    @staticmethod
    def from_scenario(
        variant: Variant, home: str | None = None, secret: bytes | None = None
    ) -> tuple[ConfigFile, list[str]]: ...
    def problems(self, source: str) -> list[Problem]: ...
    def check(self, source: str) -> None: ...
    def verify(self, secret: bytes, source: str) -> None: ...
    def to_bytes(self) -> bytes: ...
    def to_toml(self) -> str: ...
    def to_json(self) -> str: ...

@final
class Job:
    """Follows a run and can stop it."""

    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def is_cancelled(self) -> bool: ...
    @property
    def simulated_s(self) -> float: ...
    @property
    def progress(self) -> float: ...

@final
class ArrowTable:
    """A table for anything that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...
    def __len__(self) -> int: ...

@final
class RunResult:
    """What a run tells."""

    @property
    def meta(self) -> str: ...
    @property
    def facts(self) -> Facts: ...
    def table(self, name: str) -> ArrowTable: ...

@final
class Facts:
    """What a run contributes to a verdict."""

    def __new__(cls, scenario_json: str, tables_json: str) -> Facts: ...
    @property
    def measures(self) -> dict[str, float | None]: ...
    @property
    def loaded(self) -> list[str]: ...
    def unfinished_s(self, traffic: str) -> list[float]: ...

def schema_json(parts: Sequence[Part] = ...) -> str: ...
def shipped() -> list[tuple[str, str]]: ...
def presets_json() -> str: ...
def read_document(text: str, schema_json: str, source: str) -> str: ...
def definitions_json() -> str: ...
def empty_tables() -> dict[str, ArrowTable]: ...

class _Studies(Protocol):
    """What only studies of algorithms by themselves need."""

    def derandomiser_runs(self, probability: float, drops: int, seed: int) -> list[int]: ...
    def open_loop(
        self, variant: Variant, backlog: int, arrivals: int
    ) -> tuple[list[int], list[float]]: ...

studies: _Studies

def load(
    text: str,
    source: str,
    sets: Sequence[str],
    modem: tuple[ConfigFile, str] | None = None,
    most_bytes: int | None = None,
    parts: Sequence[Part] = ...,
) -> list[Variant]: ...
def stored_scenario(text: str, source: str) -> str: ...
def run(variant: Variant, job: Job) -> RunResult: ...
def max_min(capacity: float, demands: Sequence[float], weights: Sequence[float]) -> list[float]: ...
def jfi(x: Sequence[float]) -> float | None: ...
def mmr(x: Sequence[float]) -> float | None: ...
def idle_lines(variants: Sequence[Variant]) -> list[Variant]: ...
def all_changed_defaults() -> tuple[str, list[list[str]]]: ...
def all_codes() -> list[tuple[str, str]]: ...
def distinct(variants: Sequence[Variant]) -> list[Variant]: ...
def set_label(set: str) -> str: ...
def in_words(set: str) -> tuple[str, str, str]: ...
def unit_of(key: str) -> str: ...
def verdict(
    groups: Sequence[tuple[str, str, Sequence[str], Sequence[Facts]]], keys: Sequence[str]
) -> str: ...
def applications_json() -> str: ...
def measures_json() -> str: ...
