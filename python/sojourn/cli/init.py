"""The command `sojourn init`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from ..base.lookup import UnknownError
from ..runs.draft import (
    AQMS,
    DEFAULT_USES,
    LABORATORY,
    MOST_MBPS,
    NEIGHBOURS,
    TO_BUY,
    USES,
    USUAL,
    USUAL_SHARE,
    bytes_of,
    draft,
    remarks,
)
from .options import argument, flag, option
from .say import say, say_written

_SCHEMA = "scenario.schema.json"


def init(
    file: Annotated[Path, argument("SCENARIO.toml", "The new file.")] = Path("scenario.toml"),
    down: Annotated[
        float, option("MBPS", f"Rate to the home, at most {MOST_MBPS['down']}.", min=0.01)
    ] = 50,
    up: Annotated[
        float, option("MBPS", f"Rate from the home, at most {MOST_MBPS['up']}.", min=0.01)
    ] = 10,
    buffer: Annotated[
        str | None, option("SIZE", "Modem buffer, as 256kB; default: 250 ms.")
    ] = None,
    down_buffer: Annotated[
        str | None, option("SIZE", "Buffer of the CMTS, downstream; default: 250 ms.")
    ] = None,
    aqm: Annotated[
        str,
        option(
            "LIST",
            "Where and how queues are managed, to compare with drop-tail, the modem as it is. "
            f"To buy or to set: {', '.join(TO_BUY)}. In a laboratory, in modem and CMTS: "
            f"{', '.join(LABORATORY)}.",
        ),
    ] = ",".join(USUAL),
    router: Annotated[
        float,
        option(
            "PERCENT",
            "What a router before the modem sends, of the rates of the service.",
            min=1,
            max=100,
        ),
    ] = USUAL_SHARE,
    uses: Annotated[
        str | None,
        option(
            "LIST",
            f"What the household does, with counts as upload:4: {', '.join(USES)}; "
            f"default: {','.join(DEFAULT_USES)}.",
        ),
    ] = None,
    people: Annotated[str | None, option("LIST", "The old name of --uses.")] = None,
    neighbours: Annotated[
        str, option("KIND", f"Homes on the same channels: {', '.join(NEIGHBOURS)}.")
    ] = "neighbourhood",
    with_schema: Annotated[
        bool, flag("--schema/--no-schema", f"Write {_SCHEMA} beside it, for editors.")
    ] = True,
) -> None:
    """Write a commented scenario for a line and a household, ready to run."""
    from .._sojourn import ScenarioError
    from ..base.files import write_file
    from ..runs.request import load
    from ..runs.scenario_keys import schema_text

    if file.exists():
        raise typer.BadParameter(f"{file}: exists already; allowed: the path of a new file")
    if with_schema and not _is_free(file.with_name(_SCHEMA)):
        raise typer.BadParameter(
            f"{file.with_name(_SCHEMA)}: found a file of something else; "
            "allowed: another directory, or --no-schema"
        )
    household = _keyed(_written(uses, people), USES)
    kind = _as_known(neighbours.strip(), NEIGHBOURS)
    try:
        text = draft(
            down_mbps=down,
            up_mbps=up,
            buffer_bytes=_buffer_bytes("--buffer", buffer),
            down_buffer_bytes=_buffer_bytes("--down-buffer", down_buffer),
            aqms=_keyed(aqm, AQMS),
            router_percent=router,
            uses=household,
            neighbours=kind,
            schema=f"./{_SCHEMA}" if with_schema else "",
        )
    except UnknownError as error:
        raise typer.BadParameter(f"--{error}") from None
    try:
        load(text)
    except ScenarioError as error:
        raise typer.BadParameter(
            "\n".join(
                f"{_option(problem.path)}: {problem.path}: {problem.message}"
                for problem in error.problems
            )
        ) from None
    if with_schema:
        write_file(file.with_name(_SCHEMA), schema_text().encode())
    write_file(file, text.encode())
    for remark in remarks(up, kind, household):
        say(remark)
    say_written(file)


def _written(uses: str | None, people: str | None) -> str:
    """The uses of the household, by the option of today or by its old name."""
    if uses is not None and people is not None:
        raise typer.BadParameter(
            "--people: found beside --uses, its new name; allowed: one of them"
        )
    given = uses if people is None else people
    return ",".join(DEFAULT_USES) if given is None else given


def _option(path: str) -> str:
    """The option that gave the buffer with a key."""
    return "--down-buffer" if "downstream." in path else "--buffer"


def _keyed(names: str, known: Sequence[str]) -> list[str]:
    """The names of a list, as they are in what is `known`: docsis_pie for DOCSIS-PIE.

    What is unknown stays as it was written, and so does what follows a colon.
    """
    return [_as_known(name.strip(), known) for name in names.split(",")]


def _as_known(written: str, known: Sequence[str]) -> str:
    name, colon, rest = written.partition(":")
    as_key = name.strip().lower().replace("-", "_")
    meant = (f"{one}{colon}{rest}" for one in known if one.replace("-", "_") == as_key)
    return next(meant, written)


def _is_free(path: Path) -> bool:
    """Is there nothing, or a schema of scenarios, which may be of an earlier version?"""
    from ..base.files import read_content
    from ..runs.scenario_keys import SCHEMA_ID

    return not path.exists() or SCHEMA_ID.encode() in read_content(path)


def _buffer_bytes(option: str, size: str | None) -> int | None:
    if size is None:
        return None
    if size.strip().isdigit():
        raise typer.BadParameter(
            f"{option}: found {size}; allowed: a size with its unit, such as 256kB"
        )
    try:
        return bytes_of(size)
    except ValueError as error:
        raise typer.BadParameter(f"{option}: {error}") from None
