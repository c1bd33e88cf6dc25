"""Low Latency DOCSIS: what each step buys a game, and what it costs."""

from ..framework.study import Terms, assemble

STUDY = assemble(
    __name__,
    "Low Latency DOCSIS: what to switch on",
    Terms(
        question="What does each step of Low Latency DOCSIS buy a game, and what does it cost?",
        source="study",
        open_points="What is assumed",
        legend=(
            "For operators. Nobody has published these cases, so nothing is compared: they are our "
            "own matrix of two services (50 and 200 Mbps up), two MAP intervals, three modems and "
            "six loads. Two games run in each case, one with DSCP 0 and one with DSCP 45 (NQB). "
            "Latency is one way, from the player to a server 5 ms from the cable network. `pie` is "
            "a single service flow with DOCSIS-PIE; `lld` adds a low-latency service flow in an "
            "aggregate; `lld-pgs` adds proactive grants of 5 Mbps to it; `lld-open` is `lld` with "
            "Queue Protection off. The load `abuse` is UDP of 1.2 times the service's rate that is "
            "marked ECT(1) and does not slow down."
        ),
    ),
)
