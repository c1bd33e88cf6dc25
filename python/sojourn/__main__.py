"""`python -m sojourn` is `sojourn`."""

from .cli.start import start

start()
