"""The command `sojourn`: signals, exit status, and what it needs to start.

Typer is imported for commands alone: it takes much longer than the version.
"""

import errno
import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from io import TextIOWrapper
from types import FrameType
from typing import Any

from .say import say
from .signals import ENDING

_STOPPED = 130  # 128 + SIGINT, as in shells
_NOTHING_WRITTEN = "stopped; nothing was written"
_NO_READER = 141  # 128 + SIGPIPE
_OUTPUT = 1
"""The descriptor of standard output."""
_AGAIN_S = 0.01
"""Delay before a signal that arrived during an import is sent again."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command and exits.

    The exit status is 0 for success, 1 for a defect of sojourn and for what a command calls a
    failure, 2 for bad input, 3 for an emulation that was too late, 130 after Ctrl-C, 141 if the
    reader of the output has gone, 129 after its terminal was closed, and 143 after SIGTERM, as in
    shells.
    """
    _prepare_streams()
    stop = _Stop()
    stop.listen()
    is_explained = False
    try:
        command = _command(sys.argv[1:] if arguments is None else arguments)
        stop.is_early = False
        status = _run(command)
        sys.stdout.flush()
    except KeyboardInterrupt:
        status = _STOPPED
    except Exception as error:
        is_explained = True
        if _has_lost_its_reader(error):
            # Flushing at exit must not hit the broken pipe again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            status = _NO_READER if stop.status == _STOPPED else _STOPPED
        else:
            from .errors import explain

            status = explain(error)
    # Typer turns Ctrl-C within a command into this status.
    if status == _STOPPED and not is_explained:
        say(_NOTHING_WRITTEN, err=True)
    stop.hear_no_more()
    sys.exit(stop.status if status == _STOPPED else status)


def _command(arguments: Sequence[str]) -> Callable[[], Any]:
    """The command, which returns its exit status if it is not 0."""
    if list(arguments) == ["--version"]:
        from .._sojourn import version

        return partial(say, f"sojourn {version}")
    from typer.main import get_command

    from .app import application

    command = get_command(application(arguments))
    return partial(command, arguments, prog_name="sojourn", standalone_mode=False)


def _has_lost_its_reader(error: Exception) -> bool:
    """Is there nobody for the output any more, as its pipe or its terminal has been closed?"""
    if isinstance(error, OSError) and error.errno == errno.EIO:
        return error.filename is None
    return isinstance(error, BrokenPipeError)


def _run(command: Callable[[], Any]) -> Any:
    return command()


def _prepare_streams() -> None:
    # A closed stream is None; output to it is discarded.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        # A terminal that cannot show a dash is no reason to fail.
        sys.stdout.reconfigure(errors="replace")
        _own_output(sys.stdout)


def _own_output(output: TextIOWrapper) -> None:
    """Output goes to a descriptor of its own: what parts write to the usual one is no answer."""
    try:
        if output.fileno() != _OUTPUT:
            return
        own = os.dup(_OUTPUT)
        os.dup2(sys.stderr.fileno(), _OUTPUT)
    except OSError:  # one of them is none of the system
        return
    buffer = open(own, "wb")  # noqa: SIM115
    sys.stdout = TextIOWrapper(
        buffer, output.encoding, "replace", line_buffering=output.line_buffering
    )


class _Stop:
    """Signals that end the command."""

    def __init__(self) -> None:
        self.status = _STOPPED
        self.is_early = True
        """Is no command under way? Then the process ends at once: an exception may be lost."""
        self._is_ending = False

    def listen(self) -> None:
        """Handles SIGTERM and SIGHUP like Ctrl-C, so that temporary files are removed.

        A second signal ends the process at once.
        """
        for number in ENDING:
            # Shells make background jobs ignore Ctrl-C, and nohup a closed terminal.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)

    def hear_no_more(self) -> None:
        """Lets a signal end the process, which has no more to do than to end."""
        for number in ENDING:
            if signal.getsignal(number) == self._end:
                signal.signal(number, signal.SIG_DFL)

    def _end(self, number: int, frame: FrameType | None) -> None:
        self.status = 128 + number
        if self.is_early:
            say(_NOTHING_WRITTEN, err=True)
            os._exit(self.status)
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
