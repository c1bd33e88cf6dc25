"""Scripts that run a sweep in parts on a cluster, and then join them."""

import os
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from ..base.lookup import UnknownError
from ..base.plain_text import is_plain, plain_name
from ..runs.parts import known
from .store import is_store
from .sweep import Sweep

_SHARDS = 100
"""So many parts there are at most, unless more are asked for."""

_PYTHON_MB = 500
"""Memory of a job beside what its run needs: the interpreter and its libraries."""


@dataclass(frozen=True)
class System:
    """What runs jobs."""

    template: str
    """That of its scripts."""
    text: Callable[[str], str]
    """How these quote a text."""
    words: Callable[[Sequence[str]], str]
    """How they quote a list of texts."""
    not_in_names: str = ""
    """Characters that no name in them may have."""


SLURM = System("slurm.sh", shlex.quote, shlex.join)
SNAKEMAKE = System("Snakefile", repr, lambda words: repr(list(words)), "{}")


def script(
    system: System, sweep: Sweep, command: Sequence[str], out: Path, shards: int | None
) -> str:
    """The script for a sweep, which `command` runs.

    Raises `ScenarioError` for a sweep that cannot be run, and `UnknownError` for more parts than it
    has runs, or for names that a script cannot have.
    """
    _check_out(out)
    parts = f"{out}-parts"
    own = [os.path.relpath(part.file) for part in known() if part.file]
    files = [*map(str, (sweep.file, *sweep.request.scenarios, *sweep.request.configs)), *own]
    _check_names([*command, *files, parts], system)
    tasks = {task.run: task for task in map(sweep.task, sweep.variants.values())}
    count = min(len(tasks), _SHARDS) if shards is None else shards
    if count > len(tasks):
        raise UnknownError(f"--shards: found {count}; allowed: 1 to {len(tasks)}, one for each run")
    needed = max(task.memory_bytes for task in tasks.values())
    environment = Environment(loader=PackageLoader(__package__, "."), undefined=StrictUndefined)
    return environment.get_template(system.template).render(
        runs=len(tasks),
        shards=count,
        memory_mb=_PYTHON_MB + ceil(needed / 1e8) * 100,
        sweep=system.words(command),
        files=system.words(files),
        parts=system.text(parts),
        out=system.text(str(out)),
    )


def _check_out(out: Path) -> None:
    """Raises `UnknownError` unless the runs can be joined there, as far as this machine knows."""
    allowed = "allowed: the path of a new directory, such as out/sweep"
    if out.name in ("", "..") or str(out).startswith("-"):
        raise UnknownError(f"--out: found {str(out)!r}; {allowed}")
    if out.exists() and not is_store(out) and not (out.is_dir() and not any(out.iterdir())):
        raise UnknownError(f"--out: found {str(out)!r}, which holds something else; {allowed}")


def _check_names(names: Sequence[str], system: System) -> None:
    """Raises `UnknownError` for names that would end a line, or that the system would split.

    It does so with braces in any name of a file.
    """
    for name in names:
        if not is_plain(name):
            found = "an invisible character"
        elif set(name) & set(system.not_in_names):
            found = "a brace"
        else:
            continue
        raise UnknownError(f"{plain_name(name)}: found {found}; allowed in scripts: none")
