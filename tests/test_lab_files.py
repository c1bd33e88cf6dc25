"""What goes into the live page and out of it: cases, files, parts, results."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import sojourn
import wasm_modules
from browser import PHONE, visit
from conftest import ROOT, pcap
from lab_page import (
    _DROP,
    LONG,
    alert,
    drop,
    edit,
    on_the_page,
    opened,
    parameter,
    scenario_of,
    settled,
    verdict_heads,
)
from playwright.sync_api import Browser, Page, Route, expect
from sojourn.base.grid import digits

pytestmark = on_the_page


MODEM = ROOT / "tests" / "data" / "modem-configs" / "home-5x20.cm"


# Files and cases


@pytest.mark.parametrize(
    "most", [3, pytest.param(None, marks=pytest.mark.long)], ids=["three", "all"]
)
def test_every_case_runs(page: Page, most: int | None) -> None:
    page.get_by_text("Prepared cases").click()
    titles = page.locator(".cards h3").all_inner_texts()
    assert len(titles) >= 10
    for title in titles[:most]:
        page.get_by_text("Prepared cases").evaluate("s => { s.closest('details').open = true }")
        page.get_by_role("button", name=f"Open: {title}").click()
        settled(page)
        expect(page.get_by_role("heading", name=title, level=2)).to_be_visible()
        expect(page.locator("#about-text")).to_contain_text(".")
        assert not alert(page).is_visible()


def test_settings_of_a_case_can_be_chosen_and_changed(chromium: Browser, lab: str) -> None:
    with opened(chromium, f"{lab}/#case=bufferbloat") as visited:
        page = visited.page
        page.get_by_label("64 kB").uncheck()
        expect(verdict_heads(page).first).to_have_text("A: 256 kB")
        settled(page)
        page.get_by_text("Upstream", exact=True).click()
        page.locator('[data-path="upstream.sustained_mbps"] input[type=number]').fill("9")
        expect(page).to_have_url(re.compile("#z="))
        expect(page.locator("#about")).to_contain_text("Changed here: upstream.sustained_mbps = 9.")
        found = settled(page)
        native = sojourn.run(scenario_of(page)).runs
        assert found[:2] == [native[name].meta["fingerprint"] for name in ("256 kB", "1 MB")]


LOGS = ROOT / "tests" / "data" / "logs"


def test_logs_get_the_answers_of_python(page: Page) -> None:
    before = page.url
    answer = page.locator("#log")
    for path in sorted(LOGS.iterdir()):
        drop(page, path.name, path.read_bytes())
        line = sojourn.read_log(path).measured
        expect(page.locator("#status")).to_contain_text(f"{path.name} was read")
        expect(answer.locator("tbody th")).to_have_text(line.letter or "not measured")
        expect(answer.locator("li")).to_have_text(list(line.sentences))
        idle = "not measured" if line.idle_ms is None else f"{digits(line.idle_ms)} ms"
        expect(answer.locator("tbody td").first).to_have_text(idle)
        count = 0 if "quality" in path.name else 3 if line.rates_count else 2
        expect(answer.locator("figure svg")).to_have_count(count)
    assert page.url == before and not alert(page).is_visible()


def test_the_times_of_loads_can_be_given(page: Page) -> None:
    text = (LOGS / "line.csv").read_text().replace("rtt_ms,down_mbps,up_mbps,load", "rtt_ms,a,b,c")
    drop(page, "line.csv", text.encode())
    letter = page.locator("#log tbody th")
    expect(letter).to_have_text("not measured")
    for label, value in (("A download ran from", "10"), ("An upload ran from", "34")):
        page.get_by_label(label).fill(value)
    for number, value in enumerate(("30", "54")):
        page.locator("#log").get_by_label("to", exact=True).nth(number).fill(value)
    page.get_by_label("A download ran from").press("Enter")
    expect(letter).to_have_text("C")
    expect(page.locator("#log tbody td").nth(2)).to_have_text("171 ms")


def test_what_is_no_log_leaves_the_page_as_it_was(page: Page) -> None:
    back = b"sent_ms,rtt_ms\n9000,3\n10,3\n"
    for number, (content, found) in enumerate(
        [
            (b"hello\n", "found no line of a reply"),
            (b"", "found nothing in it"),
            (bytes(3000), "found no line of a reply"),
            (b"{}", "found JSON without round_trips"),
            ((LOGS / "rrul.flent.gz").read_bytes()[:700], "found a damaged or cut gzip file"),
            (back, "probe 2: found a time that is 9.0 s before"),
        ]
    ):
        drop(page, f"bad{number}.csv", content)
        expect(alert(page)).to_contain_text(f"bad{number}.csv was rejected: ")
        expect(alert(page)).to_contain_text(found)
        expect(page.locator("#log")).to_be_hidden()


def test_cures_are_simulated_on_a_line_like_that_of_a_log(page: Page) -> None:
    """10 Mbps up, 21 ms at rest, 151 ms more in an upload: 189 000 bytes, or 63 000 in 50 ms.

    5 of the 21 ms are the cable's, and half of the others the way to a server.
    """
    drop(page, "rrul.flent.gz", (LOGS / "rrul.flent.gz").read_bytes())
    expect(page.locator("#log")).to_contain_text("which lacks an upload by itself")
    drop(page, "line.csv", (LOGS / "line.csv").read_bytes())
    page.get_by_role("button", name="Simulate each cure on a line like this").click()
    settled(page)
    made = tomllib.loads(scenario_of(page))
    assert made["upstream"]["sustained_mbps"] == 10
    assert [made["servers"][name]["delay_ms"] for name in ("files", "peer")] == [8, 8]
    assert list(made["compare"]) == [
        "as it is",
        "50 ms of buffer",
        "DOCSIS-PIE in the modem",
        "CAKE in the router",
    ]
    queues = [one["upstream"]["queue"] for one in made["compare"].values() if "upstream" in one]
    buffers = [queue["limit_bytes"] for queue in queues if "limit_bytes" in queue]
    assert buffers == pytest.approx([188_000, 63_000], abs=1000)
    expect(page.locator("#about-title")).to_have_text("A line like the measured one")
    expect(page.locator("#verdicts")).to_contain_text("CAKE in the router")


def test_a_log_fits_a_phone(chromium: Browser, lab: str) -> None:
    with opened(chromium, lab, width=PHONE) as visited:
        drop(visited.page, "line.csv", (LOGS / "line.csv").read_bytes())
        expect(visited.page.locator("#log figure svg")).to_have_count(3)
        assert visited.overflow_px == 0


def test_a_modem_file_gives_the_service(chromium: Browser, page: Page, tmp_path: Path) -> None:
    chooser = page.get_by_label("Open or drop a modem configuration file")
    chooser.set_input_files(MODEM)
    expect(page.get_by_text("Service from home-5x20.cm.")).to_be_visible()
    expect(verdict_heads(page).first).to_have_text("A: home-5x20.cm")
    settled(page)
    buffer = tomllib.loads(scenario_of(page))["compare"]["home-5x20.cm"]["upstream"]["buffer"]
    assert buffer["target_bytes"] == 31_250
    drop(page, "dropped.cm", MODEM.read_bytes())
    expect(page.get_by_text("Service from dropped.cm.")).to_be_visible()
    settled(page)
    link = page.url
    bad = tmp_path / "bad.cm"
    bad.write_bytes(b"\x18\xff\x01")
    chooser.set_input_files(bad)
    expect(alert(page)).to_contain_text("bad.cm was rejected")
    expect(alert(page)).to_contain_text("allowed")
    expect(verdict_heads(page).first).to_have_text("A: dropped.cm")
    with opened(chromium, link) as visited:
        expect(verdict_heads(visited.page).first).to_have_text("A: dropped.cm")
        expect(visited.page.get_by_label("Games", exact=True)).to_be_visible()


def test_the_modem_file_of_a_setting_is_that_of_the_command(page: Page, tmp_path: Path) -> None:
    with page.expect_download() as download:
        page.get_by_role("button", name="Download modem file").click()
    path = tmp_path / "modem.cm"
    download.value.save_as(path)
    variant = sojourn.load(scenario_of(page))[0]
    from sojourn._sojourn import ConfigFile

    assert path.read_bytes() == ConfigFile.from_scenario(variant)[0].to_bytes()


def test_a_capture_is_replayed(page: Page, tmp_path: Path) -> None:
    packets = [(us, 200) for us in range(0, 900_000, 9_000)]
    text = LONG.replace("2000", "2").replace("900", "9") + (
        'traffic.own = { kind = "replay", file = "own.pcap", server = "near" }\n'
    )
    edit(page, text)
    expect(page.locator(".faults")).to_contain_text("a page reads no disk")
    drop(page, "own.pcap", pcap(packets))
    page.get_by_label("The scenario as TOML").focus()
    edit(page, text + "\n")
    expect(verdict_heads(page).first).to_contain_text("much traffic")
    found = settled(page)
    (tmp_path / "own.pcap").write_bytes(pcap(packets))
    (tmp_path / "own.toml").write_text(text)
    native = next(iter(sojourn.run(tmp_path / "own.toml").runs.values()))
    assert found[0] == native.meta["fingerprint"]


_KEEP = """async sizes => {
  const { Checker } = await import("./module.js");
  const checker = new Checker(undefined, { ask() {} });
  try {
    for (const [name, length] of sizes) checker.keep(name, { length });
    return "";
  } catch ({ message }) {
    return message;
  }
}"""


def test_files_have_a_limit_alone_and_together(chromium: Browser, lab: str) -> None:
    with visit(chromium, lab) as visited:
        page = visited.page
        half = 2**27
        assert page.evaluate(_KEEP, [["a", half], ["b", half], ["a", half]]) == ""
        message = page.evaluate(_KEEP, [["a", half], ["b", half], ["c", 1]])
        assert message.startswith("found 268435457 bytes in all files; allowed: 268435456 or less")
        settled(page)
        page.evaluate(
            f"bytes => ({_DROP})(document.body, ['large.toml', new Uint8Array(bytes)])", 2**26 + 1
        )
        found = "large.toml was rejected: found 67108865 bytes; allowed: 67108864 or less"
        expect(alert(page)).to_contain_text(found)
        assert visited.complaints == []


def test_results_and_report_are_taken_away(chromium: Browser, page: Page, tmp_path: Path) -> None:
    found = settled(page)
    for name in ("scenario", "results", "report"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Download {name}").click()
        download.value.save_as(tmp_path / f"{name}.html")
    scenario, results, report = (
        (tmp_path / f"{name}.html").read_text() for name in ("scenario", "results", "report")
    )
    assert scenario == scenario_of(page)
    runs = json.loads(results)["runs"]
    assert [run["fingerprint"] for run in runs] == found
    native = next(iter(sojourn.run(scenario).runs.values()))
    assert runs[0]["tables"]["flows"] == native.flows.to_pylist()
    assert all(fingerprint in report for fingerprint in found)
    assert "<script" not in report and "<svg" in report
    with visit(chromium, (tmp_path / "report.html").as_uri()) as visited:
        visited.photograph("lab-report")
        assert visited.faults() == []


PART = ROOT / "docs" / "own" / "codel-rust.wasm"


def test_a_part_of_ones_own_runs_as_on_the_command_line(page: Page) -> None:
    drop(page, "codel-rust.wasm", PART.read_bytes())
    expect(page.get_by_role("status").first).to_contain_text("The law codel_rust can be chosen")
    page.get_by_label("Queue management B").select_option("codel_rust")
    expect(verdict_heads(page).nth(1)).to_have_text("B: codel_rust")
    parameter(page, "B", "target (ms)").fill("20")
    expect(verdict_heads(page).nth(1)).to_have_text("B: codel_rust, target 20 ms")
    found, text = settled(page), scenario_of(page)
    runs = sojourn.run(text, parts=[str(PART)]).runs
    assert found == [run.meta["fingerprint"] for run in runs.values()]


def test_code_of_a_link_runs_only_if_one_agrees(chromium: Browser, page: Page) -> None:
    drop(page, "codel-rust.wasm", PART.read_bytes())
    page.get_by_label("Queue management B").select_option("codel_rust")
    expect(verdict_heads(page).nth(1)).to_have_text("B: codel_rust")
    found, link = settled(page), page.url
    assert "&part=" in link
    with opened(chromium, link) as visited:
        page = visited.page
        question = page.get_by_role("alertdialog")
        expect(question).to_contain_text("This link brings code of its own: a part of 8703 bytes")
        expect(verdict_heads(page).nth(1)).to_have_text("B: DOCSIS-PIE")
        question.get_by_role("button", name="Leave it out").click()
        expect(alert(page)).to_contain_text("its code was left out")
    with opened(chromium, link) as visited:
        page = visited.page
        page.get_by_role("button", name="Run the code").click()
        expect(verdict_heads(page).nth(1)).to_have_text("B: codel_rust")
        assert settled(page) == found


def test_what_is_no_part_is_rejected(page: Page) -> None:
    for content, message in (
        (wasm_modules.law(abi=3), "bad.wasm was rejected: sojourn_abi: found 3; allowed: 1, 2"),
        (b"\0asm", "bad.wasm was rejected: found no WebAssembly module"),
        (
            wasm_modules.law(memory=wasm_modules.PAGES_300_MIB),
            "found 4800 pages of memory; allowed: 256 at most",
        ),
        (wasm_modules.law(more=wasm_modules.table(20_000)), "; allowed: 10000 at most"),
        (wasm_modules.OBJECTS, "bad.wasm was rejected: found types of objects"),
        (wasm_modules.law(name="codel"), 'found a part from outside called "codel"'),
    ):
        drop(page, "bad.wasm", content)
        expect(alert(page)).to_contain_text(message)


_GROW = """async bytes => {
  const { limited } = await import("./part-limits.js");
  const most = 3 * 65536;
  const { instance } = await WebAssembly.instantiate(limited(new Uint8Array(bytes), most), {});
  const { memory } = instance.exports;
  const before = memory.grow(2);
  try {
    memory.grow(1);
  } catch ({ name }) {
    return [before, name, memory.buffer.byteLength === most];
  }
}"""


def test_the_memory_of_a_part_cannot_grow_beyond_its_limit(chromium: Browser, lab: str) -> None:
    """Also within one call, before the page looks at it."""
    with visit(chromium, lab) as visited:
        for memory in (b"\x00\x01", b"\x01\x01\x80\x80\x04"):
            part = wasm_modules.law(memory=memory, more=wasm_modules.table(10_000))
            assert visited.page.evaluate(_GROW, list(part)) == [1, "RangeError", True]


_GREEDY = """async ([part, mostBytes, needs]) => {
  const { Workers } = await import("./workers.js");
  const { INSPECTED_BYTES, Parts } = await import("./parts.js");
  const workers = new Workers(undefined, mostBytes);
  workers.admit(needs);
  const parts = new Parts();
  for (const _ of [0, 1]) parts.add(new Uint8Array(part));
  parts.reset(workers.partBytes);
  for (const number of [0, 1]) parts.start(number, new Float64Array(2), 0, 2);
  return needs.reduce((sum, need) => sum + need + parts.memoryBytes, INSPECTED_BYTES);
}"""


@pytest.mark.parametrize("settings", [1, 5, 12])
def test_parts_that_take_all_memory_leave_the_page_within_its_limit(
    chromium: Browser, lab: str, settings: int
) -> None:
    """Each of two parts grows as far as it can, within a call, in each of the workers."""
    part = wasm_modules.law(start=wasm_modules.GROW_ALL)
    with visit(chromium, lab) as visited:
        given = [list(part), most := 1_500_000_000, [20_000_000] * settings]
        taken = visited.page.evaluate(_GREEDY, given)
    run = 256 * 2**20 + 20_000_000
    assert min(settings * run, 0.95 * most) < taken <= most


def patience_can_be_changed(route: Route) -> None:
    """The time after which workers end a silent part is a variable of the page."""
    answer = route.fetch()
    text = answer.text()
    assert "const MOST_SILENT_MS = 10_000;" in text
    changed = text.replace("const MOST_SILENT_MS = 10_000;", "globalThis.mostSilentMs = 300_000;")
    route.fulfill(response=answer, body=changed.replace("MOST_SILENT_MS", "mostSilentMs"))


def test_parts_that_misbehave_end_their_runs(chromium: Browser, lab: str) -> None:
    with visit(chromium, "about:blank") as visited:
        page = visited.page
        page.route("**/workers.js", patience_can_be_changed)
        page.goto(lab)
        settled(page)
        for name, hook, most_silent_ms, message in (
            ("trapping", wasm_modules.TRAP, 300_000, "part trapping: on_departure, at"),
            ("wrong", wasm_modules.NAN, 300_000, "found NaN as what to do with a packet"),
            ("endless", wasm_modules.ENDLESS, 1000, "has not answered for 1 s"),
        ):
            drop(page, f"{name}.wasm", wasm_modules.law(hook, name=name))
            expect(page.get_by_role("status").first).to_contain_text(f"{name} can be chosen")
            page.evaluate("ms => { mostSilentMs = ms }", most_silent_ms)
            page.get_by_label("Queue management B").select_option(name)
            expect(alert(page)).to_contain_text(message)
            page.evaluate("mostSilentMs = 300_000")
            page.get_by_label("Queue management B").select_option("CoDel")
            settled(page)
