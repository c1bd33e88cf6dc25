"""Reference page of grades, generated from the thresholds that reports use."""

from collections.abc import Iterator

from sojourn.analysis.verdict import APPLICATIONS, Application, Steps, Threshold

_HEAD = """# Grades

*Reference, generated from the thresholds that reports use.*

A report grades the household's applications as good, fair or poor, or says that one fails. A grade
is good if every threshold of *good* is met, fair if every threshold of *fair* is met, and poor if
every threshold of *poor* is met. What does not meet one of these fails: it is of no use. Among
several entries the worst one counts. The values of several seeds are averaged first.

Each transfer, torrent and stream of data has a grade of its own: its rate while it runs as a share
of its max-min fair part of what service, access line, core and servers carry beside light traffic.
A router's shaper is a choice and not part of the line. One that yields (LEDBAT) is due what the
others leave.

Of several settings one is before another if fewer applications fail with it; with as many, if fewer
are poor; with as many, if fewer are fair. With equal counts it is before the other if it is nowhere
behind and somewhere ahead in the steps inside grades, entry by entry. What is graded with one of
them alone may be anything with the other. What no setting is before does best. The queue of a
direction counts where bulk traffic loads it and no game, call or video call watches it.
"""


def grades() -> str:
    """The page: every application with its thresholds and their sources."""
    sections = (part for application in APPLICATIONS for part in _section(application))
    return "\n\n".join([_HEAD, *sections]) + "\n"


def _section(application: Application) -> Iterator[str]:
    yield f"## {application.name.capitalize()}"
    rows = [("good", threshold) for threshold in application.good]
    rows += [("fair", threshold) for threshold in application.fair]
    rows += [("poor", threshold) for threshold in application.poor]
    steps = map(_steps, application.steps)
    yield "\n".join([*(_row(grade, threshold) for grade, threshold in rows), *steps])


def _row(grade: str, threshold: Threshold) -> str:
    text = f"{threshold.text} (`{threshold.metric}`). Source: {threshold.source}."
    return f"- **{grade}**: {text}"


def _steps(steps: Steps) -> str:
    bounds = ", ".join(f"{bound:g}" for bound in steps.bounds)
    return f"- **steps** inside grades, from {steps.start.word} on: `{steps.metric}` {bounds}"
