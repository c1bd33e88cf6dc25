"""The command `sojourn find`."""

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from ..base.plain_text import sojourn_command
from . import options
from .options import flag, option
from .say import say, say_document


def find(
    context: typer.Context,
    scenario: options.ScenarioFile,
    key: Annotated[str, option("KEY.PATH", "The key to search, which has a number.")],
    until: Annotated[
        list[str],
        option("CONDITION", "What must hold, such as 'game p99 < 30'; repeatable: all of them."),
    ],
    low: Annotated[float | None, option("VALUE", "The least value of the key.", "--from")] = None,
    high: Annotated[float | None, option("VALUE", "The greatest value of the key.", "--to")] = None,
    step: Annotated[
        float | None,
        option("VALUE", "How near to come; default: 2 % of the value, and 1 for whole numbers."),
    ] = None,
    seeds: Annotated[int, option("N", "Seeds of each value.", min=1)] = 5,
    set: options.Set = None,
    config: options.Configs = None,
    part: options.Parts = None,
    vary: options.Vary = None,
    scale: options.Scale = None,
    seed: Annotated[int | None, option("N", "First seed; overrides the scenario's.")] = None,
    duration: options.Duration = None,
    jobs: options.Jobs = None,
    max_memory: options.MaxMemory = None,
    out: Annotated[Path | None, option("DIR", "Store runs, points and a figure here.")] = None,
    resume: options.Resume = False,
    overwrite: options.Overwrite = False,
    as_json: Annotated[bool, flag("--json", "Print only the answer, as JSON.")] = False,
    quiet: options.Quiet = False,
) -> None:
    """Find the values of a key at which conditions hold: how many homes, how small a buffer.

    The search bisects between --from and --to. Without one of them it doubles and halves from the
    scenario's value. Each value is run with the same seeds. A condition holds if it does for the
    whole 95 % interval over them.

    The exit status is 0 if the conditions hold somewhere for any variant, and 1 if they hold
    nowhere.
    """
    from ..analysis.conditions import bound
    from ..base.terminal import progress_bar
    from ..store.find import run_search
    from ..store.search import Search

    bounds = [bound(text, "--until") for text in until]
    search = Search(options.requested(context), key, bounds, low, high, step, seeds)
    with nullcontext() if quiet else progress_bar() as progress:
        found = run_search(
            search, out, resume=resume, overwrite=overwrite, progress=progress, jobs=jobs
        )
    if as_json:
        say_document(found.to_json())
    elif not quiet:
        found.summary()
        if out:
            report = sojourn_command("report", out)
            say(f"results: {out}; figures and tables of all measures: {report}")
    if not any(answer.holds for answer in found.values()):
        raise typer.Exit(1)
