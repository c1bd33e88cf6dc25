"""`python -m sojourn` is `sojourn`."""

from .cli.main import main

main()
