"""The command `sojourn init`."""

from pathlib import Path
from typing import Annotated

import typer

from ..runs.draft import AQMS, PEOPLE, bytes_of, draft
from .say import say


def init(
    file: Annotated[
        Path, typer.Argument(metavar="SCENARIO.toml", help="Where to write it.")
    ] = Path("scenario.toml"),
    down: Annotated[
        float, typer.Option(metavar="MBPS", min=0.01, max=100_000, help="Rate to the home.")
    ] = 50,
    up: Annotated[
        float, typer.Option(metavar="MBPS", min=0.01, max=100_000, help="Rate from the home.")
    ] = 10,
    buffer: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Modem buffer, as 256kB; default: 250 ms."),
    ] = None,
    aqm: Annotated[
        str, typer.Option(metavar="NAME", help=f"Compared with drop-tail: {', '.join(AQMS)}.")
    ] = "docsis_pie",
    people: Annotated[
        str, typer.Option(metavar="LIST", help=f"What they do: {', '.join(PEOPLE)}.")
    ] = "game,call,upload",
) -> None:
    """Write a commented scenario for a line and a household, ready to run."""
    from ..base.files import write_file

    if file.exists():
        raise typer.BadParameter(f"{file}: found a file there; allowed: the path of a new file")
    text = draft(
        down_mbps=down,
        up_mbps=up,
        buffer_bytes=_buffer_bytes(buffer),
        aqm=aqm,
        people=[activity.strip() for activity in people.split(",")],
    )
    write_file(file, text.encode())
    say(f"{file}: written; run it with: sojourn run {file} --out out/{file.stem}")


def _buffer_bytes(size: str | None) -> int | None:
    if size is None:
        return None
    try:
        return bytes_of(size)
    except ValueError as error:
        raise typer.BadParameter(f"--buffer: {error}") from None
