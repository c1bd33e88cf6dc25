"""The check of pages itself: a browser that finds nothing must be able to find something."""

from pathlib import Path

from browser import PHONE, visit
from playwright.sync_api import Browser

POOR = """<!DOCTYPE html><title>poor</title>
<body style="background:#fff"><div style="width:500px;color:#ddd">faint and wide</div>
<img src="https://sojourn.invalid/a.png"><button></button><script>nothing()</script></body>"""


def test_a_poor_page_is_found_out(chromium: Browser, tmp_path: Path) -> None:
    page = tmp_path / "poor.html"
    page.write_text(POOR)
    with visit(chromium, page.as_uri(), width=PHONE, offline=True) as visited:
        # 500 px and the body's margin of 8 px, in a window of 390 px.
        assert visited.overflow_px == 500 + 8 - 390
        found = {fault.partition(":")[0] for fault in visited.faults()}
        assert found >= {"color-contrast", "image-alt", "button-name", "html-has-lang"}
        assert visited.requests == [page.as_uri(), "https://sojourn.invalid/a.png"]
        assert any("nothing is not defined" in complaint for complaint in visited.complaints)
