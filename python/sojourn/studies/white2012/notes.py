"""What White & Padden 2012 leaves open, what is taken, and why cells do not agree."""

from ..study import Choice, Remark

CHOICES = (
    Choice(
        "The transmit queue of 32 packets",
        "48 000 bytes, 32 packets of 1500",
        "§3.1.2 says 32 packets. Counted so, acknowledgements, which come at 4 a ms and wait 4 "
        "to 6 ms, overflow it together with SYNs, and pages under CoDel lose SYNs: medians of "
        "4.3 s in C02 and C04 (64 places: 3.05 and 3.16), where print has 2.996 with a deviation "
        "of 18 ms and 3.352, in which no SYN can have been lost. ns-2's drop-tail has both "
        "modes.",
    ),
    Choice(
        "Order of a page's connections",
        "one to each server in turn",
        "Not said. Server by server, SYNs that 21 places do not hold are all of the far server: "
        "a page alone then takes 5.3 s (print 4.026).",
    ),
    Choice(
        "Packets of one instant",
        "all queue before the first is taken",
        "Print has 21 packets lose SYNs of an idle home's page, which is 24 of them at once.",
    ),
    Choice(
        "The moderately sized file", "2.5 MB", "The file that White 2014 table 1 row 8 repeats."
    ),
    Choice(
        "Connections of repeated files",
        "kept from file to file",
        '"A single FTP/TCP session" sends file after file; an ns-2 agent does that.',
    ),
    Choice(
        "Round trip in figures 2 to 7",
        "100 ms",
        "Slow start takes 0.7 s to 20 Mbps with it, as figure 2 has, and 0.1 s with 20 ms.",
    ),
    Choice("Round trips of web servers", "with the cable's 2 ms", "As §2.3 has the file server's."),
    Choice("Timestamps", "on web connections", "A SYN has 50 bytes in §4.3.2: 40 and ns-2's 10."),
    Choice("Queue at the CMTS", "the project's default", "Not said; never full here."),
    Choice("ftp_kbytes_ratio", "rounded to whole percents", "As print has it."),
)

_SYNS_AT_ONCE = (
    "The SYNs of a page come at once, find few of 21 places free, and those that are lost try "
    "again at once 3 s later. Not explained is why print has so much less of it."
)

REMARKS = (
    Remark("table-6", _SYNS_AT_ONCE, "D0", "plt"),
    Remark("table-8", _SYNS_AT_ONCE, "D0", "plt"),
    Remark("table-8", "Reno's timeouts after the burst; SACK has fewer.", "D09", "ftp"),
    Remark(
        "table-3", "Not explained: by design the upload pauses half of the time.", "D08", "late"
    ),
    Remark("fig-6", "The dip comes here as well, but sooner.", "C02"),
    Remark(
        "sec-1.2",
        "An expectation of the authors about pages at large, not a result; the study's own page "
        "has six fetches one after the other.",
    ),
)
