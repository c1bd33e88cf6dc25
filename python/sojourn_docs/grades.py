"""Reference page of grades, generated from the limits that reports use."""

from collections.abc import Iterator

from sojourn.report.grades import USES, Limit, Use

_HEAD = """# Grades

*Reference, generated from the limits that reports use.*

A report grades what the household does as good, fair or poor. It is good if every limit of *good*
holds, fair if every limit of *fair* holds, and otherwise poor. Among several entries the worst one
counts. What several seeds gave is averaged first.
"""


def grades() -> str:
    """The page: every use with its limits and their sources."""
    return "\n\n".join([_HEAD, *(part for use in USES for part in _use(use))]) + "\n"


def _use(use: Use) -> Iterator[str]:
    yield f"## {use.name.capitalize()}"
    rows = [("good", limit) for limit in use.good] + [("fair", limit) for limit in use.fair]
    yield "\n".join(_row(grade, limit) for grade, limit in rows)


def _row(grade: str, limit: Limit) -> str:
    return f"- **{grade}**: {limit.text} (`{limit.metric}`). Source: {limit.source}."
