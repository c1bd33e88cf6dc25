"""The codes of problems and warnings."""

import re
from pathlib import Path

import sojourn
from sojourn._sojourn import all_codes


def test_codes_that_python_names_exist() -> None:
    codes = dict(all_codes())
    sources = Path(sojourn.__file__).parent.rglob("*.py")
    named = {code for path in sources for code in _NAMED.findall(path.read_text())}
    assert len(codes) == len(all_codes()) and "unknown-key" in named
    assert named <= codes.keys()


_NAMED = re.compile(r'\bcode(?:: str)? ?=?= ?"([a-z-]+)"')
