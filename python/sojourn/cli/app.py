"""The Typer application of `sojourn`, which has the command that was typed, or all of them.

Command modules import the rest of the package inside their functions, so that help is fast.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated

import typer

from .command import Command
from .say import say

_COMMANDS = (
    "init",
    "run",
    "emulate",
    "scenarios",
    "validate",
    "schema",
    "sweep",
    "find",
    "fit",
    "log",
    "jobs",
    "merge",
    "export",
    "lab",
    "report",
    "plot",
    "verify",
)
"""Each is a function in a module of its name."""


def application(arguments: Sequence[str] = ()) -> typer.Typer:
    """The application for these arguments.

    It has all commands, unless the arguments begin with one of them. Raises `BadParameter` for an
    argument that is no text, as names and paths must be.
    """
    _check_texts(arguments)
    app = typer.Typer(
        name="sojourn",
        help="Simulate home broadband over DOCSIS cable and its queue management, packet by "
        "packet.",
        add_completion=False,
        rich_markup_mode=None,
    )
    app.callback(invoke_without_command=True)(_options)
    names = [name for name in _COMMANDS if name in arguments[:1]]
    for name in names or _COMMANDS:
        module = import_module(f".{name}", __package__)
        app.command(cls=getattr(module, "CLASS", Command))(getattr(module, name))
    if not names:
        _add_groups(app)
    return app


def _add_groups(app: typer.Typer) -> None:
    from . import plugins
    from .config import config

    for name, group in plugins.commands():
        app.add_typer(group, name=name)
    app.add_typer(config, name="config")


def _check_texts(arguments: Sequence[str]) -> None:
    for place, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise typer.BadParameter(
                f"argument {place}: found {argument!r}; allowed: UTF-8 text"
            ) from None


def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from .._sojourn import version as this_version

        say(f"sojourn {this_version}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        say(context.get_help())
