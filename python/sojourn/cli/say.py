"""Output of commands."""

import sys
from typing import TYPE_CHECKING, Any

from ..base.plain_text import plain, sojourn_command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def say(text: str, err: bool = False, nl: bool = True) -> None:
    """Prints a text; control characters in it are shown as escapes."""
    stream = sys.stderr if err else sys.stdout
    print(plain(text), end="\n" if nl else "", file=stream, flush=True)


JSON_FORMAT = 1
"""The number of the form of `--json`; it rises if a key goes, or means something else."""


def say_document(value: "Mapping[str, Any]") -> None:
    """Prints what a command found as JSON, with the number of its form."""
    say_json({"format": JSON_FORMAT, **value})


def say_json(value: Any) -> None:
    """Prints a value as JSON, in which escapes of its own stand for control characters."""
    import json

    say(json.dumps(value, indent=2).replace("\x7f", "\\u007f"))


def say_written(file: "Path") -> None:
    """Says that a scenario was written, and how to run it."""
    run = sojourn_command("run", file, "--out", f"out/{file.stem}")
    say(f"{file}: written; run it with: {run}")


def say_report(directory: "Path") -> None:
    """Says which command draws the report of results."""
    say(f"report with figures: {sojourn_command('report', directory)}")
