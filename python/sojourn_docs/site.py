"""The sources of the site: the repository's pages as they are, and generated ones beside them.

Pages keep their places, so that links work in the repository and on the site alike. A link to a
generated page is written `reference/README.md#PAGE`: in the repository it opens the page that says
how to read PAGE there, on the site PAGE itself.
"""

import re
import shutil
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sojourn.base.files import write_file

from .codes import codes
from .command_line import command_line
from .figures import ROOT
from .gallery import SCENARIOS, Case, gallery
from .grades import grades
from .live import with_live_figures
from .python_api import python_api
from .scenario_keys import pages

_COPIED = (
    "*.md",
    "LICENSE*",
    "docs",
    "scenarios",
    "python/sojourn_studies/published",
    "tests/data/modem-configs",
)
"""Pages, and the data to which they link."""

_GENERATED_LINK = re.compile(r"\breference/README\.md#([a-z_/-]+)")


def assemble(directory: Path) -> None:
    """Writes all that Zensical reads."""
    shutil.rmtree(directory, ignore_errors=True)
    for pattern in _COPIED:
        for path in ROOT.glob(pattern):
            _copy(path, directory / path.relative_to(ROOT))
    for name, text in generated().items():
        write_file(directory / "docs" / name, text.encode())
    _write_gallery(directory / "docs")
    _complete_pages(directory / "docs")


def generated() -> dict[str, str]:
    """The pages of the reference, by their path below docs."""
    keys = pages()
    return {
        **{f"reference/scenario/{page.name}.md": page.text for page in keys},
        "reference/scenario/index.md": "# Scenario keys\n\n"
        "*Reference, generated from the schema of this version.*\n\n"
        "A scenario is a TOML file. Its sections, and the tables that several sections share:\n\n"
        + "".join(f"- [{page.title}]({page.name}.md)\n" for page in keys),
        "reference/command-line.md": command_line(),
        "reference/python.md": python_api(),
        "reference/codes.md": codes(),
        "reference/grades.md": grades(),
    }


def broken_links(site: Path) -> list[str]:
    """Links and pictures of the built pages that lead to no file of the site."""
    return [
        f"{page.relative_to(site)}: {target}"
        for page in sorted(site.rglob("*.html"))
        if page.name != "404.html"
        for target in _targets(page)
        if not (page.parent / target).exists()
    ]


def with_direct_links(text: str) -> str:
    """A page's text with links to the generated pages themselves."""
    return _GENERATED_LINK.sub(r"\1.md", text)


def _complete_pages(docs: Path) -> None:
    for page in docs.rglob("*.md"):
        text = page.read_text()
        depth = len(page.relative_to(docs).parts) - 1
        if (completed := with_direct_links(with_live_figures(text, depth))) != text:
            page.write_text(completed)


def _write_gallery(docs: Path) -> None:
    cases = [Case.run(path) for path in SCENARIOS]
    write_file(docs / "gallery.md", gallery(cases).encode())
    for case in cases:
        write_file(docs / "img" / f"gallery-{case.name}.svg", case.picture)


def _copy(path: Path, place: Path) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    (shutil.copytree if path.is_dir() else shutil.copy)(path, place)


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collects what a page links to or shows."""
        self.found += [value for name, value in attrs if name in ("href", "src") and value]


def _targets(page: Path) -> set[str]:
    links = _Links()
    links.feed(page.read_text())
    parts = [urlsplit(link) for link in links.found]
    return {unquote(p.path) for p in parts if p.path and not p.scheme and not p.netloc}
