"""The commands `sojourn study`, which sojourn finds by an entry point of this package."""

# Modules are imported where they are used, so that help is shown at once.

import textwrap
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from sojourn.base.lookup import UnknownError
from sojourn.base.plain_text import sojourn_command
from sojourn.cli.command import Command
from sojourn.cli.options import (
    Dask,
    Jobs,
    MaxMemory,
    Parts,
    Resume,
    ShardOf,
    argument,
    check_workers,
    flag,
    option,
)
from sojourn.cli.report import report
from sojourn.cli.say import say
from sojourn.cli.shard import say_part, shard_of

if TYPE_CHECKING:
    from .framework.running import Outcome

studies = typer.Typer(
    help="Repeat published studies and compare the results.", rich_markup_mode=None
)


@studies.command("list", cls=Command)
def list_studies() -> None:
    """List the studies and how to select their runs.

    For each study: the values of the options that select runs, and its alternative assumptions.
    """
    from .framework.plan import Plan
    from .framework.registry import STUDIES

    for name in STUDIES:
        plan = Plan(name)
        say(f"{name}: {plan.study.title}, {len(plan.cases) * plan.study.seeds} runs")
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


@studies.command("run", cls=Command)
def run_study(
    context: typer.Context,
    name: Annotated[str, argument("NAME", "The study; `sojourn study list` shows them.")],
    table: Annotated[
        list[str] | None, option("TABLE", "Only this table, such as 4.2 or fig-3; repeatable.")
    ] = None,
    experiment: Annotated[
        list[str] | None, option("NAME", "Only this experiment; repeatable.")
    ] = None,
    scheme: Annotated[list[str] | None, option("NAME", "Only this scheme; repeatable.")] = None,
    load: Annotated[list[str] | None, option("LOAD", "Only this load; repeatable.")] = None,
    figure: Annotated[
        list[str] | None, option("FIGURE", "Only this figure of the document; repeatable.")
    ] = None,
    duration_scale: Annotated[
        float, option("F", "Multiply the duration of every run.", min=0.0001, max=1000)
    ] = 1.0,
    seeds: Annotated[
        int | None,
        option(
            "N",
            "Run everything with the seeds 1 to N; default: as many as the study has.",
            min=1,
            max=10_000,
        ),
    ] = None,
    alternatives: Annotated[
        bool, flag("--alternatives", "Also run the alternative assumptions.")
    ] = False,
    law: Annotated[
        str, option("KIND", "Also run all with this law in the place of those that it has.")
    ] = "",
    each_way: Annotated[bool, typer.Option("--each-way", hidden=True)] = False,
    part: Parts = None,
    jobs: Jobs = None,
    dask: Dask = None,
    shard: ShardOf = None,
    resume: Resume = False,
    max_memory: MaxMemory = None,
    out: Annotated[Path | None, option("DIR", "Results directory; default: out/NAME.")] = None,
) -> None:
    """Run a study or a part of it.

    DIR gets all results, figures, and in cells.csv the values to compare with the published ones.
    """
    from .framework.plan import Plan
    from .framework.registry import study
    from .framework.rows import figure_number
    from .framework.running import run_part, run_plan

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
        seeds or study(name).seeds,
        alternatives,
        law,
    )
    plan.check()
    check_workers(jobs, dask)
    directory = out or Path("out") / name
    if share := shard_of(context, "study run", shard):
        say_part(share, run_part(plan, directory, share, resume=resume, jobs=jobs, dask=dask))
        return
    start = time.perf_counter()
    outcome = run_plan(plan, directory, resume=resume, jobs=jobs, dask=dask)
    _tell(outcome, time.perf_counter() - start, resumed=resume)


@studies.command("score", cls=Command)
def score_study(
    directory: Annotated[Path, argument("DIR", "Results of study run.")],
    part: Parts = None,
) -> None:
    """Compare the results of a study with the published values."""
    from sojourn.base.terminal import print_grids

    from .framework.report import alternatives_grid, cell_grids, score_grids
    from .framework.running import read
    from .framework.score import compared

    outcome = read(directory)
    study, values = outcome.plan.study, outcome.values
    if not compared(outcome.means):
        say("nothing to compare: no cell of this selection has a published value")
        print_grids([*study.ranked(outcome.with_own_law), *cell_grids(study, values)])
        return
    if (scale := outcome.plan.duration_scale) != 1:
        say(f"runs are {scale:g} times as long as the {study.terms.source}'s")
    print_grids(score_grids(study, values))
    if outcome.plan.alternatives:
        print_grids([alternatives_grid(outcome.results)])


@studies.command("snapshot", cls=Command)
def snapshot_study(
    directories: Annotated[
        list[Path] | None, argument("DIR", "Results of study run at full length.")
    ] = None,
    repository: Annotated[
        Path, option("DIR", "Copy of the repository whose files to renew.")
    ] = Path(),
) -> None:
    """Renew the stored results of studies in the repository.

    With DIR these are its cells, scores and pages; without it, the scores and pages of all studies.
    """
    from .framework.registry import STUDIES
    from .framework.snapshot import renew, renew_texts

    if directories:
        renewed = (renew(directory, repository) for directory in directories)
    else:
        renewed = (renew_texts(name, repository) for name in STUDIES)
    for paths in renewed:
        say("\n".join(map(str, paths)))


studies.command("report", cls=Command)(report)


_FEW_CELLS = 200
"""So many are shown where no published values sum them up; more fill screens."""


def _tell(outcome: "Outcome", took_s: float, *, resumed: bool) -> None:
    from sojourn.base.terminal import print_grids

    from .framework.report import cell_grids
    from .framework.score import compared

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
    cells = f"{len(plan.rows)} cells: {directory / 'cells.csv'}"
    say(f"{cells}; {sojourn_command('study', 'score', directory)} shows them")
    if not compared(outcome.means) and len(plan.rows) <= _FEW_CELLS:
        print_grids(cell_grids(plan.study, outcome.values))
    if plan.alternatives:
        say(f"cells of {len(plan.alternatives)} alternatives: {directory / 'alternatives.csv'}")
    for number in plan.figures:
        say(f"figure {number}: {directory / f'{plan.name}-figure-{number}.svg'}")
