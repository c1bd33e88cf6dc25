"""The command `sojourn lab`: a live page in the browser."""

from contextlib import suppress
from typing import Annotated

import typer

_PORT = 8470


def lab(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to serve on; 0 for any that is free.")
    ] = _PORT,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Serve a live page, to this machine alone: a home to play with. Ctrl-C ends it."""
    from ..lab.server import serve

    with suppress(KeyboardInterrupt):
        serve(port, open_page, typer.echo)
