"""The command `sojourn validate`."""

from .options import Config, MaxMemory, Parts, ScenarioFile, Set
from .say import say


def validate(
    scenario: ScenarioFile,
    set: Set = None,
    config: Config = None,
    part: Parts = None,
    max_memory: MaxMemory = None,
) -> None:
    """Check a scenario without running it, and list defaults that differ from the last release.

    A file that sojourn init of this version wrote relies on the defaults of today.
    """
    from ..analysis.summary import dedupe_warnings
    from ..base.files import read_text
    from ..runs.draft import WRITTEN
    from ..runs.request import load
    from ..runs.scenario import file_of

    variants = load(scenario, set=set or (), config=config)
    for warning in dedupe_warnings({v.name: v.warnings() for v in variants}):
        say(f"warning: {warning}", err=True)
    names = f" (compares {', '.join(v.name for v in variants)})" if variants[0].name else ""
    say(f"{scenario}: valid{names}")
    if (file := file_of(scenario)) and WRITTEN in read_text(file):
        return
    changed = {v.name: [warning for *_, warning in v.changed_defaults()] for v in variants}
    for sentence in dedupe_warnings(changed):
        say(sentence)
