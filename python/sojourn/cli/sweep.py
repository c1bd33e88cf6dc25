"""The command `sojourn sweep`."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..base.plain_text import sojourn_command
from . import options
from .options import argument, option
from .say import say, say_document, say_report
from .shard import say_part, shard_of

if TYPE_CHECKING:
    from ..store.store import Store

SweepFile = Annotated[Path, argument("SWEEP.toml", "Sweep file.")]
Seeds = Annotated[
    int | None, option("N", "Run the seeds 1 to N; overrides the file's.", min=1, max=10_000)
]
Seconds = Annotated[float | None, option("SECONDS", "Simulated time; overrides the file's.")]


def sweep(
    context: typer.Context,
    file: SweepFile,
    set: options.Set = None,
    config: options.Configs = None,
    part: options.Parts = None,
    vary: options.Vary = None,
    scale: options.Scale = None,
    seeds: Seeds = None,
    duration: Seconds = None,
    jobs: options.Jobs = None,
    dask: options.Dask = None,
    shard: options.ShardOf = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    max_memory: options.MaxMemory = None,
    out: Annotated[Path, option("DIR", "Results directory.")] = Path("out/sweep"),
    all: options.All = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario for all combinations of values and seeds.

    The sweep file names the scenario, the keys to vary with their values, and the number of seeds.
    Several modem configuration files and the values of --vary are swept side by side. The summary
    shows the mean of each setting over its seeds.
    """
    from ..runs.sweep_summary import sweep_json
    from ..store.sweep import overridden, read_sweep, run_sweep
    from ..store.swept import Swept

    options.check_workers(jobs, dask)
    if shard is not None and as_json:
        raise typer.BadParameter("--shard, --json: found both; allowed: one of them")
    share = shard_of(context, "sweep", shard)
    start = time.perf_counter()
    store = run_sweep(
        overridden(read_sweep(file), options.requested(context), seeds),
        out,
        resume=resume,
        overwrite=overwrite,
        jobs=jobs,
        dask=dask,
        quiet=quiet,
        shard=share,
    )
    if as_json:
        say_document(sweep_json(Swept(store).results))
    elif share and not quiet:
        say_part(share, store)
    elif not quiet:
        swept = Swept(store)
        swept.summary(in_full=all)
        _tell(store, len(swept), time.perf_counter() - start)


def _tell(store: "Store", runs: int, took_s: float) -> None:
    kept = runs - len(store.added)
    there = f"{kept} of {runs} runs were there already, " if kept else ""
    say(f"results: {store.directory} ({there}{took_s:.1f} s)")
    say_report(store.directory)
    export = sojourn_command("export", store.directory, "--format", "csv", "--out", "TABLES")
    say(f"tables for data frames: {export}")
