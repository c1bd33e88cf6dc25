"""Arguments and options that several commands have, and what is wrong with them together."""

from pathlib import Path
from typing import Annotated

import typer

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Set a key; may be repeated."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEM.cfg", help="A modem's file, whose service replaces the scenario's."
    ),
]
Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="What run --out, sweep or study run wrote.")
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Runs at the same time; default: all cores.")]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on the Dask cluster of this scheduler: tcp://HOST:PORT."
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Run only what is missing.")]


def check_workers(jobs: int | None, dask: str | None) -> None:
    """Raises `BadParameter` for jobs on a cluster, which has its own workers."""
    if jobs is not None and dask is not None:
        raise typer.BadParameter("found --jobs and --dask; allowed: one of them")
