"""The fingerprints of runs that are recorded."""

import re
from pathlib import Path

_SNAPSHOT = "crates/sojourn/tests/snapshots/fingerprints.txt"


def recorded(root: Path) -> dict[str, tuple[str, int]]:
    """The fingerprint and the number of events of each run, by its name."""
    text = (root / _SNAPSHOT).read_text()
    entries = re.findall(r"^(\S.*)\n  fingerprint (\w+) events (\d+)", text, re.MULTILINE)
    return {name: (fingerprint, int(events)) for name, fingerprint, events in entries}
