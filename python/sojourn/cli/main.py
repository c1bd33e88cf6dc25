"""The command `sojourn`: its commands, signals and exit status.

Modules of commands import the other rooms where they use them, so that help is shown at once.
"""

import os
import signal
import sys
import threading
from collections.abc import Sequence
from io import TextIOWrapper
from types import FrameType
from typing import Annotated

import typer

from . import plugins
from .config import config
from .errors import DEFECT, explain
from .export import export
from .lab import lab
from .plot import plot
from .report import report
from .run import run
from .schema import schema
from .sweep import sweep
from .validate import validate

_STOPPED = 130  # 128 + SIGINT, as shells have it
_AGAIN_S = 0.05
"""After which a signal that met an import comes again."""

app = typer.Typer(
    name="sojourn",
    help="Simulates a home on cable broadband (DOCSIS), packet by packet.",
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _options(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    if version:
        from .._sojourn import version as this_version

        typer.echo(f"sojourn {this_version}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


for _command in (run, validate, schema, sweep, export, lab, report, plot):
    app.command()(_command)
for _name, _application in plugins.commands():
    app.add_typer(_application, name=_name)
app.add_typer(config, name="config")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits: 0 done, 1 defect, 2 bad input, 130 or 143 stopped by a signal.

    The last two are what shells have for Ctrl-C and SIGTERM.
    """
    _prepare_streams()
    stop = _Stop()
    stop.listen()
    is_explained = False
    try:
        status = app(arguments, prog_name="sojourn", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _STOPPED
    except BrokenPipeError:
        # The reader has gone; flushing at exit must not find the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = DEFECT
    except Exception as error:
        status, is_explained = explain(error), True
    # Within a command, Typer makes this status of Ctrl-C.
    if status == _STOPPED and not is_explained:
        typer.echo("stopped; nothing was written", err=True)
    sys.exit(stop.status if status == _STOPPED else status)


def _prepare_streams() -> None:
    # A closed stream is None; what is written there goes nowhere.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that knows no dashes is no reason to fail.
        sys.stdout.reconfigure(errors="replace")


class _Stop:
    """Signals that end the command."""

    def __init__(self) -> None:
        self.status = _STOPPED

    def listen(self) -> None:
        """Makes SIGTERM like Ctrl-C: drafts are removed on the way out."""
        for number in (signal.SIGTERM, signal.SIGINT):
            # A shell has what it runs in the background ignore Ctrl-C.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        if _is_importing(frame):
            # An exception there may leave the lock of imports held, and threads wait for it.
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
        else:
            raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None
