"""The commands `sojourn study`, which sojourn finds by an entry point of this package."""

# Modules are imported where they are used, so that help is shown at once.

import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from sojourn.base.lookup import UnknownError
from sojourn.cli.options import Dask, Jobs, MaxMemory, Resume, check_workers
from sojourn.cli.report import report
from sojourn.cli.say import say

if TYPE_CHECKING:
    from .framework.running import Outcome

studies = typer.Typer(help="Redo published studies.", rich_markup_mode=None)


@studies.command("list")
def list_studies() -> None:
    """List the studies, all that their runs can be selected by, and their alternatives."""
    from .framework.plan import Plan
    from .framework.registry import STUDIES

    for name in STUDIES:
        plan = Plan(name)
        say(f"{name}: {plan.study.title}, {len(plan.cases)} runs")
        for key, words in plan.choices.items():
            if words:
                listed = ", ".join(_listed(str(word)) for word in words)
                say(_wrapped(f"--{key} {listed}"))
        alternatives = ", ".join(one.name for one in plan.study.alternatives)
        say(_wrapped(f"alternative assumptions that --alternatives runs: {alternatives}"))


def _wrapped(line: str) -> str:
    return textwrap.fill(
        line,
        100,
        initial_indent="  ",
        subsequent_indent="      ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _listed(word: str) -> str:
    """A word among others, in quotes if it has a comma or a blank of its own."""
    return f"'{word}'" if {",", " "} & set(word) else word


@studies.command("run")
def run_study(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study.")],
    table: Annotated[
        list[str] | None,
        typer.Option(metavar="TABLE", help="Only this table, as 4.2 or fig-3; may be repeated."),
    ] = None,
    experiment: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this experiment; may be repeated."),
    ] = None,
    scheme: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only this scheme; may be repeated.")
    ] = None,
    load: Annotated[
        list[str] | None, typer.Option(metavar="LOAD", help="Only this load; may be repeated.")
    ] = None,
    figure: Annotated[
        list[str] | None,
        typer.Option(metavar="FIGURE", help="Only this figure of the document; may be repeated."),
    ] = None,
    duration_scale: Annotated[
        float,
        typer.Option(
            metavar="F", min=0.0001, max=1000, help="Factor on the duration of every run."
        ),
    ] = 1.0,
    seeds: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="Seeds 1 to N of every run.")
    ] = 1,
    alternatives: Annotated[
        bool, typer.Option("--alternatives", help="Run the alternative assumptions, too.")
    ] = False,
    each_way: Annotated[bool, typer.Option("--each-way", hidden=True)] = False,
    jobs: Jobs = None,
    dask: Dask = None,
    resume: Resume = False,
    max_memory: MaxMemory = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to; default: out/NAME.")
    ] = None,
) -> None:
    """Run a study, or part of it: cells.csv, figures, and all results."""
    from .framework.plan import Plan
    from .framework.rows import figure_number
    from .framework.running import run_plan

    if each_way:
        raise UnknownError("option: found --each-way; allowed: --alternatives, its name since 0.2")
    plan = Plan(
        name,
        table or (),
        experiment or (),
        scheme or (),
        load or (),
        [figure_number(number) for number in figure or ()],
        duration_scale,
        seeds,
        alternatives,
    )
    plan.check()
    check_workers(jobs, dask)
    directory = out or Path("out") / name
    start = time.perf_counter()
    outcome = run_plan(plan, directory, resume=resume, jobs=jobs, dask=dask)
    _tell(outcome, time.perf_counter() - start, resumed=resume)


@studies.command("score")
def score_study(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What study run wrote.")],
) -> None:
    """Compare a study that was run with what its document reports."""
    from sojourn.base.terminal import print_grids

    from .framework.report import alternatives_grid, score_grids
    from .framework.running import read
    from .framework.score import compared

    outcome = read(directory)
    means = outcome.means
    if not compared(means):
        say("nothing to compare: no cell of this selection has a published value")
        return
    print_grids(score_grids(outcome.plan.study, means))
    if outcome.plan.alternatives:
        print_grids([alternatives_grid(outcome.results)])
    if (scale := outcome.plan.duration_scale) != 1:
        say(f"runs are {scale:g} times as long as the document's")


@studies.command("snapshot")
def snapshot_study(
    directories: Annotated[
        list[Path] | None,
        typer.Argument(metavar="DIR", help="What study run wrote at full length."),
    ] = None,
    repository: Annotated[
        Path, typer.Option(metavar="DIR", help="The repository whose files are renewed.")
    ] = Path(),
) -> None:
    """Renew stored cells, scores and pages of studies; without DIR, scores and pages alone."""
    from .framework.registry import STUDIES
    from .framework.snapshot import renew, renew_texts

    if directories:
        renewed = (renew(directory, repository) for directory in directories)
    else:
        renewed = (renew_texts(name, repository) for name in STUDIES)
    for paths in renewed:
        say("\n".join(map(str, paths)))


studies.command("report")(report)


def _tell(outcome: "Outcome", took_s: float, *, resumed: bool) -> None:
    plan, directory, added = outcome.plan, outcome.store.directory, outcome.store.added
    wanted = plan.run_count
    if len(added) < wanted:
        say(f"{wanted - len(added)} of {wanted} runs were there already")
    if added:
        simulated_s = sum(task.duration_s for task in added)
        runs = "1 run" if len(added) == 1 else f"{len(added)} runs"
        say(
            f"{runs}, {simulated_s:g} s simulated in {took_s:.1f} s: "
            f"{simulated_s / took_s:.0f} × real time"
        )
    if replaced := outcome.store.replaced:
        why = "damaged" if resumed else "--resume would have kept them"
        say(f"{replaced} of them had been there before: {why}")
    say(f"{len(plan.rows)} cells: {directory / 'cells.csv'}")
    if plan.alternatives:
        say(f"cells of {len(plan.alternatives)} alternatives: {directory / 'alternatives.csv'}")
    for number in plan.figures:
        say(f"figure {number}: {directory / f'{plan.name}-figure-{number}.svg'}")
