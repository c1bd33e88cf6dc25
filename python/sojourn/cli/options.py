"""Arguments and options that several commands share, and checks of their combinations."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..base.memory import allow

if TYPE_CHECKING:
    from ..runs.request import Request

ScenarioFile = Annotated[
    Path,
    typer.Argument(
        metavar="SCENARIO", help="Scenario file, or a name that sojourn scenarios lists."
    ),
]
ScenarioFiles = Annotated[
    list[Path],
    typer.Argument(
        metavar="SCENARIO", help="Scenario files, or names that sojourn scenarios lists."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Override a scenario key; repeatable."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEM.cfg",
        help="Modem configuration file; its service replaces the scenario's.",
    ),
]
Configs = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        metavar="MODEM.cfg",
        help="Modem configuration file; its service replaces the scenario's. Repeatable.",
    ),
]
Vary = Annotated[
    list[str] | None,
    typer.Option(
        metavar="KEY.PATH=VALUE",
        help="Also run with this value of the key, side by side; repeatable.",
    ),
]
Scale = Annotated[
    list[str] | None,
    typer.Option(
        "--scale",
        metavar="KEY.PATH=FACTOR",
        help="Multiply a number that the scenario sets; * is any name, as in homes.*.count=2. "
        "Repeatable.",
    ),
]


def _allow(max_memory_gb: float | None) -> float | None:
    """Sets the limit for all that the command loads and runs."""
    allow(max_memory_gb)
    return max_memory_gb


MaxMemory = Annotated[
    float | None,
    typer.Option(
        "--max-memory",
        metavar="GB",
        min=0.001,
        callback=_allow,
        help="Refuse runs that may need more memory than this; default: half of the machine's.",
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
    typer.Option(
        "--part",
        metavar="FILE.py:CLASS|FILE.wasm",
        callback=_use,
        help="Part of your own that scenarios may choose by kind; repeatable.",
    ),
]
Directory = Annotated[
    Path, typer.Argument(metavar="DIR", help="Results of run --out, sweep or study run.")
]
Directories = Annotated[
    list[Path], typer.Argument(metavar="DIR", help="Results of run --out, sweep or study run.")
]
Jobs = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Runs at the same time; default: the number of CPU cores."
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on the Dask cluster of this scheduler, tcp://HOST:PORT."
    ),
]
Duration = Annotated[
    float | None,
    typer.Option("--duration", metavar="SECONDS", help="Simulated time; overrides the scenario's."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print only the summary, as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite", help="Replace results of another scenario, sweep, seed or setting in DIR."
    ),
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Keep finished runs and run only the missing ones.")
]

ShardOf = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Run only the part I of N; `sojourn merge` joins the parts.",
    ),
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
}
"""The options that give the parameters of requests and searches."""


def requested(context: typer.Context) -> "Request":
    """What the options of a command ask for; messages name these options."""
    from ..runs.request import Request

    given = context.params
    scenarios = given.get("scenarios") or filter(None, [given.get("scenario")])
    names = ("seed", "set", "config", "vary", "scale")
    asked: dict[str, Any] = {name: given.get(name) for name in names}
    return Request.of(*scenarios, **asked, duration_s=given["duration"], names=_NAMES)
