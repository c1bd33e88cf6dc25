"""The command `sojourn run`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from .options import Config, ScenarioFile, Set


def run(
    scenario: ScenarioFile,
    set: Set = None,
    config: Config = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random streams.")] = None,
    duration: Annotated[
        float | None, typer.Option(metavar="S", help="Simulated time in s.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report, summary and tables to a directory."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Run a scenario and show what people in the home feel."""
    from ..analysis.summary import summary_json
    from ..base.terminal import progress_bar
    from ..runs.runner import run_variants
    from ..runs.scenario import load

    variants = load(scenario, seed=seed, duration_s=duration, set=set or (), config=config)
    if out:
        from ..store.write import check

        check(out)
    with nullcontext() if quiet else progress_bar() as progress:
        result = run_variants(variants, progress=progress)
    if out:
        result.save(out)
    if as_json:
        typer.echo(json.dumps(summary_json(result.runs), indent=2))
    elif not quiet:
        result.summary()
        if out:
            typer.echo(f"report: {out / 'report.html'}")
