"""`python -m sojourn` is `sojourn`."""

from .cli import main

main()
