"""The page of `sojourn lab` in a browser."""

import re
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
import sojourn
from browser import DESKTOP, SMALL_PHONE, Visited, visit
from conftest import ROOT
from lab_server import Lab, serving, until
from playwright.sync_api import Browser, Locator, Page, Request, Route, expect

expect.set_options(timeout=20_000)

Role = Literal["spinbutton", "slider"]
PATIENT_MS = 120_000  # a report has many figures, and the machine other things to do
MODEM = ROOT / "tests" / "data" / "modem-configs" / "home-5x20.cm"

_DROP = """(place, bytes) => {
  const dataTransfer = new DataTransfer();
  dataTransfer.items.add(new File([new Uint8Array(bytes)], "dropped.cm"));
  place.dispatchEvent(new DragEvent("drop", { dataTransfer, bubbles: true, cancelable: true }));
}"""


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    with serving() as running:
        yield running


@contextmanager
def opened(
    chromium: Browser, lab: Lab, *, width: int = DESKTOP, dark: bool = False
) -> Iterator[Visited]:
    """The page after its first answer."""
    with visit(chromium, f"{lab.address}/", width=width, dark=dark) as visited:
        expect(visited.page.locator("#status")).to_contain_text("Simulated")
        yield visited


def still(page: Page) -> None:
    """Shows the picture, and stops it."""
    page.get_by_role("group", name="Animation").scroll_into_view_if_needed()
    expect(page.locator("#picture canvas")).to_have_count(2)
    page.get_by_label("Time within the animation").evaluate(
        "range => { range.value = 300; range.dispatchEvent(new Event('input')) }"
    )
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()


def parameter(page: Page, letter: str, name: str, role: Role = "spinbutton") -> Locator:
    """A field among the parameters of A or B."""
    setting = page.locator(".setting", has=page.get_by_label(f"Queue management {letter}"))
    details = setting.locator("details")
    details.evaluate("details => { details.open = true }")
    return details.get_by_role(role, name=name)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [DESKTOP, SMALL_PHONE])
def test_the_page_is_fit_for_all(chromium: Browser, lab: Lab, width: int, dark: bool) -> None:
    with opened(chromium, lab, width=width, dark=dark) as visited:
        still(visited.page)
        visited.photograph(f"lab-{width}-{'dark' if dark else 'light'}")
        assert visited.faults() == []
        assert visited.overflow_px == 0
        assert visited.complaints == []


def test_open_forms_are_fit_too(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab, width=SMALL_PHONE) as visited:
        for details in visited.page.locator("form details").all():
            details.evaluate("details => { details.open = true }")
        for button in visited.page.locator("form .ask").all():
            button.click()
        visited.photograph("lab-open")
        assert visited.faults() == []
        assert visited.overflow_px == 0


def test_no_request_leaves(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        still(visited.page)
        visited.page.get_by_role("button", name="Copy scenario").click()
        expect(visited.page.get_by_label("The scenario as TOML")).to_be_visible()
        assert len(visited.requests) > 10
        assert [url for url in visited.requests if not url.startswith(lab.address)] == []


def test_what_it_shows_follows_the_choices(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        table = page.locator(".verdicts")
        expect(table.get_by_role("columnheader")).to_have_text(
            ["A: Drop-tail, large buffer", "B: DOCSIS-PIE"]
        )
        expect(table.get_by_role("rowheader")).to_have_text(["game", "call", "page", "upload"])
        page.get_by_role("button", name="More video viewers").click()
        expect(table.get_by_role("rowheader")).to_have_text(
            ["game", "call", "page", "video", "upload"]
        )
        page.get_by_label("Queue management A").select_option("SFQ-CoDel")
        expect(table.get_by_role("columnheader").first).to_have_text("A: SFQ-CoDel")
        page.get_by_label("Compare with another").uncheck()
        expect(table.get_by_role("columnheader")).to_have_text(["A: SFQ-CoDel"])
        page.get_by_label("Show latency of").select_option("Voice calls")
        expect(page.get_by_role("img", name="Upstream latency: Voice calls")).to_be_visible()
        assert visited.complaints == []


def test_forms_say_what_the_schema_says(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        target = parameter(visited.page, "B", "target (ms)")
        law = next(
            kind
            for kind in lab.get("/api/choices").json["schema"]["$defs"]["AqmSpec"]["oneOf"]
            if kind["properties"]["kind"]["const"] == "docsis_pie"
        )
        schema = law["properties"]["target_ms"]
        assert float(target.get_attribute("min")) == schema["minimum"]
        assert float(target.get_attribute("max")) == schema["maximum"]
        expect(target).to_have_accessible_description(f"{schema['description']} From 0.1 to 255.")


def test_it_answers_while_a_slider_moves(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        slider = parameter(page, "B", "target (ms)", "slider")
        slider.focus()
        asked: list[float] = []

        def note(request: Request) -> None:
            if request.url.endswith("/api/run"):
                asked.append(request.post_data_json["settings"][1]["queue"]["law"]["target_ms"])

        page.on("request", note)
        for _ in range(60):
            page.keyboard.press("ArrowRight")
        value = parameter(page, "B", "target (ms)").input_value()
        assert float(value) > 20
        while float(value) not in asked:
            page.wait_for_event("request")
        # Not each of the 60 movements is asked for, but the last one is.
        assert 1 <= len(asked) < 60
        page.get_by_role("button", name="Copy scenario").click()
        text = page.get_by_label("The scenario as TOML")
        expect(text).to_have_value(re.compile(rf"target_ms = {value}\b"))


def test_a_fault_stands_at_its_field(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        target = parameter(page, "B", "target (ms)")
        target.fill("-1")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("found -1; allowed: a number from 0.1 to 255")
        expect(target).to_have_attribute("aria-invalid", "true")
        expect(page.locator(".error")).to_contain_text("found -1")
        expect(page.locator(".verdicts tbody tr")).to_have_count(4)
        target.fill("20")
        expect(alert).to_be_hidden()
        expect(page.locator(".error")).to_have_count(0)
        page.get_by_label("Games", exact=True).fill("9")
        expect(alert).to_contain_text(
            "activities.game: found 9; allowed: a whole number from 0 to 8"
        )


def test_an_emptied_duration_is_refused(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        page.get_by_role("spinbutton", name="duration (s)").fill("")
        told = "duration_s: found nothing; allowed: a number from 0.001 to 120"
        expect(page.get_by_role("alert")).to_contain_text(told)
        expect(page.locator("#run .error")).to_contain_text(told)


def test_a_fast_service_is_simulated_for_less_time(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        duration = page.get_by_role("spinbutton", name="duration (s)")
        service = page.get_by_role("combobox", name="Service")
        fast = "200 Mbps up, 1000 down (White 2014)"
        expect(duration).to_have_value("30")
        service.select_option(fast)
        # 30 s of 400 Mbps are 10 of 1200.
        expect(duration).to_have_value("10")
        expect(page.locator("#run")).to_contain_text(
            "10 s instead of 30 s, because runs at these rates take longer"
        )
        expect(page.locator("#status")).to_contain_text("Simulated 2 × 10 s")
        service.select_option("10 Mbps up, 20 in bursts; 100 down")
        expect(duration).to_have_value("30")
        expect(page.locator("#run")).not_to_contain_text("instead of 30")
        # What someone chose stays.
        duration.fill("20")
        service.select_option(fast)
        expect(page.locator("#status")).to_contain_text("Simulated 2 × 20 s")
        expect(duration).to_have_value("20")


def test_the_choices_show_that_they_go_on(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        form = visited.page.locator("form")
        assert form.evaluate("form => form.scrollHeight - form.clientHeight") > 50

        def edge() -> bytes:
            box = form.bounding_box()
            assert box
            clip = {"x": box["x"] + 1, "y": 844 - 4, "width": 3, "height": 3}
            return visited.page.screenshot(clip=clip)

        visited.page.evaluate("scrollTo(0, 300)")
        shaded = edge()
        form.evaluate("form => { form.scrollTop = form.scrollHeight }")
        assert edge() != shaded


def test_the_peak_rate_goes_with_the_sustained_rate(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        sustained, peak = (
            page.locator(f'[data-path="upstream.{key}_mbps"] input[type=number]')
            for key in ("sustained", "peak")
        )
        sustained.evaluate("box => { box.closest('details').open = true }")
        sustained.fill("30")
        expect(peak).to_have_value("30")
        # On the way to a 50 there is a 5, which must not take the sustained rate along.
        peak.fill("5")
        expect(page.get_by_role("alert")).to_contain_text(
            "allowed: 30 or more, the value of sustained_mbps"
        )
        expect(sustained).to_have_value("30")
        peak.fill("50")
        expect(page.get_by_role("alert")).to_be_hidden()
        expect(sustained).to_have_value("30")


def test_a_modem_file_gives_the_service(chromium: Browser, lab: Lab, tmp_path: Path) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        chooser = page.get_by_label("Or open or drop a modem configuration file:")
        chooser.set_input_files(MODEM)
        expect(page.get_by_text("Service from home-5x20.cm.")).to_be_visible()
        heading = page.locator(".verdicts").get_by_role("columnheader").first
        expect(heading).to_have_text("A: from the modem file")
        assert visited.complaints == []
        page.locator(".drop").evaluate(_DROP, list(MODEM.read_bytes()))
        expect(page.get_by_text("Service from dropped.cm.")).to_be_visible()
        bad = tmp_path / "bad.cm"
        bad.write_bytes(b"\x18\xff\x01")
        # What was asked for before is answered afterwards, and does not hide what is wrong.
        kept: list[Route] = []
        page.route("**/api/run", lambda route: kept.append(route))
        # What the dropped file asked for may come here too, and first.
        with page.expect_request(lambda request: "CoDel" in (request.post_data or "")):
            page.get_by_label("Queue management B").select_option("CoDel")
        chooser.set_input_files(bad)
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("allowed")
        kept[-1].continue_()
        expect(page.locator("#status")).to_contain_text("Simulated")
        expect(page.locator(".verdicts").get_by_role("columnheader").last).to_have_text("B: CoDel")
        expect(alert).to_contain_text("allowed")


def test_the_picture_is_played_by_keys(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        still(page)
        stage = page.get_by_role("group", name="Animation")
        clock = page.locator(".clock")
        stage.focus()
        expect(clock).to_have_text("10.300000 s")
        page.keyboard.press("ArrowRight")
        stepped = float(clock.text_content().split()[0])
        # Between two MAPs, 2 ms, something always happens.
        assert 10.3 < stepped <= 10.302
        page.keyboard.press("ArrowLeft")
        assert float(clock.text_content().split()[0]) <= 10.3
        page.keyboard.press("PageDown")
        page.keyboard.press("End")
        expect(clock).to_have_text("11.000000 s")
        page.keyboard.press("Home")
        expect(clock).to_have_text("10.000000 s")
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
        expect(clock).not_to_have_text("10.000000 s")
        page.keyboard.press("Space")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        stands = clock.text_content()
        page.wait_for_timeout(200)
        expect(clock).to_have_text(stands)


def told_by_the_trace(page: Page) -> list[str]:
    """How the words below the queues begin at 10.3 s of a run with the choices of the page."""
    page.get_by_role("button", name="Copy scenario").click()
    text = page.get_by_label("The scenario as TOML")
    expect(text).to_be_visible()
    runs = sojourn.run(text.input_value(), set=["metrics.modem_trace=true", "duration_s=11"])
    events = [run.modem_events.to_pylist() for run in runs.values()]
    last = [next(e for e in reversed(of_run) if e["time_s"] <= 10.3) for of_run in events]
    return [
        f"{event['backlog_packets']} packets in the queue, {event['backlog_bytes'] / 1000:.1f} kB"
        for event in last
    ]


def test_the_picture_shows_what_the_trace_tells(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        still(page)
        words = [p.text_content() for p in page.locator("#picture figure p").all()]
        for told, begin in zip(words, told_by_the_trace(page), strict=True):
            assert told.startswith(begin)


def test_a_picture_is_asked_for_when_there_are_results(chromium: Browser, lab: Lab) -> None:
    with visit(chromium, "about:blank") as visited:
        # In a window so high that the picture is seen from the start.
        visited.page.set_viewport_size({"width": DESKTOP, "height": 3000})
        visited.page.goto(f"{lab.address}/")
        expect(visited.page.locator("#picture canvas")).to_have_count(2)
        asked = [url for url in visited.requests if "/api/" in url]
        assert [url.rpartition("/")[2] for url in asked] == ["choices", "run", "picture"]


def test_the_picture_keeps_its_place(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        still(page)
        words = page.locator("#picture figure p")
        before = words.all_text_contents()
        page.get_by_label("Queue management A").select_option("CoDel")
        name = page.locator("#picture figcaption").first
        expect(name).to_have_text("A: CoDel")
        expect(page.locator(".clock")).to_have_text("10.300000 s")
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        after = words.all_text_contents()
        assert after[0] != before[0] and after[1] == before[1]
        assert after[0].startswith(told_by_the_trace(page)[0])


def test_the_picture_plays_on_from_its_place(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        still(page)
        page.get_by_role("button", name="Play", exact=True).click()
        page.get_by_label("Queue management A").select_option("CoDel")
        expect(page.locator("#picture figcaption").first).to_have_text("A: CoDel")
        expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
        assert float(page.locator(".clock").text_content().split()[0]) > 10.3


def test_a_picture_that_is_out_of_date_says_so(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        still(page)
        stage = page.get_by_role("group", name="Animation")
        words = page.locator("#picture figure p").first
        drawing = page.locator("#picture canvas").first
        expect(stage).to_have_attribute("aria-busy", "false")
        kept: list[Route] = []
        page.route("**/api/*", lambda route: kept.append(route))

        def let_go() -> None:
            while not kept:
                page.wait_for_timeout(10)
            kept.pop().continue_()

        def is_out_of_date() -> None:
            expect(stage).to_have_attribute("aria-busy", "true")
            expect(words).to_have_text(re.compile("^Out of date"))
            expect(drawing).to_have_accessible_name(re.compile("Out of date"))
            expect(drawing).not_to_have_css("opacity", "1")

        with page.expect_request("**/api/run"):
            page.get_by_label("Queue management A").select_option("CoDel")
        is_out_of_date()
        with page.expect_request("**/api/picture"):
            let_go()
        is_out_of_date()
        let_go()
        expect(stage).to_have_attribute("aria-busy", "false")
        expect(words).to_have_text(re.compile("packets in the queue"))
        expect(drawing).to_have_accessible_name(re.compile("A: CoDel: .* packets in the queue"))


def test_who_wants_less_motion_starts_it(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        page.emulate_media(reduced_motion="reduce")
        page.reload()
        page.get_by_role("group", name="Animation").scroll_into_view_if_needed()
        expect(page.locator("#picture canvas")).to_have_count(2)
        expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
        expect(page.locator(".clock")).to_have_text("10.000000 s")
        page.wait_for_timeout(200)
        expect(page.locator(".clock")).to_have_text("10.000000 s")


def test_it_plays_by_itself_otherwise(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        page.get_by_role("group", name="Animation").scroll_into_view_if_needed()
        expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()


def test_scenario_and_report_are_taken_away(chromium: Browser, lab: Lab, tmp_path: Path) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        page.get_by_role("button", name="Copy scenario").click()
        text = page.get_by_label("The scenario as TOML")
        expect(text).to_be_visible()
        scenario = tomllib.loads(text.input_value())
        assert list(scenario["compare"]) == ["A: Drop-tail, large buffer", "B: DOCSIS-PIE"]
        with page.expect_download(timeout=PATIENT_MS) as download:
            page.get_by_role("button", name="Download report").click()
        path = tmp_path / "report.html"
        download.value.save_as(path)
        result = sojourn.run(text.input_value())
        report = path.read_text()
        assert all(run.meta["fingerprint"] in report for run in result.values())
        assert visited.complaints == []


def test_a_page_that_is_closed_leaves_no_run(chromium: Browser, lab: Lab) -> None:
    with opened(chromium, lab) as visited:
        page = visited.page
        page.get_by_role("combobox", name="Service").select_option(
            "200 Mbps up, 1000 down (White 2014)"
        )
        page.get_by_label("Uploads", exact=True).fill("16")
        with page.expect_request(lambda request: '"duration_s":120' in (request.post_data or "")):
            page.get_by_role("spinbutton", name="duration (s)").fill("120")
        # 120 s at 200 Mbps under two queue managers are 4 million packets: seconds of work.
        until(lambda: lab.pool.requests > 0)
        page.close()
        until(lambda: lab.pool.requests == 0)
