"""Starts the command `sojourn`: before anything is written, a signal ends it at once."""

# The module `signal` imports much, and a signal meanwhile would end in a traceback.
import _signal as signal  # type: ignore[import-not-found]
import os

from .signals import ENDING


def start() -> None:
    """Runs the command and exits, as `main` says; also while that is imported."""
    for number in ENDING:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda number, _: os._exit(128 + number))
    from .main import main

    main()
