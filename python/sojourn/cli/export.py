"""The command `sojourn export`."""

from pathlib import Path
from typing import Annotated

import typer


def export(
    results: Annotated[
        Path, typer.Argument(metavar="RESULTS", help="A directory that `run --out` wrote.")
    ],
    form: Annotated[str, typer.Option("--format", metavar="FORMAT", help="flent, pcapng or csv.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="What to write; for csv, a directory.")],
    point: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For pcapng: home, channel, cmts or server."),
    ] = None,
    variant: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which run, where there are several.")
    ] = None,
) -> None:
    """Write a run for other tools: flent, Wireshark, or as CSV.

    pcapng, and the round-trip times of flent, are made of packets: run the scenario with
    `--set metrics.packet_trace=true`.
    """
    from ..export import export as write

    write(results, form, out, point=point, variant=variant)
    typer.echo(f"{out}: written")
