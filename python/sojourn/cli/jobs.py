"""The command `sojourn jobs`."""

from pathlib import Path
from typing import Annotated

import typer

from .options import Configs, MaxMemory, Parts, Set, Vary, flag, option, requested
from .say import say
from .shard import typed
from .sweep import Seconds, Seeds, SweepFile

_NOT_OF_A_SWEEP = ("slurm", "snakemake", "shards", "out")


def jobs(
    context: typer.Context,
    file: SweepFile,
    slurm: Annotated[bool, flag("--slurm", "Print a script for SLURM.")] = False,
    snakemake: Annotated[bool, flag("--snakemake", "Print a Snakefile.")] = False,
    shards: Annotated[
        int | None, option("N", "Number of parts; default: as many as runs, at most 100.", min=1)
    ] = None,
    set: Set = None,
    config: Configs = None,
    part: Parts = None,
    vary: Vary = None,
    seeds: Seeds = None,
    duration: Seconds = None,
    max_memory: MaxMemory = None,
    out: Annotated[Path, option("DIR", "Directory of the joined results.")] = (Path("out/sweep")),
) -> None:
    """Print a script that runs a sweep in parts on a cluster, then joins them.

    Each part is a job that runs `sojourn sweep --shard`; the last one is `sojourn merge`. The
    sweep is checked first. The other options are those of `sojourn sweep`.
    """
    from ..store.jobs import SLURM, SNAKEMAKE, script
    from ..store.sweep import overridden, read_sweep

    if slurm == snakemake:
        found = "both" if slurm else "none"
        raise typer.BadParameter(f"--slurm, --snakemake: found {found}; allowed: one of them")
    wanted = overridden(read_sweep(file), requested(context), seeds)
    command = typed(context, "sweep", _NOT_OF_A_SWEEP)
    say(script(SLURM if slurm else SNAKEMAKE, wanted, command, out, shards))
