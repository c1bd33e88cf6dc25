"""The signals that end a command."""

# The module `signal` imports much, and a signal meanwhile would end in a traceback.
import _signal as signal  # type: ignore[import-not-found]

_NAMES = ("SIGTERM", "SIGINT", "SIGHUP")
ENDING = tuple(getattr(signal, name) for name in _NAMES if hasattr(signal, name))
"""The last one comes when the terminal is closed."""
