"""Functions that results call in packages built on this one: rendering and saving.

This package cannot import those, so `sojourn` registers their functions when it is imported.
"""

TYPE_CHECKING = False  # as in `sojourn/__init__.py`
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from .._sojourn import Variant
    from ..analysis.groups import Results


class Hooks:
    """The registered functions."""

    def __init__(
        self,
        results_html: "Callable[[Results], str]",
        scenario_html: "Callable[[Sequence[Variant]], str]",
        save: "Callable[[Results, Path, bool], None]",
    ) -> None:
        """Takes what renders results and scenarios in a notebook, and what writes results.

        `save` writes report, summary and tables to a directory, and may overwrite; it raises
        `OSError`.
        """
        self.results_html = results_html
        self.scenario_html = scenario_html
        self.save = save


_registered: list[Hooks] = []


def register(hooks: Hooks) -> None:
    """Registers the functions to call from now on."""
    _registered[:] = [hooks]


def hooks() -> Hooks:
    """The registered functions."""
    return _registered[0]
