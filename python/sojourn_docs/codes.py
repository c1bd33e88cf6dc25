"""Reference page of the codes of problems and warnings, generated from the simulator."""

from sojourn._sojourn import all_codes

_HEAD = """# Codes of problems and warnings

*Reference, generated from the simulator.*

What is wrong with a scenario is an `InputError` in Python; a `ScenarioError` or a `ConfigError` has
a `Problem` for each fault. What a user should know of a run is a `Warning`. Both have a `code`, by
which programs decide: wordings change, codes stay. Their other attributes are the key (`path`), the
sentence (`message`), the numbers and texts in it by names (`values`), and the settings that it
proposes (`remedy`), which `set` of `run` and `load` takes. `--json`, `meta.json` of stored runs and
the live page have the same as data.
"""


def codes() -> str:
    """The page: every code with its meaning, those of problems first."""
    rows = (f"| `{name}` | {meaning} |" for name, meaning in all_codes())
    return "\n".join([_HEAD, "| code | meaning |", "| --- | --- |", *rows]) + "\n"
