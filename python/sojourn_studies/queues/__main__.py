"""Draws figures into a directory: all of them, or those named."""

import sys
from pathlib import Path

from sojourn.base.files import write_file
from sojourn.base.lookup import UnknownError

from . import FIGURES


def main(directory: str, *names: str) -> None:
    """Writes an SVG for each name."""
    if unknown := set(names) - set(FIGURES):
        raise UnknownError(f"figure: found {unknown.pop()!r}; allowed: {', '.join(FIGURES)}")
    for name in names or FIGURES:
        path = Path(directory, f"{name}.svg")
        write_file(path, FIGURES[name]().svg)
        print(path)


if __name__ == "__main__":
    try:
        main(*(sys.argv[1:] or ["docs/queues/img"]))
    except UnknownError as error:
        sys.exit(f"error: {error}")
