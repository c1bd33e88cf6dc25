"""Reference page of the command line, generated from the Typer application."""

from collections.abc import Iterator, Sequence
from typing import Any

import typer
from sojourn.cli.app import application

_HEAD = """# Command line

*Reference, generated from the command line of this version.*

| exit status | meaning |
| --- | --- |
| 0 | done |
| 1 | a defect of Sojourn, or a limit of `--fail-below` that is not kept |
| 2 | bad input |
| 3 | `sojourn emulate`: packets came too late to trust the results |
| 130, 143, 129 | stopped by Ctrl-C, SIGTERM or a closed terminal |
| 141 | the reader of the output has gone |

`sojourn emulate` ends with the status of its program where none but 0 of these applies; that of a
program that a signal ended is 128 and the number of the signal. If it is 0, that of a program of a
further home counts, if one has failed.
"""


def command_line() -> str:
    """The page: every command with its arguments and options."""
    whole = typer.main.get_command(application())
    return "\n\n".join([_HEAD, *_commands(["sojourn"], whole)]) + "\n"


def _commands(path: Sequence[str], command: Any) -> Iterator[str]:
    children = getattr(command, "commands", {})
    if not children:
        yield f"## `{' '.join(path)}`"
        yield from _one(path, command)
    for name, child in children.items():
        yield from _commands([*path, name], child)


def _one(path: Sequence[str], command: Any) -> Iterator[str]:
    context = typer.Context(command, info_name=" ".join(path))
    yield command.help or ""
    yield f"```text\n{command.get_usage(context).removeprefix('Usage: ')}\n```"
    rows = [each for each in command.params if each.name != "help" and not _is_hidden(each)]
    if rows:
        yield "\n".join(_row(parameter, context) for parameter in rows)


def _is_hidden(parameter: Any) -> bool:
    """Is it there for a message alone?"""
    return bool(getattr(parameter, "hidden", False))


def _row(parameter: Any, context: typer.Context) -> str:
    name, text = parameter.get_help_record(context) or (parameter.human_readable_name, "")
    return f"- `{name}`: {text}"
