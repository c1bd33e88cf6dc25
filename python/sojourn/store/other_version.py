"""Results of another version: they are refused, with the command that makes them again.

Their columns are others, and their scenarios were completed with other defaults.
"""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .._sojourn import version as this_version
from ..base.json_text import json_of
from .checksums import StoreError, read_result


def refusal_of_store(
    directory: Path, version: str, plan: str, origin: str, shard: str
) -> StoreError:
    """The error for a store of another version.

    Its files `plan` and `origin` say what it is of, and `shard` which part of that.
    """
    try:
        if study := _content(directory / plan):
            command = f"study run {_options(study)}"
        else:
            command = _command(directory, _content(directory / origin))
    except (KeyError, TypeError, ValueError):  # these files are not checked
        command = "sweep FILE"
    command = f"{command}{_shard(_content(directory / shard))} --out DIRECTORY"
    return _refusal(directory, version, command, "in another directory")


def refusal_of_run(directory: Path, version: str, files: Sequence[str]) -> StoreError:
    """The error for a directory of `run --out` of another version."""
    paths = " ".join(_path(directory, file) for file in files) or "FILE"
    command = f"run {paths} --out {shlex.quote(str(directory))} --overwrite"
    return _refusal(directory, version, command, "in their place")


def _refusal(directory: Path, version: str, command: str, place: str) -> StoreError:
    return StoreError(
        f"{directory}: written by sojourn {version}, whose results sojourn {this_version} does not "
        f"read; make them again {place}: sojourn {command}"
    )


def _command(directory: Path, origin: Mapping[str, Any]) -> str:
    """The sweep or the search that made the runs."""
    file = _path(directory, origin.get("sweep"))
    if "key" not in origin:
        return f"sweep {file}"
    until = (f" --until {shlex.quote(condition)}" for condition in origin["until"])
    return f"find {file} --key {shlex.quote(origin['key'])}{''.join(until)}"


def _shard(about: Mapping[str, Any]) -> str:
    """The option that makes this part; empty for a whole."""
    numbers = [about.get("shard"), about.get("shards")]
    is_part = all(type(number) is int for number in numbers)
    return " --shard {}/{}".format(*numbers) if is_part else ""


def _content(file: Path) -> Mapping[str, Any]:
    try:
        content = json_of(read_result(file))
    except ValueError:
        return {}
    return content if isinstance(content, dict) else {}


def _path(directory: Path, file: str | None) -> str:
    return shlex.quote(os.path.relpath(directory / file)) if file else "FILE"


def _options(plan: Mapping[str, Any]) -> str:
    """The study and the options that select its runs."""
    lists = {key: values for key, values in plan.items() if isinstance(values, list)}
    given = [
        f"{shlex.quote(f'--{key}')} {shlex.quote(str(one))}"
        for key, values in lists.items()
        for one in values
    ]
    numbers = [
        f"--{key.replace('_', '-')} {plan[key]:g}"
        for key in ("duration_scale", "seeds")
        if plan.get(key, 1) != 1
    ]
    alternatives = ["--alternatives"] if plan.get("with_alternatives") else []
    return " ".join([shlex.quote(plan.get("name", "STUDY")), *given, *numbers, *alternatives])
