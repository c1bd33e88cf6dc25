"""Pages in a real browser: headless Chromium from the system's packages.

`chromium` is a fixture of conftest.py; `visit` opens a page in it:

    def test_the_page(chromium: Browser) -> None:
        with visit(chromium, "http://127.0.0.1:8080/", width=PHONE) as visited:
            visited.page.get_by_role("button", name="Run").click()
            assert visited.overflow_px == 0
            assert visited.faults() == []
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

PATIENT_MS = 300_000
"""For what hangs. No test asserts a time: the machine may have other things to do."""
expect.set_options(timeout=PATIENT_MS)

DESKTOP = 1280
PHONE = 390
SMALL_PHONE = 360

_HEIGHT = 844
_ARGUMENTS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_GRAVE = ("serious", "critical")


@dataclass
class Visited:
    """A page that is open, what it asked for and what it complained of."""

    page: Page
    requests: list[str] = field(default_factory=list)
    """Every address asked for, that of the page too."""
    complaints: list[str] = field(default_factory=list)
    """Uncaught errors, and what was written to the console as an error or warning."""

    def hear(self, said: ConsoleMessage) -> None:
        """The live page does without its fast module; the browser alone misses the file."""
        is_fast = said.location["url"].endswith("-fast.wasm")
        if said.type in ("error", "warning") and not is_fast:
            self.complaints.append(said.text)

    @property
    def width(self) -> int:
        """Of the window, in pixels."""
        size = self.page.viewport_size
        assert size
        return size["width"]

    @width.setter
    def width(self, width: int) -> None:
        self.page.set_viewport_size({"width": width, "height": _HEIGHT})

    @property
    def overflow_px(self) -> int:
        """By how much the page is wider than its window."""
        root = "document.documentElement"
        return int(self.page.evaluate(f"{root}.scrollWidth - {root}.clientWidth"))

    def faults(self) -> list[str]:
        """What axe finds seriously or critically wrong for people who use assistive technology."""
        found = Axe().run(self.page).response["violations"]
        return [
            f"{rule['id']}: {rule['help']}: {node['html'][:200]}"
            for rule in found
            if rule["impact"] in _GRAVE
            for node in rule["nodes"]
        ]

    def photograph(self, name: str) -> None:
        """Writes a picture of the whole page, for eyes, if `SOJOURN_SCREENSHOTS` names a place."""
        if place := os.environ.get("SOJOURN_SCREENSHOTS"):
            self.page.screenshot(path=Path(place) / f"{name}.png", full_page=True)


def chromium_browser() -> Iterator[Browser]:
    """What the fixture `chromium` does."""
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip(f"no browser is installed: looked for {', '.join(_NAMES)}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        browser.new_context()  # the one that visits share
        yield browser
        browser.close()


@contextmanager
def visit(
    browser: Browser,
    address: str,
    *,
    width: int = DESKTOP,
    dark: bool = False,
    offline: bool = False,
    fresh: bool = False,
) -> Iterator[Visited]:
    """Opens a page in a window of its own, `width` pixels wide.

    Visits share a profile, so that a page that is open already need not be compiled again; a fresh
    one, and one without a network, has its own.
    """
    alone = browser.new_context(offline=offline) if fresh or offline else None
    page = (alone or browser.contexts[0]).new_page()
    page.set_default_timeout(PATIENT_MS)
    page.emulate_media(color_scheme="dark" if dark else "light")
    visited = Visited(page)
    visited.width = width
    page.on("request", lambda request: visited.requests.append(request.url))
    page.on("pageerror", lambda error: visited.complaints.append(str(error)))
    page.on("console", visited.hear)
    try:
        page.goto(address)
        yield visited
    finally:
        (alone or page).close()
