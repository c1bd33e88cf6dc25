"""Core, Python and the live page know the same invisible characters."""

import re
import sys
from pathlib import Path

import pytest
import sojourn
from sojourn.base.plain_text import is_plain

PAGE = Path(sojourn.__file__).parent / "lab/static/plain.js"
FIRST_AND_LAST = [
    point
    for point in range(1, sys.maxunicode)
    if not 0xD7FF <= point <= 0xE000
    and is_plain(chr(point)) != (is_plain(chr(point - 1)) and is_plain(chr(point + 1)))
]


def test_the_live_page_has_the_list_of_python() -> None:
    parts = re.search(r"new RegExp\(\s*(.*?),\s*\"gu\"", PAGE.read_text(), re.DOTALL)
    assert parts
    escaped = "".join(re.findall(r'"(.*?)"', parts[1])).replace("\\\\", "\\")
    by_point = re.sub(
        r"\\u\{(\w+)\}|\\u(\w{4})", lambda m: rf"\U{int(m[1] or m[2], 16):08x}", escaped
    )
    of_page = re.compile(by_point)
    for point in range(sys.maxunicode + 1):
        # Line ends and tabs may stand in texts, but not in names.
        expected = chr(point) in "\t\n" or is_plain(chr(point))
        assert (of_page.search(chr(point)) is None) == expected, hex(point)


@pytest.mark.parametrize("point", FIRST_AND_LAST, ids=hex)
def test_the_core_has_the_list_of_python(point: int) -> None:
    text = f'title = "a server and nothing else"\nservers."a\\U{point:08x}b".delay_ms = 1'
    with pytest.raises(sojourn.ScenarioError) as refused:
        sojourn.load(text)
    is_found = f"invisible character U+{point:04X}" in str(refused.value)
    assert is_found == (not is_plain(f"a{chr(point)}b"))
