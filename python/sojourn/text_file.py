"""Text files that people wrote."""

import os
from pathlib import Path

from ._sojourn import ConfigError, ScenarioError


def read_text(
    path: str | os.PathLike[str], refusal: type[ScenarioError | ConfigError] = ScenarioError
) -> str:
    """The text of a file in UTF-8; `refusal` is raised where it is not."""
    try:
        return Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        source = os.fspath(path)
        problem = refusal(f"{source}: not UTF-8 text (byte {error.start})")
        problem.source, problem.path = source, ""
        raise problem from None
