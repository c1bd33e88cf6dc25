"""The class of all commands, for their help."""

from typing import Any

from typer.core import TyperArgument, TyperCommand

_LONGEST_SUMMARY = 100


class _Argument(TyperArgument):
    def display_type_rich(self, ctx: Any) -> None:
        """Its name says enough; Typer would add the Python type, such as `<list[Path]>`."""


class Command(TyperCommand):
    """A command whose summary is never cut off, and whose arguments are shown by name alone."""

    def __init__(self, *args: Any, **options: Any) -> None:
        """Takes what Typer passes to its own class."""
        super().__init__(*args, **options)
        for parameter in self.params:
            if isinstance(parameter, TyperArgument):
                parameter.__class__ = _Argument

    def get_short_help_str(self, limit: int = _LONGEST_SUMMARY) -> str:
        """The first sentence of the help. Lists of commands ask for less and then wrap it."""
        return super().get_short_help_str(max(limit, _LONGEST_SUMMARY))
