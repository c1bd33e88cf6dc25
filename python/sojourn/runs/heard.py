"""What a program says on standard error, until it is being ended."""

import os
from contextlib import suppress
from threading import Thread
from types import TracebackType

_PIECE_BYTES = 65536
_ERRORS = 2
_PATIENCE_S = 1.0


class Heard:
    """A pipe to standard error of this process, until what comes is an answer to being ended.

    The block is the start of the program, which then has the end that is written to.
    """

    def __init__(self) -> None:
        """Opens the pipe."""
        self._read, self.descriptor = os.pipe()
        self._is_muted = False
        self._thread = Thread(target=self._pass_on, name="sojourn-heard", daemon=True)

    def __enter__(self) -> "Heard":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)

    def mute(self) -> None:
        """What comes from now on is dropped."""
        self._is_muted = True

    def end(self) -> None:
        """Waits for what a program that has ended wrote last."""
        self._thread.join(_PATIENCE_S)

    def _pass_on(self) -> None:
        while piece := os.read(self._read, _PIECE_BYTES):
            if not self._is_muted:
                with suppress(OSError):
                    os.write(_ERRORS, piece)
        os.close(self._read)
