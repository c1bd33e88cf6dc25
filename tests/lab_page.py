"""The live page: its server in a thread, and the page in a browser."""

import threading
import zlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import sojourn
from browser import DESKTOP, Visited, visit
from playwright.sync_api import Browser, Locator, Page, expect
from sojourn.lab.server import MODULE, STATIC, server

LONG = """
title = "much traffic"
duration_s = 2000
upstream = { sustained_mbps = 900, peak_mbps = 900, burst_bytes = 3044, modem = { kind = "link" } }
downstream = { sustained_mbps = 900, peak_mbps = 900, burst_bytes = 3044 }
servers.near.delay_ms = 9
traffic.upload = { kind = "transfer", server = "near", connections = 8 }
"""
SHORT = LONG.replace("2000", "1").replace("900", "9")

_DROP = """(place, [name, bytes]) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""

SMALL = STATIC / MODULE
FAST = STATIC / "sojourn-fast.wasm"
needs_module = pytest.mark.skipif(not SMALL.exists(), reason="no module: `make web` builds it")
on_the_page = [needs_module, pytest.mark.usefixtures("kept_open")]
"""Of a file of tests that open the page."""
needs_fast = pytest.mark.skipif(not FAST.exists(), reason="no fast module: `make web` builds it")


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


@pytest.fixture(scope="session")
def lab() -> Iterator[str]:
    with serving() as address:
        yield address


@contextmanager
def opened(
    chromium: Browser,
    address: str,
    *,
    width: int = DESKTOP,
    dark: bool = False,
    fresh: bool = False,
) -> Iterator[Visited]:
    """The page with its first results; until the end it complains of nothing."""
    with visit(chromium, address, width=width, dark=dark, fresh=fresh) as visited:
        settled(visited.page)
        yield visited
        assert visited.complaints == []


@pytest.fixture(scope="session")
def kept_open(chromium: Browser, lab: str) -> Iterator[None]:
    """A page that stays open, so that those of tests find its module compiled."""
    with opened(chromium, lab):
        yield


@pytest.fixture
def visited(chromium: Browser, lab: str) -> Iterator[Visited]:
    """The page of the first choices, with their results."""
    with opened(chromium, lab) as visited:
        yield visited


@pytest.fixture
def page(visited: Visited) -> Page:
    return visited.page


def settled(page: Page) -> list[str]:
    """Waits for the results of the last change, and returns the fingerprints of their runs."""
    expect(page.get_by_role("button", name="Download results")).to_be_enabled()
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


def fingerprints(text: str) -> list[str]:
    """Those of a native run, without the idle line that it is held against."""
    return [run.meta["fingerprint"] for run in sojourn.run(text).runs.values()]


def alert(page: Page) -> Locator:
    return page.get_by_role("alert")


def verdict_heads(page: Page) -> Locator:
    return page.locator(".verdicts thead").get_by_role("columnheader")


def drop(page: Page, name: str, content: bytes) -> None:
    page.locator("body").evaluate(_DROP, [name, list(content)])


def edit(page: Page, text: str) -> None:
    scenario_of(page)
    page.get_by_label("The scenario as TOML").fill(text)


def packed(text: str) -> str:
    """The part of an address for a text, as the page writes it."""
    return "#z=" + urlsafe_b64encode(zlib.compress(text.encode(), wbits=-15)).decode().rstrip("=")
