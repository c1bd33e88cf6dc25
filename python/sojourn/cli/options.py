"""Arguments and options that several commands share, and checks of their combinations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.memory import allow

if TYPE_CHECKING:
    from ..runs.request import Request


def option(metavar: str, help: str, *names: str, **more: Any) -> Any:
    """An option with a value, which its help calls `metavar`."""
    return typer.Option(*names, metavar=metavar, help=help, **more)


def flag(name: str, help: str, **more: Any) -> Any:
    """An option without a value."""
    return typer.Option(name, help=help, **more)


def argument(metavar: str, help: str) -> Any:
    """An argument, which the help calls `metavar`."""
    return typer.Argument(metavar=metavar, help=help)


ScenarioFile = Annotated[
    Path, argument("SCENARIO", "Scenario file, or a name that sojourn scenarios lists.")
]
ScenarioFiles = Annotated[
    list[Path], argument("SCENARIO", "Scenario files, or names that sojourn scenarios lists.")
]
Out = Annotated[
    Path | None,
    option("DIR", "Write report, summary and tables here; other results are not replaced."),
]
Set = Annotated[
    list[str] | None, option("KEY.PATH=VALUE", "Override a scenario key; repeatable.", "--set")
]
Config = Annotated[
    Path | None,
    option("MODEM.cfg", "Modem configuration file; its service replaces the scenario's."),
]
Configs = Annotated[
    list[Path] | None,
    option(
        "MODEM.cfg",
        "Modem configuration file; its service replaces the scenario's. Repeatable.",
        "--config",
    ),
]
Vary = Annotated[
    list[str] | None,
    option("KEY.PATH=VALUE", "Also run with this value of the key, side by side; repeatable."),
]
All = Annotated[bool, flag("--all", "Print all tables and warnings.")]
Scale = Annotated[
    list[str] | None,
    option(
        "KEY.PATH=FACTOR",
        "Multiply a number that the scenario sets; * is any name, as in homes.*.count=2. "
        "Repeatable.",
    ),
]


def _allow(max_memory_gb: float | None) -> float | None:
    """Sets the limit for all that the command loads and runs."""
    allow(max_memory_gb)
    return max_memory_gb


MaxMemory = Annotated[
    float | None,
    option(
        "GB",
        "Refuse runs that may need more memory than this; default: half of the machine's.",
        "--max-memory",
        min=0.001,
        callback=_allow,
    ),
]


def _use(parts: list[str] | None) -> list[str] | None:
    """Lets all scenarios that the command loads choose these parts."""
    if parts:
        from ..runs.parts import use

        use(parts)
    return parts


Parts = Annotated[
    list[str] | None,
    option(
        "FILE.py:CLASS|FILE.wasm",
        "Part of your own that scenarios may choose by kind; repeatable.",
        "--part",
        callback=_use,
    ),
]
Directory = Annotated[Path, argument("DIR", "Results of run --out, sweep or study run.")]
Directories = Annotated[list[Path], argument("DIR", "Results of run --out, sweep or study run.")]
Jobs = Annotated[
    int | None, option("N", "Runs at the same time; default: the number of CPU cores.", min=1)
]
Dask = Annotated[
    str | None, option("ADDRESS", "Run on the Dask cluster of this scheduler, tcp://HOST:PORT.")
]
Duration = Annotated[
    float | None, option("SECONDS", "Simulated time; overrides the scenario's.", "--duration")
]
AsJson = Annotated[bool, flag("--json", "Print only the summary, as JSON.")]
Quiet = Annotated[bool, flag("--quiet", "Print only errors.")]
Overwrite = Annotated[
    bool, flag("--overwrite", "Replace results of another scenario, sweep, seed or setting in DIR.")
]
Resume = Annotated[bool, flag("--resume", "Keep finished runs and run only the missing ones.")]

ShardOf = Annotated[
    str | None,
    option("I/N", "Run only the part I of N; `sojourn merge` joins the parts.", "--shard"),
]


def check_workers(jobs: int | None, dask: str | None) -> None:
    """Raises `BadParameter` if both are given: a cluster has its own workers."""
    if jobs is not None and dask is not None:
        raise typer.BadParameter("--jobs, --dask: found both; allowed: one of them")


_NAMES = {
    "key": "--key",
    "until": "--until",
    "low": "--from",
    "high": "--to",
    "step": "--step",
    "seeds": "--seeds",
    "seed": "--seed",
    "duration_s": "--duration",
    "vary": "--vary",
    "scale": "--scale",
    "set": "--set",
    "replay": "--replay",
    "replay_anyway": "--replay-anyway",
}
"""The options that give the parameters of requests and searches."""


def requested(context: typer.Context) -> "Request":
    """What the options of a command ask for; messages name these options."""
    from ..runs.request import Request

    given = context.params
    scenarios = given.get("scenarios") or filter(None, [given.get("scenario")])
    names = ("seed", "set", "config", "vary", "scale")
    asked: dict[str, Any] = {name: given.get(name) for name in names}
    asked |= {name: given[name] for name in ("replay", "replay_anyway") if name in given}
    return Request.of(*scenarios, **asked, duration_s=given["duration"], names=_NAMES)
