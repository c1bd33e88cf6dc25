"""The command `sojourn run`."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import Config, Overwrite, ScenarioFile, Set

if TYPE_CHECKING:
    from .._sojourn import ScenarioError


def run(
    scenario: ScenarioFile,
    set: Set = None,
    config: Config = None,
    seed: Annotated[int | None, typer.Option(help="Random seed; overrides the scenario's.")] = None,
    duration: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Simulated time; overrides the scenario's."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report, summary and tables here."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print only the summary, as JSON.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only errors.")] = False,
) -> None:
    """Run a scenario and print latency, loss, throughput and scores.

    A scenario with a compare table runs once for each variant.
    """
    from .._sojourn import ScenarioError
    from ..analysis.summary import summary_json
    from ..base.terminal import progress_bar
    from ..runs.runner import run_variants
    from ..runs.scenario import load

    try:
        variants = load(scenario, seed=seed, duration_s=duration, set=set or (), config=config)
    except ScenarioError as error:
        _name_option(error, "--seed", f"seed={seed}")
        _name_option(error, "--duration", f"duration_s={duration}")
        raise
    if out:
        from ..store.write import check, save

        check(out, str(scenario), overwrite=overwrite)
    with nullcontext() if quiet else progress_bar() as progress:
        result = run_variants(variants, progress=progress)
    if out:
        save(result.runs, out, str(scenario), overwrite=overwrite)
    if as_json:
        typer.echo(json.dumps(summary_json(result.runs), indent=2))
    elif not quiet:
        result.summary()
        if out:
            typer.echo(f"report: {out / 'report.html'}")


def _name_option(error: "ScenarioError", option: str, setting: str) -> None:
    """Raises the error as one of the option that was typed, which is passed on as a setting."""
    for problem in error.problems:
        if problem.source == f"--set {setting}":
            raise typer.BadParameter(f"{option}: {problem.message}") from None
