"""The command `sojourn init`."""

from pathlib import Path
from typing import Annotated

import typer

from ..base.lookup import UnknownError
from ..runs.draft import AQMS, PEOPLE, bytes_of, draft
from .say import say

_SCHEMA = "scenario.schema.json"


def init(
    file: Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The new file.")] = Path(
        "scenario.toml"
    ),
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
        str,
        typer.Option(
            metavar="NAME", help=f"Queue manager to compare with drop-tail: {', '.join(AQMS)}."
        ),
    ] = "docsis_pie",
    people: Annotated[
        str, typer.Option(metavar="LIST", help=f"What the household does: {', '.join(PEOPLE)}.")
    ] = "game,call,upload",
    with_schema: Annotated[
        bool,
        typer.Option("--schema/--no-schema", help=f"Write {_SCHEMA} beside it, for editors."),
    ] = True,
) -> None:
    """Write a commented scenario for a line and a household, ready to run."""
    from ..base.files import write_file
    from ..runs.scenario import load
    from ..runs.scenario_keys import schema_text

    if file.exists():
        raise typer.BadParameter(f"{file}: found a file there; allowed: the path of a new file")
    if with_schema and not _is_free(file.with_name(_SCHEMA)):
        raise typer.BadParameter(
            f"{file.with_name(_SCHEMA)}: found a file of something else; "
            "allowed: another directory, or --no-schema"
        )
    try:
        text = draft(
            down_mbps=down,
            up_mbps=up,
            buffer_bytes=_buffer_bytes(buffer),
            aqm=_keyed(aqm),
            people=[_keyed(activity) for activity in people.split(",")],
            schema=f"./{_SCHEMA}" if with_schema else "",
        )
    except UnknownError as error:
        raise typer.BadParameter(f"--{error}") from None
    load(text)
    if with_schema:
        write_file(file.with_name(_SCHEMA), schema_text().encode())
    write_file(file, text.encode())
    say(f"{file}: written; run it with: sojourn run {file} --out out/{file.stem}")


def _keyed(name: str) -> str:
    """A name as it is in lists of names: docsis_pie for DOCSIS-PIE."""
    return name.strip().lower().replace("-", "_")


def _is_free(path: Path) -> bool:
    """Is there nothing, or a schema of scenarios, which may be of an earlier version?"""
    from ..runs.scenario_keys import SCHEMA_ID

    return not path.exists() or SCHEMA_ID in path.read_text(errors="replace")


def _buffer_bytes(size: str | None) -> int | None:
    if size is None:
        return None
    if size.strip().isdigit():
        raise typer.BadParameter(
            f"--buffer: found {size}; allowed: a size with its unit, such as 256kB"
        )
    try:
        return bytes_of(size)
    except ValueError as error:
        raise typer.BadParameter(f"--buffer: {error}") from None
