"""Makes the documentation: `figures DIR`, `sources DIR` for Zensical, then for the built site
`live SITE`, which adds the live page, and `links SITE`, which checks it."""

import sys
from pathlib import Path

from .figures import draw
from .live import copy_page
from .site import assemble, broken_links


def main(command: str, directory: str) -> None:
    """Does what the command says."""
    place = Path(directory)
    if command == "figures":
        draw(place)
    elif command == "sources":
        assemble(place)
    elif command == "live":
        copy_page(place / "docs")
    elif command == "links" and (broken := broken_links(place)):
        sys.exit("\n".join(["error: links that lead nowhere:", *broken]))


if __name__ == "__main__":
    main(*sys.argv[1:])
