"""Makes the documentation: `figures DIR`, `sources DIR` for Zensical, then for the built site
`live SITE`, which adds the live page, and `links SITE`, which checks it."""

import sys
from pathlib import Path

from sojourn.base.files import write_file

from .figures import ROOT, draw
from .gallery import with_router_table
from .live import copy_page
from .site import assemble, broken_links


def main(command: str, directory: str) -> None:
    """Does what the command says."""
    place = Path(directory)
    if command == "figures":
        draw(place)
        page = ROOT / "docs" / "how-to" / "cake-router.md"
        write_file(page, with_router_table(page.read_text()).encode())
    elif command == "sources":
        assemble(place)
    elif command == "live":
        copy_page(place / "docs")
    elif command == "links" and (broken := broken_links(place)):
        sys.exit("\n".join(["error: links that lead nowhere:", *broken]))


if __name__ == "__main__":
    main(*sys.argv[1:])
