"""The live page's address: links, the way back, what is refused."""

import re

import pytest
from browser import visit
from lab_page import (
    SHORT,
    alert,
    on_the_page,
    opened,
    packed,
    parameter,
    scenario_of,
    settled,
    verdict_heads,
)
from playwright.sync_api import Browser, Page, expect

pytestmark = on_the_page


# The address


def test_a_link_gives_the_same_page_elsewhere(chromium: Browser, page: Page) -> None:
    page.get_by_label("Queue management A").select_option("CoDel")
    page.get_by_label("Games", exact=True).fill("3")
    parameter(page, "B", "target (ms)").fill("15")
    service = page.get_by_role("combobox", name="Service")
    service.select_option("10 Mbps up, 20 in bursts; 100 down")
    found = settled(page)
    expect(page).to_have_url(re.compile("#z="))
    with opened(chromium, page.url, fresh=True) as visited:
        page = visited.page
        assert settled(page) == found
        expect(page.get_by_label("Games", exact=True)).to_have_value("3")
        expect(page.get_by_label("Queue management A")).to_have_value("codel")
        expect(parameter(page, "B", "target (ms)")).to_have_value("15")
        page.reload()
        assert settled(page) == found


def test_the_back_button_goes_back(page: Page) -> None:
    first = settled(page)
    page.get_by_label("Queue management A").select_option("CoDel")
    expect(verdict_heads(page).first).to_have_text("A: CoDel")
    second = settled(page)
    page.wait_for_timeout(1600)
    page.get_by_label("Queue management A").select_option("PIE")
    expect(verdict_heads(page).first).to_have_text("A: PIE")
    settled(page)
    page.go_back()
    expect(verdict_heads(page).first).to_have_text("A: CoDel")
    assert settled(page) == second
    page.go_back()
    expect(verdict_heads(page).first).to_have_text("A: drop-tail")
    assert settled(page) == first
    page.go_forward()
    expect(verdict_heads(page).first).to_have_text("A: CoDel")


def test_a_link_keeps_a_large_seed(chromium: Browser, lab: str) -> None:
    """A number of JavaScript would round it."""
    seed = 2**53 + 1
    with opened(chromium, f"{lab}/{packed(f'seed = {seed}{SHORT}')}") as visited:
        page = visited.page
        field = page.locator('[data-path="seed"] input[type=number]')
        expect(field).to_have_value(str(seed))
        page.locator('[data-path="duration_s"] input[type=number]').fill("1.5")
        expect(page.locator("#about-changes")).to_contain_text("duration_s = 1.5")
        assert f"seed = {seed}\n" in scenario_of(page)
        field.fill(str(seed + 2))
        expect(page.locator("#about-changes")).to_contain_text(f"seed = {seed + 2}")
        assert f"seed = {seed + 2}\n" in scenario_of(page)


def test_a_link_with_a_byte_order_mark_or_half_a_character_is_read(
    chromium: Browser, lab: str
) -> None:
    with opened(chromium, f"{lab}/{packed(chr(0xFEFF) + SHORT)}") as visited:
        page = visited.page
        assert scenario_of(page) == SHORT
        before = page.url
        page.get_by_label("The scenario as TOML").evaluate(
            "(box, t) => { box.value = t + '# \\ud800'; box.dispatchEvent(new Event('input')) }",
            SHORT,
        )
        expect(page).not_to_have_url(before)
        assert visited.complaints == [] and not alert(page).is_visible()
        page.reload()
        settled(page)
        assert scenario_of(page) == SHORT + "# \ufffd"


LONG_TEXT = "a" * 1_000_001


PART_OF_ZEROS = packed("\0" * 2**20).replace("#z=", "&part=")


TOO_LONG = [
    (f"#text={LONG_TEXT}", "its scenario has more than 1000000 characters"),
    (f"#case={LONG_TEXT}", "its scenario has more than 1000000 characters"),
    (packed(LONG_TEXT), "its scenario has more than 1000000 characters"),
    ("#text=x" + "&part=" * 30_000, "it has more than 16 parts"),
    ("#text=x" + PART_OF_ZEROS * 17, "it has more than 16 parts"),
    ("#text=x" + PART_OF_ZEROS * 5, "its parts have more than 4194304 bytes"),
]


@pytest.mark.parametrize(("hash_", "message"), TOO_LONG, ids=range(len(TOO_LONG)))
def test_a_link_that_is_too_long_is_refused(
    chromium: Browser, lab: str, hash_: str, message: str
) -> None:
    with visit(chromium, lab) as visited:
        page = visited.page
        page.evaluate("hash => { location.hash = hash }", hash_)
        expect(alert(page)).to_contain_text(f"too long: {message}")
        assert visited.complaints == []


_READ = """async hash => {
  const { readHash } = await import("./address.js");
  const { text, parts = [] } = await readHash(hash).catch(({ message }) => ({ text: message }));
  return [text, parts.map(({ length }) => length)];
}"""


def test_limits_of_links(chromium: Browser, lab: str) -> None:
    """Chromium opens no link of the length that other browsers may open."""
    with visit(chromium, lab) as visited:

        def read(hash_: str) -> tuple[str, list[int]]:
            text, parts = visited.page.evaluate(_READ, hash_)
            return text, parts

        assert read("#text=x" + PART_OF_ZEROS * 4) == ("x", [2**20] * 4)
        assert read(packed("\u20ac" * 10**6))[0] == "\u20ac" * 10**6
        assert read(packed("\U0001f600" * 500_000))[0] == "\U0001f600" * 500_000
        assert "more than 1000000 characters" in read(packed("\U0001f600" * 500_000 + "a"))[0]
        assert read(f"#{'z' * (2**21 - 1)}")[0].startswith("The link holds no scenario")
        assert "it has more than 2097152 characters" in read(f"#{'z' * 2**21}")[0]


def test_a_small_link_is_expanded_no_further_than_needed(chromium: Browser, lab: str) -> None:
    """A browser expands what is written to it at once, before anybody can count."""
    most = """async hash => {
      const { DecompressionStream: Whole } = globalThis;
      let expanded = 0;
      globalThis.DecompressionStream = class extends Whole {
        get readable() {
          const counted = new TransformStream({
            transform(chunk, controller) { expanded += chunk.length; controller.enqueue(chunk); },
          });
          return super.readable.pipeThrough(counted);
        }
      };
      const { readHash } = await import("./address.js");
      await readHash(hash).catch(() => {});
      return expanded;
    }"""
    with visit(chromium, lab) as visited:
        found = visited.page.evaluate(most, packed("\0" * 200_000_000))
        assert 3_000_000 < found < 10_000_000


BROKEN = {
    "#z=nonsense": "The link is damaged",
    "#z=" + "A" * 5000: "The link is damaged",
    "#text=%E0%A4%A": "The link is damaged",
    "#text=x&part=": "The link is damaged: the part",
    "#z=A&z=A": "The link is damaged",
    "#other=1": "The link holds no scenario",
    "#case=none": 'There is no prepared case "none"; allowed: bufferbloat',
    "#text=duration_s%20%3D%201": "missing; allowed: a table",
}


@pytest.mark.parametrize("hash_", BROKEN)
def test_a_broken_link_is_told_beside_the_first_state(
    chromium: Browser, lab: str, hash_: str
) -> None:
    with visit(chromium, f"{lab}/{hash_}") as visited:
        page = visited.page
        expect(alert(page)).to_contain_text(BROKEN[hash_])
        expect(verdict_heads(page).first).to_have_text("A: drop-tail")
        assert visited.complaints == []


def test_a_link_entered_on_the_page_is_opened(page: Page) -> None:
    page.evaluate("location.hash = '#case=bufferbloat'")
    expect(verdict_heads(page).first).to_have_text("A: 64 kB")
    page.evaluate("location.hash = '#z=nonsense'")
    expect(alert(page)).to_contain_text("The link is damaged")
    expect(verdict_heads(page).first).to_have_text("A: 64 kB")
