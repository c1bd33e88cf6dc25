"""What is wrong with what users give, and what they should know of their runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


class InputError(ValueError):
    """What a user gave cannot be used; the message says what is allowed.

    Its kinds are `ScenarioError`, `ConfigError`, `StoreError` (results that cannot be read or
    written), and others with a message alone, such as that for an unknown name.
    """


class Stopped(Exception):
    """A command that was stopped; the message says what is kept. `status` is its exit status."""

    status = 130


@dataclass(frozen=True)
class Problem:
    """One problem with a file; its text is `FILE:LINE: KEY: what was found; what is allowed`.

    `code` is its kind, by which programs decide. `values` has the numbers and texts of the message
    by names, and `remedy` settings without the problem.

    >>> try:
    ...     sojourn.load("upload", set={"seed": -1})
    ... except sojourn.ScenarioError as error:
    ...     problem = error.problems[0]
    >>> problem.code, problem.path, problem.values["found"]
    ('out-of-range', 'seed', -1)
    """

    source: str
    path: str
    message: str
    line: int | None = None
    code: str = "not-allowed"
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    remedy: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __str__(self) -> str:
        source = self.source if self.line is None else f"{self.source}:{self.line}"
        return ": ".join(filter(None, (source, self.path, self.message)))


@dataclass(frozen=True)
class Warning:
    """What a user should know of a run; its text is a sentence.

    `code` is its kind, by which programs decide, and `path` the key that it is about. `values` has
    the numbers and texts of the sentence by names, and `remedy` settings without the warning, as
    `set` of `run` takes them.

    >>> burst = {"upstream.modem.kind": "shared_channel", "upstream.burst_bytes": 2000}
    >>> warning = sojourn.load("upload", set=burst)[0].warnings()[0]
    >>> warning.code, warning.remedy
    ('burst-on-shared-channel', {'upstream.burst_bytes': 6522})
    """

    code: str
    path: str
    message: str
    values: Mapping[str, Any] = field(hash=False)
    remedy: Mapping[str, Any] = field(hash=False)

    def __str__(self) -> str:
        return self.message

    @property
    def data(self) -> dict[str, Any]:
        """All of it as a dict, as `meta` and `--json` have it."""
        return asdict(self)

    @property
    def kind(self) -> tuple[str, ...]:
        """What warnings have in common of which one stands for all."""
        return (self.code, self.path or self.message)
