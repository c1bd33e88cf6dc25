"""What White & Rice 2013 leaves open, what is taken, and why cells do not agree."""

from ..framework.claims import Choice, Remark

CHOICES = (
    Choice(
        "Figures 1 to 11 and 18 to 21",
        "not drawn",
        "By the text around them they are what others measured, and how schemes, channel and "
        "topology are made; no result of the runs is known to be in them.",
    ),
    Choice(
        "The 17 scenarios",
        "Light: 1 idle; 2, 3 one endless upload; 4, 5 one bursty; 6, 7 one endless, 4 web, 4 "
        "voice. Moderate: 8, 9 five repeated uploads; 10, 11 the same with datagrams. Heavy: 12, "
        "13 five repeated, 4 web, 4 voice; 14, 15 ten of them; 16, 17 BitTorrent, 1 web, 4 "
        "voice. Of each pair the first at 20, the second at 100 ms",
        "The table is lost. 1, 2, 8, 10, 14, 16 are in the slides; pairs of round trips are in "
        "White and Padden 2012, and White 2014 says that its predecessor had them; 4, 5 are its "
        "bursty cases. Seven light scenarios are one without an upload and three pairs; that the "
        "third has 4 web clients follows from §4.2, its 4 voice from White 2014, where 4 web "
        "clients go with 4 voice. 12 to 15 follow from the rule for heavy traffic and from 60 to "
        "110 sessions. That BitTorrent comes at two round trips, and ten uploads do, is a guess.",
    ),
    Choice(
        "Order of the channel's levels",
        "2, 1, 2, 3, 1, 3, 2, 4, 1, 4, 3, 4 for 10 s each",
        "That of CableLabs' ns-2 script; twelve changes in 120 s (§3.3).",
    ),
    Choice(
        "What latency is",
        "one way from the home to a peer at the CMTS, the cable's 1 ms included",
        "A floor of 5 to 6 ms for a request and grant of 4 ms or more, and of 1 to 2 ms for a "
        "packet that leaves in another flow's grant (§4.1.1), have 1 ms in them.",
    ),
    Choice(
        "Weights within a cell of the grids",
        "every packet, page or call the same",
        "§4.2: the legends tell how many page loads are in a curve.",
    ),
    Choice(
        "Ratios of the summary and conclusion",
        "90 % quantiles over all nine cells evenly",
        "Not said. White 2014, whose method this is, gives that quantile of such plots. Of "
        "medians SFQ-CoDel has 232 and 9.7 times less, Buffer Control 20 and 8.2.",
    ),
    Choice(
        "PIE's rate estimate",
        "over 1500 bytes",
        "Not said. The 10 000 bytes of PIE's scripts are never in a queue that is held at 5 ms "
        "of 5 Mbps (3.1 kB) or less: the rate would be that of the last burst.",
    ),
    Choice("PIE's burst allowance", "100 ms", "PIE's ns-2 scripts."),
    Choice(
        "PIE's drops",
        "in proportion to a packet's size",
        "PIE's ns-2 scripts; §3.2 has the queue's depth in bytes.",
    ),
    Choice("CoDel", "the ns-2 code of 2012-13", "The study's simulator and time."),
    Choice("Target of LEDBAT", "100 ms", "§4.1.1: it backs off at delays of that order; RFC 6817."),
    Choice(
        "The upload alone",
        "Reno in ns-2's agent TCP/Linux, at 100 ms",
        "Slow growth to 20 Mbps in 15 s needs a long round trip: with a segment more every 20 ms "
        "it takes a second. A slide has the same with CUBIC, which only that agent has.",
    ),
    Choice(
        "Hashes of flows",
        "drawn anew for each scenario, the same for all schemes and levels of congestion",
        "ns-2 hashes addresses and ports, which are other ones in each scenario.",
    ),
    Choice(
        "The least latency",
        "what all but 1 % exceed",
        "A distribution's plot shows no less.",
    ),
    Choice("Start of several web clients", "within 5 s", "The pause between two pages."),
    Choice("Files, connections, web, windows, timestamps", "as in White and Padden 2012", "§3.6."),
)

_WINDOW = (
    "Slow start overshoots here, to more than pipe and buffer hold, with 672 segments as without "
    "a limit. With windows of 400 segments, as CoDel's test script has them at its default rate "
    "of 3 Mbps, CoDel and SFQ-CoDel dip to 11.4 Mbps and climb back, as printed, and 5 of these 7 "
    "cells agree; with an initial window of 4 and timestamps too, as in the authors' script for "
    "CoDel-DT (scripts), 5 do, but PIE falls to 11.0 Mbps alone (print 1; as taken 4.6). Figure 3 "
    "of White and Padden 2012 needs larger windows. With CUBIC, which a slide has, PIE falls to "
    "0.6 Mbps (print 1), CoDel to 15.2. With the recovery of Sack1 CoDel falls to 0.4 Mbps."
)
_HASH = (
    "Which calls share a bin with bulk traffic is drawn by lot: over five draws without "
    "congestion (with Sack1's recovery) ten uploads cost 0 to 17 % of the calls' packets, "
    "BitTorrent 8 to 26 %. Light traffic has 0.09 % from one scenario in which an upload shares a "
    "call's bin."
)

_SHARED_BINS = (
    "With 1024 sub-flows (1024-bins) half the pages take 1.6 s under heavy traffic without "
    "congestion (with 32 torrents 3.5), and 99 % of the packets are within 8 ms (runs of half an "
    "hour)."
)

REMARKS = (
    Remark("sec-4.4", _WINDOW, metric="throughput"),
    Remark("sec-4.1.2", _HASH),
    Remark(
        "sec-4.1.1",
        "Calls lose 18, 14, 10, 8 and 5 % of packets on average over the heavy scenarios with 8, "
        "16, 32, 64 and 128 bins, as ever fewer share a bin, and under congestion it is the same. "
        "Print's reason for 32, that more than 57 active sub-flows starve a call, does not come "
        "into play here: BitTorrent has 36. What does grow with the bins is the longest latency: "
        "beside BitTorrent under moderate congestion 99 % quantiles of 77, 126, 140, 175 and 201 "
        "ms (runs of half an hour).",
        metric="best",
    ),
    Remark(
        "sec-4.1.3",
        "PIE's drops are in proportion to a packet's size, so calls lose a seventh to a third of "
        "what uploads do. If they are not (any-size), BitTorrent costs calls 30 % without and 34 "
        "% under moderate congestion, as printed, but uploads up to 11 and 15 %, where print has "
        "low loss. CoDel's greatest loss is beside BitTorrent: 32 windows of one or two segments "
        "are more than the link holds.",
    ),
    Remark(
        "sec-1.1",
        "The formula of White and Padden 2012 has 0.010 here; print's own 0.005 does not follow "
        "from it.",
        metric="mos",
    ),
    Remark("sec-1.1", "A rule for pages at large; the study's page has this.", metric="plt"),
    Remark(
        "sec-exec",
        "Which quantile print's ratios are of is not said. Of medians SFQ-CoDel loads pages 9.7 "
        "times as fast as BufferBloat, as printed, and has 232 times less latency; at 90 % pages "
        "of heavy traffic share bins with uploads.",
    ),
    Remark(
        "sec-4.1.1",
        "5.1 ms where nothing is uploaded. Beside uploads a packet may leave in a grant that was "
        "asked for by others, as print says of SFQ-CoDel; under BufferBloat hardly one finds the "
        "queue empty: 3 in 1000 take less than 6 ms, 10 less than 6.5.",
        metric="latency_min",
    ),
    Remark(
        "sec-4.1.1",
        "106 ms at the long round trip and 170 at the short one: of the order of 100 ms, as "
        "printed.",
        metric="ledbat",
    ),
)

CLAIMS = {
    3: "Beside BitTorrent alone the median is 136 ms of 1000, as printed; over the heavy traffic "
    "as a whole uploads of files, in most of its scenarios, keep the buffer full.",
    4: "What all but 1 % exceed; print has the foot of its plots: under BufferBloat 3 packets in "
    "1000 take less than 6 ms.",
    6: "It does cross: at 95 % SFQ-CoDel has 43 ms, CoDel 39 and PIE 30, at 98 % 69, 64 and 49. At "
    "99 % CoDel has more, from falls of the channel's rate. " + _SHARED_BINS,
    7: "More sub-flows lose less here, as fewer calls share one; the remark tells.",
    9: _HASH,
    10: "PIE spares small packets; if it does not (any-size), it loses over 20 % as well.",
    12: _HASH,
    13: "SFQ-CoDel is fastest under light traffic (1.6 s, PIE 1.8), and behind CoDel and PIE under "
    "the others (3.4 and 3.8 s), where a page's connections share sub-flows with uploads. "
    + _SHARED_BINS,
    15: _HASH,
    17: _WINDOW,
    18: _WINDOW,
    20: "Of 90 % quantiles; of medians SFQ-CoDel's pages are 9.7 times as fast, as printed.",
}
"""Why claims do not hold."""
