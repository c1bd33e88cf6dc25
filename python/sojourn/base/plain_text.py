"""Text without control characters, for terminals and figures.

Names may come from files that somebody else made. A terminal would obey their control characters.
"""

import re

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """The text with control characters as escapes, such as `\\x1b`; line ends and tabs stay."""
    return _CONTROLS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
