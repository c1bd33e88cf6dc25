"""Output of commands."""

import json
from typing import Any

import typer

from ..base.plain_text import plain


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Prints a text; control characters in it are shown as escapes."""
    typer.echo(plain(text), err=err, nl=nl)


def say_json(value: Any) -> None:
    """Prints a value as JSON, in which escapes of its own stand for control characters."""
    say(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))
