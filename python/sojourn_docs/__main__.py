"""Makes the documentation: `figures DIR`, `sources DIR` for Zensical, `links SITE` checks."""

import sys
from pathlib import Path

from .figures import draw
from .site import assemble, broken_links


def main(command: str, directory: str) -> None:
    """Does what the command says."""
    place = Path(directory)
    if command == "figures":
        draw(place)
    elif command == "sources":
        assemble(place)
    elif command == "links" and (broken := broken_links(place)):
        sys.exit("\n".join(["error: links that lead nowhere:", *broken]))


if __name__ == "__main__":
    main(*sys.argv[1:])
