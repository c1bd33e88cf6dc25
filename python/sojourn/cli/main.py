"""The command `sojourn`: its subcommands, signals and exit status.

Command modules import the rest of the package inside their functions, so that help is fast.
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
from .command import Command
from .config import config
from .errors import explain
from .export import export
from .find import find
from .fit import fit
from .init import init
from .jobs import jobs
from .lab import lab
from .merge import merge
from .plot import plot
from .report import report
from .run import run
from .say import say
from .scenarios import scenarios
from .schema import schema
from .sweep import sweep
from .validate import validate
from .verify import verify

_STOPPED = 130  # 128 + SIGINT, as in shells
_NO_READER = 141  # 128 + SIGPIPE
_AGAIN_S = 0.05
"""Delay before a signal that arrived during an import is sent again."""

app = typer.Typer(
    name="sojourn",
    help="Simulate home broadband over DOCSIS cable and its queue management, packet by packet.",
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

        say(f"sojourn {this_version}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        say(context.get_help())


_COMMANDS = (
    init,
    run,
    scenarios,
    validate,
    schema,
    sweep,
    find,
    fit,
    jobs,
    merge,
    export,
    lab,
    report,
    plot,
    verify,
)

for _command in _COMMANDS:
    app.command(cls=Command)(_command)
for _name, _application in plugins.commands():
    app.add_typer(_application, name=_name)
app.add_typer(config, name="config")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits.

    The exit status is 0 for success, 1 for a defect of sojourn and for what a command calls a
    failure, 2 for bad input, 130 after Ctrl-C, 141 if the reader of the output has gone, and 143
    after SIGTERM, as in shells.
    """
    _prepare_streams()
    stop = _Stop()
    stop.listen()
    is_explained = False
    try:
        texts = _texts(sys.argv[1:] if arguments is None else arguments)
        status = app(texts, prog_name="sojourn", standalone_mode=False)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _STOPPED
    except BrokenPipeError:
        # The reader is gone; flushing at exit must not hit the broken pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = _NO_READER
    except Exception as error:
        status, is_explained = explain(error), True
    # Typer turns Ctrl-C within a command into this status.
    if status == _STOPPED and not is_explained:
        say("stopped; nothing was written", err=True)
    sys.exit(stop.status if status == _STOPPED else status)


def _texts(arguments: Sequence[str]) -> Sequence[str]:
    """The arguments; raises `BadParameter` for one that is no text, as names and paths must be."""
    for place, argument in enumerate(arguments, 1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise typer.BadParameter(
                f"argument {place}: found {argument!r}; allowed: UTF-8 text"
            ) from None
    return arguments


def _prepare_streams() -> None:
    # A closed stream is None; output to it is discarded.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a dash is no reason to fail.
        sys.stdout.reconfigure(errors="replace")


class _Stop:
    """Signals that end the command."""

    def __init__(self) -> None:
        self.status = _STOPPED
        self._is_ending = False

    def listen(self) -> None:
        """Handles SIGTERM like Ctrl-C, so that temporary files are removed.

        A second signal ends the process at once.
        """
        for number in (signal.SIGTERM, signal.SIGINT):
            # Shells make background jobs ignore Ctrl-C.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        if _is_importing(frame):
            # An exception there may leave the import lock held and block other threads.
            threading.Timer(_AGAIN_S, os.kill, (os.getpid(), number)).start()
        elif self._is_ending:
            os._exit(self.status)  # code of the user's own may go on in a thread for ever
        else:
            self._is_ending = True
            raise KeyboardInterrupt


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None and not frame.f_code.co_filename.startswith("<frozen importlib"):
        frame = frame.f_back
    return frame is not None
