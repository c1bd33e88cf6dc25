"""Sojourn: packet-level simulation of cable broadband (DOCSIS) and of its queue management.

In short:

    import sojourn

    result = sojourn.run("scenarios/home.toml", duration_s=30)
    result.summary()
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._sojourn import ConfigError, ConfigFile, Defect, ScenarioError, Variant
    from ._sojourn import version as __version__
    from .api import Comparison, Result, load, run

__all__ = [
    "Comparison",
    "ConfigError",
    "ConfigFile",
    "Defect",
    "Result",
    "ScenarioError",
    "Variant",
    "__version__",
    "load",
    "run",
]

_NATIVE = {
    "ConfigError": "ConfigError",
    "ConfigFile": "ConfigFile",
    "Defect": "Defect",
    "ScenarioError": "ScenarioError",
    "Variant": "Variant",
    "__version__": "version",
}


def __getattr__(name: str) -> Any:
    # Imported on first use, so that `sojourn --help` does not wait for pyarrow.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _NATIVE:
        from . import _sojourn

        return getattr(_sojourn, _NATIVE[name])
    from . import api

    return getattr(api, name)
