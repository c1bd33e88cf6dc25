"""Runs scenarios and returns their results."""

import os
from collections.abc import Sequence

from .._sojourn import Variant, idle_line
from ..base.progress import Progress
from .comparison import Comparison
from .result import Result
from .scenario import Config, Scenario, Settings, load, load_all
from .threads import run_all


def run(
    scenario: Scenario,
    *,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    config: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
    max_memory_gb: float | None = None,
) -> Result | Comparison:
    """Runs a scenario. With a compare table it returns a `Comparison`, else a `Result`.

    An idle line is run too: the same traffic without bulk traffic. It is the last variant of a
    comparison, and `Result.idle_line` of a single run. `baseline = false` in the scenario leaves it
    out.

    See `load` for `scenario`, `seed`, `duration_s`, `set`, `config` and `max_memory_gb`.
    `progress` is called several times a second with the simulated and the total time in s.
    `jobs` limits the variants that run in parallel (default: the number of CPU cores). Fewer run
    in parallel if memory may not suffice for so many. Ctrl-C stops all of them. Raises
    `ScenarioError` with all faults of the scenario.

        >>> result = sojourn.run("scenarios/upload.toml", duration_s=2, seed=3)
        >>> result["drop-tail"].meta["seed"]
        3
    """
    variants = load(
        scenario,
        seed=seed,
        duration_s=duration_s,
        set=set,
        config=config,
        max_memory_gb=max_memory_gb,
    )
    return run_variants(variants, progress=progress, jobs=jobs, max_memory_gb=max_memory_gb)


def compare(
    *scenarios: Scenario,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    configs: Sequence[Config] = (),
    vary: Settings = (),
    progress: Progress | None = None,
    jobs: int | None = None,
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
    variants = load_all(
        scenarios, seed=seed, duration_s=duration_s, set=set, configs=configs, vary=vary
    )
    result = run_variants(variants, progress=progress, jobs=jobs)
    return result if isinstance(result, Comparison) else Comparison(result.runs.values())


def run_variants(
    variants: Sequence[Variant],
    *,
    progress: Progress | None = None,
    jobs: int | None = None,
    max_memory_gb: float | None = None,
) -> Result | Comparison:
    """Runs the variants that `load` returned, and their idle line."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    idle = idle_line(variants)
    everything = [*variants, *([idle] if idle else [])]
    natives = run_all(everything, progress, jobs, max_memory_gb)
    results = [Result(variant, native) for variant, native in zip(everything, natives, strict=True)]
    if variants[0].name:
        return Comparison(results)
    return Result(variants[0], natives[0], results[1] if idle else None)
