"""What might have been taken for White & Rice 2013 instead."""

from ..cablelabs.scenarios import SCRIPT_TCP
from ..framework.cases import Alternative
from ..framework.changes import all_of, of_keys, of_kind, of_traffic

_ALONE = ("sec-4.4",)
_WINDOW_400 = of_keys("tcp", max_window_segments=400)

ALTERNATIVES = (
    Alternative(
        "window-400",
        "windows up to 400 segments, as CoDel's test script has them",
        _WINDOW_400,
        _ALONE,
    ),
    Alternative(
        "scripts",
        "that window, an initial one of 4 segments and timestamps: TCP of the authors' script",
        all_of(_WINDOW_400, of_traffic(of_kind("transfer"), SCRIPT_TCP)),
        _ALONE,
    ),
    Alternative(
        "cubic",
        "the upload alone has CUBIC",
        of_traffic(of_kind("transfer"), {"congestion_control": {"kind": "cubic"}}),
        _ALONE,
    ),
    Alternative(
        "1024-bins",
        "1024 sub-flows, so that no call or page shares one with an upload",
        of_keys("upstream.queue.scheduler", bins=1024),
        ("sec-exec", "sec-4.1.2"),
        schemes=("SFQ-CoDel",),
    ),
    Alternative(
        "any-size",
        "PIE drops packets whatever their size",
        of_keys("upstream.queue.law", by_size=False),
        ("sec-4.1.2", "sec-4.1.3"),
        schemes=("PIE",),
    ),
)
