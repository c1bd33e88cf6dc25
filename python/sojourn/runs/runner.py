"""Runs scenarios and returns their results."""

import os

from .._sojourn import Variant
from ..base.progress import Progress
from .comparison import Comparison
from .result import Result
from .scenario import Scenario, Settings, load
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
) -> Result | Comparison:
    """Runs a scenario. With a compare table it returns a `Comparison`, else a `Result`.

    See `load` for `scenario`, `seed`, `duration_s`, `set` and `config`. `progress` is called
    several times a second with the simulated and the total time in s. `jobs` limits the variants
    that run in parallel (default: the number of CPU cores). Ctrl-C stops all of them. Raises
    `ScenarioError` with all that is wrong with the scenario.

        >>> result = sojourn.run("scenarios/upload.toml", duration_s=2, seed=3)
        >>> result["upload, drop-tail"].meta["seed"]
        3
    """
    variants = load(scenario, seed=seed, duration_s=duration_s, set=set, config=config)
    return run_variants(variants, progress=progress, jobs=jobs)


def compare(
    *scenarios: Scenario,
    seed: int | None = None,
    duration_s: float | None = None,
    set: Settings = (),
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Comparison:
    """Runs all variants of one scenario, or several scenarios side by side.

    A scenario without a compare table has one variant. With several scenarios the variants are
    named by the files (or the titles), and by their own variants. The other parameters are those
    of `run`; `set` overrides keys of all scenarios. Raises `ValueError` if two variants have the
    same name.

        >>> both = sojourn.compare("scenarios/fibre.toml", "scenarios/evening.toml", duration_s=1)
        >>> list(both)
        ['fibre', 'evening']
    """
    if not scenarios:
        raise TypeError("compare: found no scenario; allowed: one or more")
    loaded = [load(one, seed=seed, duration_s=duration_s, set=set) for one in scenarios]
    variants = [variant for each in loaded for variant in each]
    names = [variant.name or "scenario" for variant in variants]
    if len(scenarios) > 1:
        names = [
            ", ".join(filter(None, (each.name, variant.name)))
            for each in loaded
            for variant in each
        ]
    for name in names:
        if names.count(name) > 1:
            found = f"found two variants named {name!r}"
            raise ValueError(f"compare: {found}; allowed: different names")
    natives = run_all(variants, progress, jobs)
    return Comparison(
        Result(variant, native, name)
        for variant, native, name in zip(variants, natives, names, strict=True)
    )


def run_variants(
    variants: list[Variant],
    *,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Result | Comparison:
    """Runs the variants that `load` returned."""
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs: found {jobs}; allowed: 1 or more")
    natives = run_all(variants, progress, jobs)
    results = [Result(variant, native) for variant, native in zip(variants, natives, strict=True)]
    return Comparison(results) if variants[0].name else results[0]
