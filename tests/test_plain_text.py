"""Core, Python and the live page know the same invisible characters."""

import re
import sys
from itertools import chain, pairwise
from pathlib import Path

import pytest
import sojourn
from sojourn.base.plain_text import is_plain, plain, plain_name

PAGE = Path(sojourn.__file__).parent / "lab/static/plain.js"
IS_PLAIN = [is_plain(chr(point)) for point in range(sys.maxunicode + 1)]
EDGES = sorted(
    {
        point
        for pair in pairwise(range(1, sys.maxunicode + 1))
        if IS_PLAIN[pair[0]] != IS_PLAIN[pair[1]]
        for point in pair
        if not 0xD800 <= point <= 0xDFFF  # no text has them
    }
)
"""The first and last of each range, and their neighbours."""

IGNORABLE = (
    *(0xAD, 0x34F, 0x61C, 0x3164, 0xFEFF, 0xFFA0),
    *chain.from_iterable(
        range(first, last + 1)
        for first, last in (
            *((0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F)),
            *((0x202A, 0x202E), (0x2060, 0x206F), (0xFE00, 0xFE0F), (0xFFF0, 0xFFF8)),
            *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
        )
    ),
)
"""Those with Unicode's property `Default_Ignorable_Code_Point`."""
BRAILLE_BLANK = 0x2800


@pytest.mark.parametrize("around", ["{}", "pie{}", "\u2764{}"])
def test_what_fonts_leave_out_is_shown_as_escapes(around: str) -> None:
    for point in (*IGNORABLE, BRAILLE_BLANK):
        text = around.format(chr(point))
        assert not is_plain(text) and plain(text) == plain_name(text) != text, hex(point)
        assert is_plain(plain(text))


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


@pytest.mark.parametrize("point", EDGES, ids=hex)
def test_the_core_has_the_list_of_python(point: int) -> None:
    text = f'title = "a server and nothing else"\nservers."a\\U{point:08x}b".delay_ms = 1'
    with pytest.raises(sojourn.ScenarioError) as refused:
        sojourn.load(text)
    is_found = f"invisible character U+{point:04X}" in str(refused.value)
    assert is_found == (not is_plain(f"a{chr(point)}b"))
