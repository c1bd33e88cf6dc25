"""Output of commands."""

import typer

from ..base.plain_text import plain


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Prints a text; control characters in it are shown as escapes."""
    typer.echo(plain(text), err=err, nl=nl)
