"""The command `sojourn sweep`."""

import time
from pathlib import Path
from typing import Annotated

import typer

from .options import Dask, Jobs, MaxMemory, Overwrite, Resume, check_workers
from .say import say


def sweep(
    file: Annotated[Path, typer.Argument(metavar="SWEEP.toml", help="Sweep file.")],
    jobs: Jobs = None,
    dask: Dask = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    max_memory: MaxMemory = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Results directory.")] = Path(
        "out/sweep"
    ),
) -> None:
    """Run a scenario for all combinations of values and seeds.

    The sweep file names the scenario, the keys to vary with their values, and the number of seeds.
    """
    from ..store.sweep import read_sweep, run_sweep

    check_workers(jobs, dask)
    start = time.perf_counter()
    store = run_sweep(
        read_sweep(file), out, resume=resume, overwrite=overwrite, jobs=jobs, dask=dask
    )
    say(f"results: {store.directory} ({time.perf_counter() - start:.1f} s)")
    say(f"verdict, tables and figures of them: sojourn report {store.directory}")
