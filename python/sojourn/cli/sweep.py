"""The command `sojourn sweep`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .options import Dask, Jobs, Resume, check_workers


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="What to run.")],
    jobs: Jobs = None,
    dask: Dask = None,
    resume: Resume = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to.")] = Path("out/sweep"),
) -> None:
    """Run a scenario with every combination of some keys' values and seeds."""
    from ..store.sweep import read_sweep, run_sweep

    check_workers(jobs, dask)
    start = time.perf_counter()
    store = run_sweep(read_sweep(file), out, resume=resume, jobs=jobs, dask=dask)
    typer.echo(f"results: {store.directory}, after {time.perf_counter() - start:.1f} s")
