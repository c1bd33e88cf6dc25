"""The live page: its server in a thread, and the page in a browser."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser import DESKTOP, Visited, visit
from conftest import PATIENT_S
from playwright.sync_api import Browser, Locator, Page, expect
from sojourn.lab.server import MODULE, STATIC, server

PATIENT_MS = PATIENT_S * 1000

needs_module = pytest.mark.skipif(
    not (STATIC / MODULE).exists(), reason="no module: `make web` builds it"
)


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server while in the context."""
    with server(0) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_address[1]}"
        finally:
            running.shutdown()
            thread.join()


@contextmanager
def opened(
    chromium: Browser, address: str, *, width: int = DESKTOP, dark: bool = False
) -> Iterator[Visited]:
    """The page with its first results."""
    with visit(chromium, address, width=width, dark=dark) as visited:
        settled(visited.page)
        yield visited


def settled(page: Page) -> list[str]:
    """Waits for the results of the last change, and returns the fingerprints of their runs."""
    expect(page.get_by_role("button", name="Download results")).to_be_enabled(timeout=PATIENT_MS)
    return str(page.locator("html").get_attribute("data-fingerprints")).split()


def parameter(page: Page, letter: str, name: str, role: str = "spinbutton") -> Locator:
    """A field among the parameters of A or B."""
    setting = page.locator(".setting", has=page.get_by_label(f"Queue management {letter}"))
    details = setting.locator("details")
    details.evaluate("details => { details.open = true }")
    return details.get_by_role(role, name=name)


def scenario_of(page: Page) -> str:
    """The text of the scenario on the page."""
    page.locator("#editor-details").evaluate("details => { details.open = true }")
    return page.get_by_label("The scenario as TOML").input_value()
