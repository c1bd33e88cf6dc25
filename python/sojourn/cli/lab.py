"""The command `sojourn lab`: a live page in the browser."""

from contextlib import suppress
from typing import Annotated

import typer

from .options import flag, option

_PORT = 8470


def lab(
    port: Annotated[
        int, option("PORT", "Port of the server; 0 picks a free one.", min=0, max=65535)
    ] = _PORT,
    open_page: Annotated[bool, flag("--open/--no-open", "Open the page in a browser.")] = True,
) -> None:
    """Open a live page: change a home and see the effect.

    Only this machine can reach the server. Ctrl-C stops it.
    """
    from ..lab.server import serve

    with suppress(KeyboardInterrupt):
        serve(port, open_page, typer.echo)
