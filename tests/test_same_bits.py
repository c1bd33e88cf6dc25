"""The same bits in the release build, which Python runs, as in the debug build that Rust tests."""

import sojourn
from conftest import HOME, ROOT
from fingerprints import recorded


def test_fingerprints_are_those_of_the_debug_build() -> None:
    expected = recorded(ROOT)
    up = [f'traffic.{name}.direction="up"' for name in ("game", "call")]
    runs = sojourn.run(HOME, duration_s=10, set=up)
    got = {name: (run.meta["fingerprint"], run.meta["events"]) for name, run in runs.items()}
    got.pop("idle line")
    assert len(got) == 5
    assert got == {name: expected[name] for name in got}
