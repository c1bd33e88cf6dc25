"""Defaults that differ from the last release, and which of them a scenario relies on."""

from collections.abc import Sequence
from dataclasses import dataclass

from .._sojourn import all_changed_defaults
from .request import load
from .scenario import Config, Scenario, Settings


@dataclass(frozen=True)
class Change:
    """A default that a scenario relies on and that differs from the last release."""

    variant: str
    """Name of the variant; empty for a single run."""
    key: str
    """The key, which the scenario does not name."""
    before: str
    """The former default, as TOML."""
    now: str
    """The default now."""
    restore: str
    """What gives the former default back, in the key's table."""
    why: str
    """Why it changed."""
    sentence: str
    """The key, the default now, and what restores the former one."""

    def __str__(self) -> str:
        return self.sentence


def changes(
    scenario: Scenario, *, set: Settings = (), config: Config | None = None
) -> list[Change]:
    """The defaults that a scenario relies on and that differ from the last release.

    A scenario relies on the default of a key that it does not name. `scenario`, `set` and `config`
    are as in `load`. Raises `ScenarioError` as `load` does.

        >>> print(sojourn.changes("scenarios/fibre.toml")[0])
        traffic.game.direction: default is now "both"; direction = "up" restores 0.2.0
    """
    return [
        Change(variant.name, key, before, now, restore, why, str(warning))
        for variant in load(scenario, set=set, config=config)
        for key, (before, now, restore, why), warning in variant.changed_defaults()
    ]


def changelog_table() -> str:
    """All these changes, as the changelog lists them; a test holds it equal to this."""
    since, rows = all_changed_defaults()
    head = ("key", "where", f"in {since}", "now", f"as in {since}", "why")
    cells = [head, ("---",) * len(head), *map(_cells, rows)]
    return "".join(f"| {' | '.join(row)} |\n" for row in cells)


def _cells(row: Sequence[str]) -> Sequence[str]:
    key, condition, before, now, restore, why = row
    is_value = now.startswith('"')
    after = f"`{now}`" if is_value else now
    return (f"`{key}`", condition, f"`{before}`", after, f"`{restore}`", why)


if __name__ == "__main__":
    print(changelog_table(), end="")
