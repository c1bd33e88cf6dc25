"""Reference page of grades, generated from the thresholds that reports use."""

from collections.abc import Iterator

from sojourn.analysis.verdict import APPLICATIONS, Application, Threshold

_HEAD = """# Grades

*Reference, generated from the thresholds that reports use.*

A report grades the household's applications as good, fair or poor. A grade is good if every
threshold of *good* is met, fair if every threshold of *fair* is met, and otherwise poor. Among
several entries the worst one counts. The values of several seeds are averaged first.
"""


def grades() -> str:
    """The page: every application with its thresholds and their sources."""
    sections = (part for application in APPLICATIONS for part in _section(application))
    return "\n\n".join([_HEAD, *sections]) + "\n"


def _section(application: Application) -> Iterator[str]:
    yield f"## {application.name.capitalize()}"
    rows = [("good", threshold) for threshold in application.good]
    rows += [("fair", threshold) for threshold in application.fair]
    yield "\n".join(_row(grade, threshold) for grade, threshold in rows)


def _row(grade: str, threshold: Threshold) -> str:
    text = f"{threshold.text} (`{threshold.metric}`). Source: {threshold.source}."
    return f"- **{grade}**: {text}"
