"""Text without invisible characters: controls, marks of direction, and those without width.

Names may come from files that somebody else made. A terminal would obey a control character, and a
name with a mark of direction passes for another. Scenarios and stored results with such names are
refused; names of files, and whatever messages quote, are shown with escapes. The core and the live
page know the same characters.
"""

import re
import shlex

_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    r"\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff"
    r"\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_IN_TEXT = re.compile(f"[{_HIDDEN}]")
_IN_NAME = re.compile(rf"[\t\n{_HIDDEN}]")


def plain(text: str) -> str:
    """The text with invisible characters as escapes, such as `\\x1b`; line ends and tabs stay."""
    return _IN_TEXT.sub(_escaped, text)


def plain_name(name: str) -> str:
    """The name with invisible characters as escapes; it has one line."""
    return _IN_NAME.sub(_escaped, name)


def is_plain(name: str) -> bool:
    """Has the name no invisible character?"""
    return not _IN_NAME.search(name)


def sojourn_command(*words: object) -> str:
    """The command as a shell reads it, whatever the names of files in it."""
    return shlex.join(["sojourn", *map(str, words)])


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
