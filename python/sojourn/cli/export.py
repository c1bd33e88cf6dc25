"""The command `sojourn export`."""

from pathlib import Path
from typing import Annotated

import typer

from .say import say


def export(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="Results of run --out or sweep.")
    ],
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="flent, pcapng or csv.")],
    out: Annotated[
        Path, typer.Option(metavar="PATH", help="File to write; for csv, a new directory.")
    ],
    point: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Capture point of pcapng: home, channel, cmts or server."
        ),
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="The run to export, if there are several.")
    ] = None,
) -> None:
    """Export a run for flent, for Wireshark (pcapng) or as CSV.

    pcapng needs the packet trace, and so do the pings in a flent file: run the scenario with
    `--set metrics.packet_trace=true`.
    """
    from ..export import export as write

    write(results, form, out, point=point, variant=variant)
    say(f"{out}: written")
