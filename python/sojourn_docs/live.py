"""The live page within the documentation: figures that the reader can change.

A comment in a page, `<!-- live: CASE -->`, says where a prepared case belongs. The site has it
where the page's module is built, and otherwise nothing.
"""

import re
import shutil
from pathlib import Path

from sojourn.lab.server import MODULE, STATIC

_PLACE = re.compile(r"<!-- live: ([a-z0-9-]+) -->")
_HEIGHT_PX = 820


def is_built() -> bool:
    """Is the page's module there? `make web` builds it."""
    return (STATIC / MODULE).exists()


def copy_page(docs: Path) -> None:
    """Puts the live page beside the built pages, into `lab`."""
    shutil.rmtree(docs / "lab", ignore_errors=True)
    if is_built():
        shutil.copytree(STATIC, docs / "lab")


def with_live_figures(text: str, depth: int = 0) -> str:
    """A page's text with live figures in their places; the page is `depth` folders below docs."""
    return _PLACE.sub(lambda found: figure(found[1], depth) if is_built() else "", text)


def figure(case: str, depth: int = 0) -> str:
    """The live page with a case, and a link to it."""
    address = f"{'../' * depth}lab/index.html#case={case}"
    return (
        f'<iframe src="{address}" title="Live figure" loading="lazy" width="100%" '
        f'height="{_HEIGHT_PX}"></iframe>\n\n'
        "The figure above is simulated in your browser: change it, or "
        f'<a href="{address}">open it as a page of its own</a>.'
    )


def link(case: str) -> str:
    """A sentence on how to open a case, for pages beside the live page."""
    if is_built():
        return f'<a href="lab/index.html#case={case}">Open it in the live page</a> and change it.'
    return "`sojourn lab` has it among its prepared cases."
