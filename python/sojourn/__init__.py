"""Sojourn: packet-level simulation of cable broadband (DOCSIS) and of its queue management.

In short:

    import sojourn

    result = sojourn.run("scenarios/home.toml", duration_s=30)
    result.summary()
    result.save("out/home")
    result = sojourn.open("out/home")
"""

from .runs.hooks import Hooks, register

TYPE_CHECKING = False  # a signal while `typing` is imported would end the command with a traceback
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Any

    from ._sojourn import (
        ConfigError,
        ConfigFile,
        Defect,
        PartError,
        ScenarioError,
        Variant,
    )
    from ._sojourn import version as __version__
    from .analysis.groups import Results
    from .analysis.measured import read_log
    from .analysis.verdict import Assessment, Grade, Verdict
    from .base.errors import InputError, Problem, Warning
    from .base.lookup import UnknownError
    from .runs.changes import changes
    from .runs.comparison import Comparison
    from .runs.emulation import Emulation, Lateness, emulate
    from .runs.parts import (
        DROP,
        ENDLESS,
        HOME,
        MARK,
        PASS,
        SERVER,
        Control,
        Controller,
        Law,
        Score,
        Traffic,
        parameter,
    )
    from .runs.request import load
    from .runs.result import Result
    from .runs.runner import compare, run
    from .runs.shipped import scenarios
    from .runs.simulation import Observation, Simulation
    from .store.checksums import StoreError
    from .store.find import find
    from .store.found import Found
    from .store.opened import open as open
    from .store.swept import Swept, sweep

__all__ = [
    "DROP",
    "ENDLESS",
    "HOME",
    "MARK",
    "PASS",
    "SERVER",
    "Assessment",
    "Comparison",
    "ConfigError",
    "ConfigFile",
    "Control",
    "Controller",
    "Defect",
    "Emulation",
    "Found",
    "Grade",
    "InputError",
    "Lateness",
    "Law",
    "Observation",
    "PartError",
    "Problem",
    "Result",
    "ScenarioError",
    "Score",
    "Simulation",
    "StoreError",
    "Swept",
    "Traffic",
    "UnknownError",
    "Variant",
    "Verdict",
    "Warning",
    "__version__",
    "changes",
    "compare",
    "emulate",
    "find",
    "load",
    "parameter",
    "read_log",
    "run",
    "scenarios",
    "sweep",
]

_PLACES = {
    name: module
    for module, names in {
        "analysis.measured": "read_log",
        "analysis.verdict": "Assessment Grade Verdict",
        "base.errors": "InputError Problem Warning",
        "base.lookup": "UnknownError",
        "runs.changes": "changes",
        "runs.comparison": "Comparison",
        "runs.emulation": "Emulation Lateness emulate",
        "runs.parts": (
            "DROP ENDLESS HOME MARK PASS SERVER Control Controller Law Score Traffic parameter"
        ),
        "runs.request": "load",
        "runs.result": "Result",
        "runs.runner": "compare run",
        "runs.shipped": "scenarios",
        "runs.simulation": "Observation Simulation",
        "store.checksums": "StoreError",
        "store.find": "find",
        "store.found": "Found",
        "store.opened": "open",
        "store.swept": "Swept sweep",
    }.items()
    for name in names.split()
}
"""Modules of the public names that are not in the native module."""


def __getattr__(name: str) -> "Any":
    # Imported on first use: `sojourn --help` must not wait for pyarrow.
    if name not in __dir__():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = import_module(f".{_PLACES.get(name, '_sojourn')}", __name__)
    return getattr(module, "version" if name == "__version__" else name)


def __dir__() -> list[str]:
    # `from sojourn import *` leaves the built-in `open` as it is.
    return sorted([*__all__, "open"])


# Functions that `runs` calls in packages built on it. They are imported on first use too.


def _results_html(results: "Results") -> str:
    from .report.notebook import results_html

    return results_html(results)


def _scenario_html(variants: "Sequence[Variant]") -> str:
    from .report.notebook import scenario_html

    return scenario_html(variants)


def _save(results: "Results", directory: "Path", overwrite: bool) -> None:
    from .store.write import save

    save(results, directory, overwrite=overwrite)


register(Hooks(_results_html, _scenario_html, _save))
