"""L4S: Prague and classic flows under DualPI2 and other queue managers, against two testbeds."""

from ..framework.study import Terms, assemble

STUDY = assemble(
    __name__,
    "L4S: Prague beside classic traffic",
    Terms(
        question="Do DualPI2 and Prague share a link as on the testbeds?",
        source="publication",
        values="published",
        open_points="What the publications leave open",
        legend=(
            "Two testbeds of Linux hosts: tables `mixed` and `overload` are those of De Schepper, "
            "Albisser and Briscoe (Dual Queue Coupled AQM, arXiv 2209.01078, and its raw data), "
            "`pairs`, `one_queue` and `bursty` those of Heist's l4s-tests (2020; `bursty` 2021). "
            "`5-100` is an L4S flow with a round trip of 5 ms beside a classic one with 100 ms; "
            "`prague20-cubic80` names both controls; `udp-low-140` adds UDP of 140 Mbps in the "
            "low-latency queue, `call-low` a video call there. Flows "
            "`low` and `classic` are the two queues; under PIE and FQ-CoDel the L4S flow is CUBIC "
            "with ECN."
        ),
    ),
)
