"""The command `sojourn run`."""

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from . import options
from .fail_below import FailBelow, Of, check_limits, check_variants, read_limits
from .options import flag, option
from .say import say, say_document


def run(
    context: typer.Context,
    scenarios: options.ScenarioFiles,
    set: options.Set = None,
    config: options.Configs = None,
    part: options.Parts = None,
    vary: options.Vary = None,
    scale: options.Scale = None,
    seed: Annotated[int | None, option("N", "Random seed; overrides the scenario's.")] = None,
    seeds: Annotated[
        int | None,
        option(
            "N",
            "Run with N seeds, counted from the scenario's, and show means with intervals.",
            min=1,
        ),
    ] = None,
    until: Annotated[
        list[str] | None,
        option(
            "'MEASURE SHARE'",
            "Add seeds until the mean of the measure is so precise in every variant: with "
            "'game p99 5%', half of its 95 % interval is at most 5 % of it. Repeatable; runs at "
            "most --seeds, or 100.",
        ),
    ] = None,
    duration: options.Duration = None,
    replay: Annotated[
        Path | None,
        option(
            "RECORD.pcapng",
            "Send the packets that sojourn emulate recorded once more, when they came then; the "
            "run takes as long as that one. With another queue this is an open loop: no program "
            "reacts.",
        ),
    ] = None,
    replay_anyway: Annotated[
        bool, flag("--replay-anyway", "Replay a record of another scenario too.")
    ] = False,
    out: options.Out = None,
    overwrite: options.Overwrite = False,
    max_memory: options.MaxMemory = None,
    fail_below: FailBelow = None,
    of: Of = None,
    all: options.All = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a scenario and print latency, loss, throughput and scores.

    A scenario with a compare table runs once for each variant. Several scenarios, several modem
    configuration files and the values of --vary are compared side by side.

    An idle line is run too: the same traffic without uploads, downloads and other bulk traffic.
    `baseline = false` in the scenario leaves it out.

    With --fail-below the exit status is 1 if a grade or a measure of any variant but an idle line
    is below that limit, or missing. With --of only that variant has to reach it.
    """
    from ..analysis.groups import equals
    from ..analysis.precision import Target
    from ..analysis.summary import summary_json
    from ..base.terminal import progress_bar
    from ..runs.runner import run_variants, with_idle_lines
    from ..runs.scenario import file_of
    from ..runs.seeds import most_seeds

    limits = read_limits(fail_below, of)
    variants = options.requested(context).load()
    check_variants(of, [name for one in variants for name in (one.name, *equals(one.notes))])
    targets = [Target.of(text, "--until") for text in until or ()]
    try:
        most = most_seeds(variants, seeds, targets)
    except ValueError as error:
        raise typer.BadParameter(f"--{error}") from None
    held: AbstractContextManager[None] = nullcontext()
    if out:
        from ..store.replace import Wanted, reserved
        from ..store.write import write

        files = [file for file in map(file_of, scenarios) if file]
        wanted = Wanted.of(with_idle_lines(variants), most, files, targets)
        held = reserved(out, wanted, overwrite=overwrite)
    with held:
        with nullcontext() if quiet else progress_bar() as progress:
            result = run_variants(variants, seeds=seeds, until=targets, progress=progress)
        if out:
            write(result.groups, out, wanted)
    if as_json:
        say_document(summary_json(result.groups, targets))
    elif not quiet:
        result.summary(in_full=all)
        for target in targets:
            say(target.reached(result.groups).sentence)
        if out:
            say(f"report: {out / 'report.html'}")
    check_limits(result.groups, limits, of)
