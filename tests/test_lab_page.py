"""The live page in a browser: its looks, what it shows and refuses, the moving picture."""

import json
import re
import tomllib

import pytest
import sojourn
from browser import DESKTOP, PHONE, SMALL_PHONE, Visited, visit
from lab_page import (
    LONG,
    SHORT,
    alert,
    edit,
    fingerprints,
    needs_fast,
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


def still(page: Page) -> None:
    """Shows the moving picture, and stops it."""
    page.get_by_role("group", name="Animation").scroll_into_view_if_needed()
    expect(page.locator("#picture canvas")).to_have_count(2)
    page.get_by_label("Time within the animation").evaluate(
        "range => { range.value = 300; range.dispatchEvent(new Event('input')) }"
    )
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


# How it looks


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [DESKTOP, SMALL_PHONE])
def test_the_page_is_fit_for_all(chromium: Browser, lab: str, width: int, dark: bool) -> None:
    with opened(chromium, lab, width=width, dark=dark) as visited:
        still(visited.page)
        visited.photograph(f"lab-{width}-{'dark' if dark else 'light'}")
        assert visited.faults() == []
        assert visited.overflow_px == 0


def test_everything_unfolded_is_fit_too(chromium: Browser, lab: str) -> None:
    with opened(chromium, lab, width=SMALL_PHONE) as visited:
        for details in visited.page.locator("details").all():
            details.evaluate("details => { details.open = true }")
        for button in visited.page.locator("form .ask").all():
            button.click()
        visited.photograph("lab-open")
        assert visited.faults() == []
        assert visited.overflow_px == 0


@pytest.mark.parametrize("width", [DESKTOP, SMALL_PHONE])
def test_a_case_is_fit_too(chromium: Browser, lab: str, width: int) -> None:
    with opened(chromium, f"{lab}/#case=low-latency", width=width) as visited:
        visited.photograph(f"lab-case-{width}")
        assert visited.faults() == []
        assert visited.overflow_px == 0


def test_no_request_leaves(visited: Visited, lab: str) -> None:
    still(visited.page)
    assert len(visited.requests) > 10
    elsewhere = [u for u in visited.requests if not u.startswith((lab, f"blob:{lab}"))]
    assert elsewhere == []


def test_at_400_px_results_stand_by_the_control(chromium: Browser, lab: str) -> None:
    with opened(chromium, lab, width=400) as visited:
        page = visited.page
        more = page.get_by_role("button", name="More uploads")
        more.scroll_into_view_if_needed()
        before = page.locator("#strip").inner_text()
        assert "game" in before and "upload" in before
        more.click()
        settled(page)
        box, control = page.locator("#strip").bounding_box(), more.bounding_box()
        assert box and control
        # Both are in the window at once, and the strip does not hide the control.
        assert box["y"] >= 0 and box["y"] + box["height"] <= control["y"] <= 844


# What it shows


def test_what_it_shows_follows_the_choices(page: Page) -> None:
    rows = page.locator(".verdicts tbody").get_by_role("rowheader")
    expect(verdict_heads(page)).to_have_text(
        ["A: drop-tail", "B: DOCSIS-PIE", re.compile("idle line")]
    )
    # One packet in ten of a page waits for the others of its page.
    waits = ["upstream wait", "downstream wait"]
    expect(rows).to_have_text(["game", "call", "page", "under load", *waits, "upload"])
    page.get_by_role("button", name="More video viewers").click()
    expect(rows).to_have_text(
        ["game", "call", "page", "video", "video rate", "under load", *waits, "upload"]
    )
    page.get_by_label("Queue management A").select_option("SFQ-CoDel")
    expect(verdict_heads(page).first).to_have_text("A: SFQ-CoDel")
    page.get_by_label("Compare with another").uncheck()
    # Films do not leave the line idle.
    without_bulk = re.compile("without uploads and downloads")
    expect(verdict_heads(page)).to_have_text([re.compile("SFQ-CoDel"), without_bulk])
    page.get_by_label("Show latency of").select_option("Voice calls")
    expect(page.get_by_role("img", name="Upstream latency: Voice calls")).to_be_visible()


def test_the_queue_is_shown_by_its_delay_or_its_drops(page: Page) -> None:
    expect(page.get_by_role("img", name="Upstream queueing delay")).to_be_visible()
    choice = page.get_by_label("Show of the queue")
    choice.select_option("drops by the AQM")
    expect(page.get_by_role("img", name="Upstream drops by the AQM")).to_be_visible()
    # No packet is marked, so there is nothing to choose.
    expect(choice.get_by_role("option").filter(has_text="marks")).to_have_count(0)


def test_low_latency_docsis_serves_games_and_calls(page: Page) -> None:
    page.get_by_label("Queue management B").select_option("LLD")
    expect(verdict_heads(page).nth(1)).to_have_text("B: LLD")
    expect(page.get_by_text("LLD does best").first).to_be_visible()


def test_every_queue_manager_is_in_the_list(page: Page) -> None:
    from sojourn._sojourn import presets_json

    second = page.get_by_role("combobox", name="Queue management B")
    labels = [one["label"] for one in json.loads(presets_json()).values()]
    assert sorted(second.locator("option").all_text_contents()) == sorted(labels)
    first = second.locator("optgroup").first
    expect(first).to_have_attribute("label", re.compile("to buy"))
    expect(first.locator("option")).to_have_text(["drop-tail", "DOCSIS-PIE", "LLD"])
    for chosen in ("CAKE", "AFD", "ABB-CoDel"):
        second.select_option(chosen)
        expect(verdict_heads(page).nth(1)).to_have_text(f"B: {chosen}")
    expect(page.get_by_text("Only for channels that many homes share")).to_be_visible()


def test_a_router_before_the_modem_sends_a_share_of_the_rates(page: Page) -> None:
    page.get_by_label("Queue management B").select_option("CAKE in a router")
    expect(verdict_heads(page).nth(1)).to_have_text("B: CAKE in a router at 90 %")
    parameter(page, "B", "share (%)").fill("80")
    expect(verdict_heads(page).nth(1)).to_have_text("B: CAKE in a router at 80 %")
    settled(page)
    (_, router) = tomllib.loads(scenario_of(page))["compare"].values()
    assert [router["router"][way]["rate_mbps"] for way in ("upstream", "downstream")] == [4, 16]
    parameter(page, "B", "share (%)").fill("0")
    faults = page.locator('[data-path="settings.1.share_percent"] .error')
    expect(faults.first).to_contain_text("found 0; allowed: a number from")


def test_bufferbloat_is_a_letter_and_three_numbers(page: Page) -> None:
    rows = page.locator(".bufferbloat tbody tr")
    expect(rows).to_have_count(2)
    expect(rows.first).to_have_text(
        re.compile(r"A: drop-tail[A-F]\+?\d\.\d\d msnot measured\d{3} ms$")
    )


def test_on_a_phone_letter_and_answer_are_on_the_first_screen(chromium: Browser, lab: str) -> None:
    with opened(chromium, lab, width=PHONE) as visited:
        strip, status = visited.page.locator("#strip"), visited.page.locator("#status")
        expect(status).to_have_text(re.compile("^DOCSIS-PIE does best: .* Simulated 3 × 90 s in "))
        # The idle line has no row: its round trip is in the others.
        expect(strip.locator("> div")).to_have_text(
            [
                re.compile(r"^A[A-F]\+? \(idle \d\.\d\d ms, up \d{3} ms\)game ✗"),
                re.compile(r"^B[A-F]\+? \(idle \d\.\d\d ms, up \d\d\.\d ms\)game "),
            ]
        )
        for place in (status, strip):
            box = place.bounding_box()
            assert box and box["y"] + box["height"] <= 844
        expect(visited.page.locator("#verdicts")).not_to_contain_text("–")


def test_warnings_are_folded_and_each_is_there_once(page: Page) -> None:
    late = 'traffic.late = { kind = "transfer", server = "near", start_s = 50 }'
    game = 'traffic.game = { kind = "stream", purpose = "game", server = "near" }'
    variants = "compare.a = {}\ncompare.b = { upstream.sustained_mbps = 8 }"
    edit(page, "\n".join([SHORT, game, late, variants]))
    settled(page)
    folded = page.locator("#warnings details")
    expect(folded).to_have_count(1)
    expect(folded.locator("summary")).to_have_text("Warnings: 1")
    expect(folded.locator("p")).to_be_hidden()
    expect(folded.locator("p")).to_have_text(re.compile("^traffic.late sends nothing: "))


def test_a_name_holds_what_was_changed(page: Page) -> None:
    parameter(page, "B", "target (ms)").fill("20")
    expect(verdict_heads(page).nth(1)).to_have_text("B: DOCSIS-PIE, target 20 ms")
    settled(page)
    assert list(tomllib.loads(scenario_of(page))["compare"])[1] == "DOCSIS-PIE, target 20 ms"
    service = page.get_by_role("combobox", name="Service")
    sustained = page.locator('[data-path="upstream.sustained_mbps"] input[type=number]')
    sustained.evaluate("box => { box.closest('details').open = true }")
    sustained.fill("6")
    expect(service.locator("option:checked")).to_have_text("own values, set below")


def test_results_are_those_of_the_command(page: Page) -> None:
    page.get_by_role("button", name="More games").click()
    found = settled(page)
    assert found[:2] == fingerprints(scenario_of(page))[:2]


def test_forms_say_what_the_schema_says(page: Page) -> None:
    from sojourn._sojourn import schema_json

    target = parameter(page, "B", "target (ms)")
    law = next(
        kind
        for kind in json.loads(schema_json())["$defs"]["AqmSpec"]["oneOf"]
        if kind["properties"]["kind"]["const"] == "docsis_pie"
    )
    schema = law["properties"]["target_ms"]
    assert float(target.get_attribute("min") or "") == schema["minimum"]
    assert float(target.get_attribute("max") or "") == schema["maximum"]
    expect(target).to_have_accessible_description(f"{schema['description']} From 0.1 to 255.")


def test_a_fast_service_is_simulated_for_less_time(page: Page) -> None:
    duration = page.get_by_role("spinbutton", name="duration (s)")
    service = page.get_by_role("combobox", name="Service")
    expect(duration).to_have_value("90")
    service.select_option("200 Mbps up, 1000 down (White 2014)")
    # 90 s of 200 Mbps are 15 of 1200, and shorter uploads would hardly have a grade.
    expect(duration).to_have_value("20")
    expect(page.locator("#run")).to_contain_text(
        "20 s instead of 90 s, because runs at these rates take longer"
    )
    service.select_option("10 Mbps up, 20 in bursts; 100 down")
    expect(duration).to_have_value("90")
    # What someone chose stays.
    duration.fill("30")
    service.select_option("200 Mbps up, 1000 down (White 2014)")
    expect(duration).to_have_value("30")


def test_the_peak_rate_goes_with_the_sustained_rate(page: Page) -> None:
    sustained, peak = (
        page.locator(f'[data-path="upstream.{key}_mbps"] input[type=number]')
        for key in ("sustained", "peak")
    )
    sustained.evaluate("box => { box.closest('details').open = true }")
    sustained.fill("30")
    expect(peak).to_have_value("30")
    # On the way to a 50 there is a 5, which must not take the sustained rate along.
    peak.fill("5")
    expect(alert(page)).to_contain_text("allowed: 30 or more, the value of sustained_mbps")
    expect(sustained).to_have_value("30")
    peak.fill("50")
    expect(alert(page)).to_be_hidden()


def test_twenty_quick_changes_end_in_the_last(page: Page) -> None:
    # All in one call: on a busy machine each key press could become a step of its own.
    parameter(page, "B", "target (ms)", "slider").evaluate("""slider => {
      for (let change = 0; change < 20; change++) {
        slider.stepUp();
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }""")
    value = parameter(page, "B", "target (ms)").input_value()
    assert float(value) > 10
    found = settled(page)
    text = scenario_of(page)
    assert f"target_ms = {value}" in text
    assert found[:2] == fingerprints(text)[:2]
    # They are one step back.
    page.go_back()
    expect(parameter(page, "B", "target (ms)")).to_have_value("10")


# Wrong values


def test_a_fault_stands_at_its_field(page: Page) -> None:
    save = page.get_by_role("button", name="Download scenario")
    target = parameter(page, "B", "target (ms)")
    target.fill("-1")
    expect(alert(page)).to_contain_text("found -1; allowed: a number from 0.1 to 255")
    expect(target).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".error")).to_contain_text("found -1")
    expect(page.locator(".verdicts tbody tr")).to_have_count(7)
    expect(save).to_be_disabled()
    target.fill("20")
    expect(alert(page)).to_be_hidden()
    expect(page.locator(".error")).to_have_count(0)
    settled(page)
    expect(save).to_be_enabled()
    page.get_by_label("Games", exact=True).fill("9")
    expect(alert(page)).to_contain_text("Games: found 9; allowed: a whole number from 0 to 8")


def test_the_text_is_checked_as_one_types(page: Page) -> None:
    before = settled(page)
    text = scenario_of(page)
    wrong = text.replace("burst_bytes = 10000000", "burst_bytes = -5", 1)
    edit(page, wrong)
    faults = page.locator(".faults li")
    expect(faults.first).to_contain_text("upstream.burst_bytes: found -5")
    line = 1 + wrong[: wrong.index("burst_bytes = -5")].count("\n")
    expect(faults.first.get_by_role("button")).to_have_text(f"Line {line}")
    faults.first.get_by_role("button").click()
    chosen = page.evaluate("getSelection().toString()")
    assert chosen == "burst_bytes = -5"
    edit(page, "duration_s =")
    expect(faults).to_contain_text(re.compile("column 13"))
    edit(page, text)
    expect(faults).to_have_count(0)
    assert settled(page) == before


def test_a_text_that_the_choices_make_is_shown_as_choices(page: Page) -> None:
    text = scenario_of(page)
    edit(page, f"{text}\n[metrics]\nseries_interval_ms = 500\n")
    expect(page.get_by_role("heading", name="What all settings share")).to_be_visible()
    expect(page.get_by_label("Games", exact=True)).to_be_hidden()
    edit(page, text)
    expect(page.get_by_label("Games", exact=True)).to_be_visible()


# Stop, and too much


def test_a_run_can_be_stopped(page: Page) -> None:
    heads = verdict_heads(page).all_inner_texts()
    edit(page, LONG)
    bar = page.get_by_role("progressbar", name="Progress of the simulation")
    expect(bar).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("#status")).to_contain_text("Stopped.")
    expect(page.get_by_role("button", name="Download results")).to_be_disabled()
    expect(page.get_by_role("button", name="Download scenario")).to_be_enabled()
    assert verdict_heads(page).all_inner_texts() == heads
    # The page is as it was: the next change is simulated.
    page.go_back()
    settled(page)


def test_a_long_run_says_its_estimate_and_offers_the_command_line(page: Page) -> None:
    edit(page, LONG)
    note = page.locator("#long")
    expect(note).to_contain_text(re.compile(r"it takes about \d+ (s|minutes) here"))
    expect(note).to_contain_text("`sojourn run scenario.toml`")
    page.get_by_role("button", name="Stop").click()
    expect(note).to_be_hidden()


@pytest.mark.parametrize("is_there", [pytest.param(True, marks=needs_fast), False])
def test_a_long_run_takes_the_fast_module_if_it_is_there(page: Page, is_there: bool) -> None:
    if not is_there:
        page.route("**/*-fast.wasm", lambda route: route.fulfill(status=404))
    # Beside other programs its first runs may have been long, too.
    with page.expect_response("**/*-fast.wasm"):
        page.reload()
        settled(page)
        edit(page, LONG)
    # With the fast module it starts again, and says again how long it takes.
    expect(page.locator("#long")).to_contain_text("it takes about")
    edit(page, SHORT)
    note = " ".join(fingerprints(SHORT))
    expect(page.locator("html")).to_have_attribute("data-fingerprints", note)


def test_a_scenario_too_large_for_a_page_is_refused(page: Page) -> None:
    heads = verdict_heads(page).all_inner_texts()
    edit(page, LONG.replace("2000", "10") + "homes.all.count = 9_000\n")
    faults = page.locator(".faults")
    expect(faults).to_contain_text("of memory")
    expect(faults).to_contain_text("`sojourn run scenario.toml`")
    assert verdict_heads(page).all_inner_texts() == heads


def test_runs_that_together_are_too_large_for_a_page_are_refused(
    chromium: Browser, lab: str
) -> None:
    """Each may have a gigabyte, but not both at once: nothing starts."""
    two = (
        LONG.replace("2000", "10")
        + "homes.all.count = 60\ncompare.one = {}\ncompare.two.seed = 2\n"
    )
    with visit(chromium, f"{lab}/{packed(two)}") as visited:
        page = visited.page
        expect(alert(page)).to_contain_text("The 2 settings need together up to 2.9 GB of memory")
        expect(alert(page)).to_contain_text("`sojourn run scenario.toml`")
        assert visited.complaints == [] and page.workers == []


# The moving picture


def test_the_picture_is_played_by_keys(page: Page) -> None:
    still(page)
    stage = page.get_by_role("group", name="Animation")
    clock = page.locator(".clock")
    stage.focus()
    expect(clock).to_have_text("10.300000 s")
    page.keyboard.press("ArrowRight")
    stepped = float((clock.text_content() or "").split()[0])
    # Between two MAPs, 2 ms, something always happens.
    assert 10.3 < stepped <= 10.302
    page.keyboard.press("End")
    expect(clock).to_have_text("11.000000 s")
    page.keyboard.press("Home")
    expect(clock).to_have_text("10.000000 s")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(clock).not_to_have_text("10.000000 s")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_the_picture_shows_what_the_trace_tells(page: Page) -> None:
    still(page)
    expect(page.get_by_role("group", name="Animation")).to_have_attribute("aria-busy", "false")
    words = page.locator("#picture figure p").all_inner_texts()
    runs = sojourn.run(scenario_of(page), set=["metrics.modem_trace=true", "duration_s=11"]).runs
    for run, note in zip(list(runs.values())[:2], words, strict=True):
        events = run.modem_events.to_pylist()
        last = next(event for event in reversed(events) if event["time_s"] <= 10.3)
        packets, kilobytes = last["backlog_packets"], last["backlog_bytes"] / 1000
        assert note.startswith(f"{packets} packets in the queue, {kilobytes:.1f} kB")


def test_the_picture_keeps_its_place(page: Page) -> None:
    still(page)
    page.get_by_label("Queue management A").select_option("CoDel")
    stage = page.get_by_role("group", name="Animation")
    expect(page.locator("#picture figcaption").first).to_have_text("A: CoDel")
    expect(stage).to_have_attribute("aria-busy", "false")
    expect(page.locator(".clock")).to_have_text("10.300000 s")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def test_who_wants_less_motion_starts_it(page: Page) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.reload()
    page.get_by_role("group", name="Animation").scroll_into_view_if_needed()
    expect(page.locator("#picture canvas")).to_have_count(2)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(page.locator(".clock")).to_have_text("10.000000 s")
    page.wait_for_timeout(200)
    expect(page.locator(".clock")).to_have_text("10.000000 s")
