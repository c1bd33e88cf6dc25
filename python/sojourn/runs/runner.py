"""Runs scenarios and returns their results."""

import os
from collections.abc import Iterable, Sequence
from itertools import chain

from .._sojourn import Variant, idle_lines
from ..analysis.precision import FEWEST_SEEDS, Target, seeds_needed, targets_of
from ..base.progress import Progress
from .comparison import Comparison
from .parts import Given
from .request import Request, load
from .result import Result
from .scenario import Config, Scenario, Settings
from .seeds import as_one, most_seeds, seeded
from .threads import run_all


def run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    seeds: int | None = None,
    until: str | Sequence[str] = (),
    duration_s: float | None = None,
    set: Settings = (),
    config: str | os.PathLike[str] | None = None,
    scale: Settings = (),
    progress: Progress | None = None,
    jobs: int | None = None,
    max_memory_gb: float | None = None,
    parts: Iterable[Given] = (),
    replay: str | os.PathLike[str] | None = None,
    replay_anyway: bool = False,
) -> Result | Comparison:
    """Runs a scenario. With a compare table it returns a `Comparison`, else a `Result`.

    An idle line is run too: the same traffic without bulk traffic. It is the last variant of a
    comparison, and `Result.idle_line` of a single run. Variants that differ in more than queues and
    bulk traffic have idle lines of their own. `baseline = false` in the scenario leaves them out.

    With `seeds` each variant and the idle line run with so many seeds, counted from the scenario's.
    The result's tables then have a column `seed`, and summary and report show means with 95 %
    intervals. With `until`, such as `["game p99 5%"]`, seeds are added until half of the interval
    of each measure is at most that share of its mean in every variant; `seeds` is then the most
    that are run (default: 100).

    See `load` for `scenario`, `seed`, `duration_s`, `set`, `config`, `scale`, `max_memory_gb`,
    `parts`, `replay` and `replay_anyway`.
    `progress` is called several times a second with the simulated and the total time in s.
    `jobs` limits the runs that run in parallel (default: the number of CPU cores). Fewer run
    in parallel if memory may not suffice for so many. Ctrl-C stops all of them. Raises
    `ScenarioError` with all faults of the scenario, and `PartError` if one of `parts` fails.

        >>> result = sojourn.run("scenarios/upload.toml", duration_s=2, seed=3)
        >>> result["drop-tail"].meta["seed"]
        3
        >>> result = sojourn.run("scenarios/upload.toml", duration_s=2, seeds=3)
        >>> sorted(set(result["drop-tail"].flows["seed"].to_pylist()))
        [1, 2, 3]
    """
    variants = load(
        scenario,
        seed=seed,
        duration_s=duration_s,
        set=set,
        config=config,
        scale=scale,
        max_memory_gb=max_memory_gb,
        parts=parts,
        replay=replay,
        replay_anyway=replay_anyway,
    )
    return run_variants(
        variants,
        seeds=seeds,
        until=targets_of(until),
        progress=progress,
        jobs=jobs,
        max_memory_gb=max_memory_gb,
    )


def compare(
    *scenarios: Scenario,
    seed: int | None = None,
    seeds: int | None = None,
    until: str | Sequence[str] = (),
    duration_s: float | None = None,
    set: Settings = (),
    configs: Sequence[Config] = (),
    vary: Settings = (),
    scale: Settings = (),
    progress: Progress | None = None,
    jobs: int | None = None,
    parts: Iterable[Given] = (),
) -> Comparison:
    """Runs all variants of one scenario, or several scenarios side by side.

    Each scenario is run with each modem configuration file of `configs`, and once more for each
    `key.path=value` of `vary`. The other parameters are those of `run`. Variants are named after
    their file and what was changed. An idle line is run too.

        >>> both = sojourn.compare("scenarios/upload.toml", "scenarios/fibre.toml", duration_s=1)
        >>> list(both)[:2]
        ['upload: drop-tail', 'upload: DOCSIS-PIE']
    """
    if not scenarios:
        raise TypeError("compare: found no scenario; allowed: one or more")
    request = Request.of(
        *scenarios,
        seed=seed,
        duration_s=duration_s,
        set=set,
        config=configs,
        vary=vary,
        scale=scale,
        parts=parts,
    )
    result = run_variants(
        request.load(), seeds=seeds, until=targets_of(until), progress=progress, jobs=jobs
    )
    return result if isinstance(result, Comparison) else Comparison(result.runs.values())


def run_variants(
    variants: Sequence[Variant],
    *,
    seeds: int | None = None,
    until: Sequence[Target] = (),
    progress: Progress | None = None,
    jobs: int | None = None,
    max_memory_gb: float | None = None,
) -> Result | Comparison:
    """Runs the variants of a request, and their idle lines, as `run` does."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    most = most_seeds(variants, seeds, until)
    everything = with_idle_lines(variants)
    results: list[Result] = []
    count, ran = FEWEST_SEEDS if until else most, 0
    while True:
        rows = [[seeded(one, place) for one in everything] for place in range(ran, count)]
        wanted = list(chain.from_iterable(rows))
        natives = run_all(wanted, _going_on(progress, results), jobs, max_memory_gb)
        results += map(Result, wanted, natives)
        outcome = _outcome([results[n :: len(everything)] for n in range(len(everything))])
        if count == most or count == (needed := seeds_needed(outcome.groups, until)):
            return outcome
        count, ran = min(needed, most), count


def _going_on(progress: Progress | None, done: Sequence[Result]) -> Progress | None:
    """The progress of runs that follow others."""
    done_s = sum(result.meta["duration_s"] for result in done)
    return progress and (
        lambda simulated_s, total_s: progress(done_s + simulated_s, done_s + total_s)
    )


def _outcome(results: Sequence[Sequence[Result]]) -> Result | Comparison:
    """The results of each variant with all seeds, idle lines last."""
    of_variants = list(map(as_one, results))
    if of_variants[0].name:
        return Comparison(of_variants)
    alone, *idle = of_variants
    alone.idle_line = idle[0] if idle else None
    return alone


def with_idle_lines(variants: Sequence[Variant]) -> list[Variant]:
    """The variants, and the idle lines that are run beside them."""
    return [*variants, *idle_lines(variants)]
