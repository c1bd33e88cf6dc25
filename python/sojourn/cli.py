"""The command `sojourn`."""

import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from io import TextIOWrapper
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from . import config_cli, report_cli
from .export_cli import export
from .lab_cli import lab
from .study_cli import studies, sweep

# Modules of this package are imported where they are used, so that help is shown at once.

_BAD_INPUT = 2
_DEFECT = 1
_STOPPED = 130  # 128 + SIGINT, as shells have it
_AGAIN_S = 0.05
"""After which a signal that met an import comes again."""

app = typer.Typer(
    name="sojourn",
    help="Simulates a home on cable broadband (DOCSIS), packet by packet.",
    add_completion=False,
    rich_markup_mode=None,
)

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO.toml", help="The scenario.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY.PATH=VALUE", help="Set a key; may be repeated."),
]
Config = Annotated[
    Path | None,
    typer.Option(
        metavar="MODEM.cfg", help="A modem's file, whose service replaces the scenario's."
    ),
]


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from . import __version__

        typer.echo(f"sojourn {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def run(
    scenario: ScenarioFile,
    set: Set = None,
    config: Config = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all random streams.")] = None,
    duration: Annotated[
        float | None, typer.Option(metavar="S", help="Simulated time in s.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write report, summary and tables to a directory."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as JSON, and nothing else.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Run a scenario and show what people in the home feel."""
    from .api import load, run_variants
    from .console import progress_bar

    variants = load(scenario, seed=seed, duration_s=duration, set=set or (), config=config)
    if out:
        from .output import check

        check(out)
    with nullcontext() if quiet else progress_bar() as progress:
        result = run_variants(variants, progress=progress)
    if out:
        result.save(out)
    if as_json:
        from .summary import summary_json

        typer.echo(json.dumps(summary_json(result.runs), indent=2))
    elif not quiet:
        result.summary()
        if out:
            typer.echo(f"report: {out / 'report.html'}")


@app.command()
def validate(scenario: ScenarioFile, set: Set = None, config: Config = None) -> None:
    """Check a scenario without running it."""
    from .api import load
    from .summary import told_once

    variants = load(scenario, set=set or (), config=config)
    for warning in told_once({v.name: v.warnings() for v in variants}):
        typer.echo(f"warning: {warning}", err=True)
    names = f" (compares {', '.join(v.name for v in variants)})" if variants[0].name else ""
    typer.echo(f"{scenario}: valid{names}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of scenario files."""
    from ._sojourn import schema_json

    typer.echo(schema_json())


app.add_typer(studies, name="study")
app.add_typer(config_cli.config, name="config")
app.command()(sweep)
app.command()(export)
app.command()(lab)
app.command()(report_cli.report)
app.command()(report_cli.plot)


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits: 0 done, 1 defect, 2 bad input, 130 or 143 told to stop.

    The last two are what shells have for Ctrl-C and SIGTERM.
    """
    # A closed stream is None; what is told there is told to no one.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    stopped = _STOPPED

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = 128 + number
        if _is_importing(frame):
            # An exception there may leave the lock of imports held, and threads wait for it.
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
        else:
            raise KeyboardInterrupt

    # Being told to end is like Ctrl-C: drafts are removed on the way out.
    for number in (signal.SIGTERM, signal.SIGINT):
        # A shell has what it runs in the background ignore Ctrl-C.
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, end)
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows no dashes is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
    told = False
    try:
        status = app(arguments, prog_name="sojourn", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _STOPPED
    except BrokenPipeError:
        # The reader has gone; flushing at exit must not find the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _DEFECT
    except Exception as error:
        status, told = _explain(error), True
    # Within a command, Typer makes this status of Ctrl-C.
    if status == _STOPPED and not told:
        typer.echo("stopped; nothing was written", err=True)
    sys.exit(stopped if status == _STOPPED else status)


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None


def _explain(error: Exception) -> int:
    from ._sojourn import ConfigError, Defect, ScenarioError
    from .batch import BatchStopped
    from .cluster import ClusterError
    from .export.runs import ExportError
    from .known import UnknownError
    from .store import StoreError
    from .writing import reason_of

    if isinstance(error, typer.TyperException):
        return _fail(f"error: {_bad_number(error) or error.format_message()}", _BAD_INPUT)
    if isinstance(error, BatchStopped):
        return _fail(str(error), error.status)
    if isinstance(
        error, (ClusterError, ConfigError, ExportError, ScenarioError, StoreError, UnknownError)
    ):
        return _fail(f"error: {error}", _BAD_INPUT)
    if isinstance(error, OSError):
        return _fail(f"error: {reason_of(error)}", _BAD_INPUT)
    if isinstance(error, Defect):
        return _fail(f"error: {error}", _DEFECT)
    raise error


def _bad_number(error: typer.TyperException) -> str | None:
    """What is wrong with the number of an option, in the words of what is wrong with a key's."""
    option = getattr(error, "param", None)
    faults = getattr(error.__cause__, "errors", None)
    if option is None or faults is None:
        return None
    fault = faults()[0]
    low, high = getattr(option, "min", None), getattr(option, "max", None)
    is_whole = isinstance(low, int) or fault["type"].startswith("int")
    allowed = "a whole number" if is_whole else "a number"
    if high is not None:
        allowed += f" from {low} to {high}"
    elif low is not None:
        allowed += f" of {low} or more"
    return f"{option.opts[0]}: found {fault['input']}; allowed: {allowed}"


def _fail(message: str, status: int) -> int:
    typer.echo(" ".join(message.splitlines()), err=True)
    return status
