"""What every column and metric means, for the report."""

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache


@dataclass(frozen=True)
class Definition:
    """What a name means. The unit is that of the values, empty where there is none."""

    name: str
    unit: str
    text: str
    source: str = ""


_WHITE_2012 = "White & Padden 2012, section 3.2.2"
_WHITE_2013 = "White & Rice 2013, section 4.1.3"
_HONG_2015 = "Hong 2015, section 3.2.2.1"
_MIB = "DOCS-QOS3-MIB, docsQosServiceFlowStatsTable"
_HISTOGRAM = "Quantiles are exact to 0.1 % or 1 µs."

DEFINITIONS = (
    Definition("run", "", "Name of a run in a store: a hash of scenario, seed and version."),
    Definition("traffic", "", "Entry of the scenario's traffic list."),
    Definition(
        "quality",
        "",
        "How an entry is judged: game by latency and loss, voice by its score, pages by load time, "
        "responses by response time, video by what was seen, throughput by rate.",
    ),
    Definition("direction", "", "up: from the home to a server; down: to the home."),
    Definition("sent_packets", "packets", "Packets that the sender sent, acknowledgements too."),
    Definition("sent_bytes", "B", "Their bytes on the wire, headers and framing included."),
    Definition("delivered_packets", "packets", "Packets that came to their receiver."),
    Definition("delivered_bytes", "B", "Their bytes on the wire."),
    Definition(
        "dropped_overflow_packets", "packets", "Packets dropped because a queue was at its limit."
    ),
    Definition(
        "dropped_aqm_packets",
        "packets",
        "Packets that a queue manager dropped early, to signal congestion.",
    ),
    Definition(
        "dropped_link_packets", "packets", "Packets lost at random on the link of their server."
    ),
    Definition(
        "dropped_contention_packets",
        "packets",
        "Packets that a modem discarded after 16 requests in vain.",
        "DOCSIS 3.1 MULPI, section 7.2.1",
    ),
    Definition(
        "superseded_packets",
        "packets",
        "Acknowledgements dropped because a newer one took their place in the modem: no loss.",
        "RFC 3449, section 5.2.1",
    ),
    Definition(
        "marked_packets",
        "packets",
        "Packets that a queue manager marked rather than dropping them.",
        "RFC 3168, section 5",
    ),
    Definition(
        "loss_percent",
        "%",
        "Share of packets lost among those delivered or lost.",
        "White & Rice 2013, section 4.1.2",
    ),
    Definition(
        "throughput_mbps",
        "Mbps",
        "Bytes on the wire delivered, over the whole run.",
        "Hong 2015, section 4.1",
    ),
    Definition(
        "goodput_mbps",
        "Mbps",
        "Payload delivered to the application in order, over the whole run.",
        "RFC 2647, section 3.17",
    ),
    Definition(
        "latency_*_ms",
        "ms",
        f"One-way latency from sending to delivery: mean, extremes and quantiles. {_HISTOGRAM}",
        "White & Rice 2013, section 4.1.1",
    ),
    Definition(
        "over_20_ms_access_percent",
        "%",
        "Game: share of delivered packets with more than 20 ms in the access network, which is the "
        "one-way latency without cable and server link. Lost packets are in loss_percent alone.",
        _WHITE_2013,
    ),
    Definition(
        "over_80_ms_round_trip_percent",
        "%",
        "Game: share of delivered packets that leave a round trip of more than 80 ms. The way back "
        "counts with the mean latency of what the entry sends that way, or with cable and link "
        "alone if that is nothing.",
        f"Choy et al. in {_WHITE_2013}",
    ),
    Definition(
        "late_percent",
        "%",
        "Voice: share of packets more than 60 ms later than the fastest, too late to be played.",
        _WHITE_2012,
    ),
    Definition(
        "r_value",
        "",
        "Voice: transmission quality R of the E-model for G.711, 0 to 94.2, from the mean latency "
        "of packets on time and 20 ms for the rest of the way; late packets count as lost.",
        f"Cole & Rosenbluth 2001; {_WHITE_2012}",
    ),
    Definition(
        "mos", "", "Voice: mean opinion score from R, 1 (bad) to 4.5 (excellent).", "ITU-T G.107"
    ),
    Definition(
        "network_r_value",
        "",
        "Voice: R from mean latency and loss of the network, nothing added, no packet late.",
        "Cole & Rosenbluth 2001; Hong 2015, section 3.2.2.2",
    ),
    Definition("network_mos", "", "Voice: mean opinion score from network_r_value.", "ITU-T G.107"),
    Definition("mos_mean", "", "Mean of the mean opinion scores of all entries.", "ITU-T G.107"),
    Definition("mos_min", "", "The worst of them.", "ITU-T G.107"),
    Definition(
        "page_loads",
        "pages",
        "Web: pages loaded to the end within the run.",
        "White & Padden 2012, section 3.2.3",
    ),
    Definition(
        "page_load_*_s",
        "s",
        "Web: time from the opening of a page's first connection to its last object: median, "
        "median absolute deviation (mad) and 90 % quantile.",
        "White & Padden 2012, section 3.2.3",
    ),
    Definition(
        "responses",
        "objects",
        "Web sessions: objects that came within the run.",
        "Hong 2015, section 3.2.2.3",
    ),
    Definition(
        "response_*_s",
        "s",
        "Web sessions: time from the opening of an object's connection to its last byte: mean, "
        "standard deviation (stddev), median and 90 % quantile.",
        "Hong 2015, section 3.2.2.3",
    ),
    Definition(
        "video_rate_mbps",
        "Mbps",
        "Video: mean rate of what was played, from the encoded rates of its segments.",
        f"{_HONG_2015}, videoPlaybackRate",
    ),
    Definition(
        "video_adaptations_per_hour",
        "1/h",
        "Video: changes of the level per viewer, over the time since the first request.",
        f"{_HONG_2015}, adaptationRate",
    ),
    Definition(
        "video_stalled_percent",
        "%",
        "Video: share of the time since playing began in which it stood still.",
        f"{_HONG_2015}, rebufferTime",
    ),
    Definition(
        "upload_share_percent",
        "%",
        "Throughput upstream of a home with an upload without end, over what its sustained rate "
        "and burst allow within the run.",
        "DOCSIS 3.1 MULPI, sections C.2.2.7.2 and C.2.2.7.3",
    ),
    Definition(
        "transfers_completed",
        "transfers",
        "Transfers of known size, and pieces of BitTorrent, that came to their end.",
    ),
    Definition(
        "time_to_*_rate_s",
        "s",
        "Throughput: time from the first packet to the end of the first sampling interval (100 ms "
        "by default) with 90 % of the service's sustained or peak rate or more. The 90 % are ours.",
        "White & Rice 2013, section 4.4",
    ),
    Definition(
        "connections",
        "connections",
        "TCP connections that an entry opened, in the rows of both directions.",
    ),
    Definition(
        "rtt_echo_mean_ms",
        "ms",
        "TCP: mean over acknowledgements of new data of the time since the segment was sent that "
        "they echo: the first of those acknowledged, in ns-2 the latest, so that a receiver's wait "
        "is not in it. Each window weighs by its packets.",
        "RFC 7323, section 4.3; Hong 2015, table 5.4: what packets experience",
    ),
    Definition(
        "rtt_*_ms",
        "ms",
        "TCP: round-trip times that the senders of a direction measured with their data, delayed "
        f"acknowledgements included: mean and quantiles. {_HISTOGRAM}",
        "RFC 7323, section 4; RFC 6298, section 3",
    ),
    Definition(
        "retransmitted_packets",
        "packets",
        "TCP: segments that the senders of a direction sent again, those of handshakes too.",
        "RFC 4898, tcpEStatsPerfSegsRetrans",
    ),
    Definition(
        "timeouts",
        "timeouts",
        "TCP: times that a retransmission timer expired.",
        "RFC 4898, tcpEStatsPerfTimeouts",
    ),
    Definition("entries", "entries", "Traffic entries of a quality that sent packets this way."),
    Definition(
        "connection",
        "",
        "Number of a TCP connection among those of its entry, in the order of opening. The first "
        "of each entry have accounts, as many as metrics.connections says.",
    ),
    Definition("start_s", "s", "When a connection was opened or a page was asked for."),
    Definition("end_s", "s", "When both sides of a connection were closed; none if it was open."),
    Definition("payload_bytes", "B", "Payload delivered to the application in order."),
    Definition("dropped_packets", "packets", "Packets of a connection dropped, for any reason."),
    Definition(
        "load_time_s",
        "s",
        "Time from the opening of a page's first connection to its last object.",
        "White & Padden 2012, section 3.2.3",
    ),
    Definition(
        "no_slower_percent",
        "%",
        "Share of the pages of an entry that took no longer: the distribution of load times.",
        "White & Rice 2013, section 4.2",
    ),
    Definition(
        "jfi",
        "",
        "Jain's fairness index of x, throughput over fair share: (sum x)² / (n sum x²).",
        "Hong 2015, equation 3.1",
    ),
    Definition("mmr", "", "Min-max ratio: least x over greatest.", "Hong 2015, equation 3.2"),
    Definition(
        "bias_percent",
        "%",
        "How far throughput is above or below its share of a max-min fair division.",
        "Hong 2015, section 4.2.2",
    ),
    Definition(
        "home", "", "The home that opened a connection: its number within its group, from 1."
    ),
    Definition("homes", "", "Group of homes; the counters are those of all of them together."),
    Definition(
        "service_flow", "", "Service flow; primary: what no classifier sends through another."
    ),
    Definition("passed_packets", "packets", "Packets that a service flow sent on.", _MIB),
    Definition("passed_bytes", "B", "Their bytes on the wire.", _MIB),
    Definition(
        "policed_drop_packets",
        "packets",
        "Packets dropped because the buffer of their service flow was full.",
        _MIB,
    ),
    Definition(
        "policed_delay_packets",
        "packets",
        "Packets sent on that the sustained rate held back: while they waited, its tokens and "
        "nothing else kept bytes of the flow from being sent.",
        _MIB,
    ),
    Definition(
        "aqm_dropped_packets",
        "packets",
        "Packets that the queue manager of their service flow dropped early.",
        "White 2014, section 9",
    ),
    Definition("mac_requests", "requests", "Requests for bandwidth that modems made."),
    Definition(
        "mac_collisions",
        "requests",
        "Those of them that were not heard, as another modem made one in the same opportunity.",
        "DOCSIS 3.1 MULPI, section 7.2.1",
    ),
    Definition(
        "contention_dropped_packets",
        "packets",
        "Packets discarded after 16 requests in vain.",
        "DOCSIS 3.1 MULPI, section 7.2.1",
    ),
    Definition("mac_grants", "grants", "Grants that gave something."),
    Definition("mac_granted_bytes", "B", "Bytes granted."),
    Definition("mac_unused_bytes", "B", "Bytes granted and not used."),
    Definition("channel", "", "The channel that modems share: upstream."),
    Definition("granted_minislots", "minislots", "Minislots that MAPs granted."),
    Definition("utilisation_percent", "%", "Their share of all minislots."),
    Definition(
        "request_opportunities",
        "opportunities",
        "Opportunities to ask for bandwidth in contention, those of MAPs without effect included.",
    ),
    Definition("contention_requests", "requests", "Requests made in these opportunities."),
    Definition("collisions", "requests", "Those of them that were not heard, as they collided."),
    Definition("departed_packets", "packets", "Packets that left a queue without being dropped."),
    Definition(
        "sojourn_*_ms",
        "ms",
        f"Time that those packets spent in the queue. {_HISTOGRAM}",
        "RFC 8289, section 3",
    ),
    Definition(
        "throughput", "Mbps", "Series: bytes on the wire delivered in the sampling interval."
    ),
    Definition(
        "rtt",
        "ms",
        "Series: mean of the round-trip times that TCP measured in the interval.",
        "RFC 7323, section 4; RFC 6298, section 3",
    ),
    Definition(
        "queue_delay",
        "ms",
        "Series: mean sojourn time of the packets that left in the interval.",
        "RFC 8289, section 3",
    ),
    Definition("utilisation", "%", "Series: share of the channel's minislots that were granted."),
    Definition("request_collisions", "requests", "Series: requests that collided in the interval."),
    Definition("queue_bytes", "B", "Series: bytes in the queue at the end of the interval."),
    Definition(
        "queue_packets", "packets", "Series: packets in the queue at the end of the interval."
    ),
    Definition(
        "drop_probability", "", "Series, PIE and its kin: probability of dropping an arrival."
    ),
    Definition(
        "rate_estimate",
        "Mbps",
        "Series, early PIE: estimate of the rate of departures. DOCSIS-PIE that tracks the rate: "
        "estimate of the channel's, from grants.",
    ),
    Definition(
        "channel_rate",
        "Mbps",
        "Series: what the upstream channel can give, at the end of the interval.",
    ),
    Definition("codel_count", "drops", "Series, CoDel: drops since the dropping state began."),
    Definition(
        "average_queue", "B or packets", "Series, RED: moving average of the queue's length."
    ),
    Definition("max_p", "", "Series, RED: drop probability where the average is at its limit."),
    Definition("busy_bins", "bins", "Series, SFQ: bins in which packets wait."),
    Definition(
        "part",
        "",
        "What delay was spent on: queue (behind others), request_wait (for a chance to ask for "
        "bandwidth), grant_wait (for the grant), shaping (for tokens), transmission, path (from "
        "the modem to the server); total is their sum.",
    ),
    Definition("mean_ms", "ms", "Mean of a part of delay. The means add up to that of the total."),
    Definition("p50_ms", "ms", f"Median of a part of delay. {_HISTOGRAM}"),
    Definition("p90_ms", "ms", "90 % quantile of a part of delay."),
    Definition("p99_ms", "ms", "99 % quantile of a part of delay."),
    Definition("max_ms", "ms", "Greatest value of a part of delay."),
    Definition(
        "fingerprint",
        "",
        "Hash over the time and place of every event: equal for equal runs, bit for bit.",
    ),
)

LONG_TABLES = (
    Definition("queue", "", "Name of a queue: upstream, downstream, cmts, with its home or flow."),
    Definition("latency_ms", "ms", "One-way latency: the middle of a cell of the distribution."),
    Definition("packets", "packets", "Packets in that cell."),
    Definition("subject", "", "What a series is of: a queue, a traffic entry and direction."),
    Definition("metric", "", "What of it is sampled, in the unit of the column unit."),
    Definition("unit", "", "Unit of a series."),
    Definition("value", "", "Mean or state over the interval that ends at time_s."),
    Definition("time_s", "s", "End of the interval, or time of the event."),
    Definition("packet", "", "Number of the packet among those sent in the run."),
    Definition("server", "", "The server that it comes from or goes to."),
    Definition("server_port", "", "Port of the server."),
    Definition("flow", "", "Slot of its connection; none for datagrams."),
    Definition("seq", "", "Sequence number (RFC 9293), or the count of datagrams."),
    Definition("ack", "", "The next sequence number that its sender expects."),
    Definition("flags", "", "Flags that are set: syn, ack, fin, ece, cwr."),
    Definition("size_bytes", "B", "Bytes on the wire."),
    Definition("echo_s", "s", "Timestamp that it echoes (RFC 7323), as simulated time."),
    Definition("sack", "", "Runs of bytes held beyond ack (RFC 2018)."),
    Definition("ecn", "", "The ECN field (RFC 3168)."),
    Definition("sent_s", "s", "When its sender sent it."),
    Definition("reached_cmts_s", "s", "When it came to the CMTS; downstream."),
    Definition("passed_s", "s", "When its last byte left its service flow."),
    Definition("ended_s", "s", "When it was delivered or dropped."),
    Definition("marked", "", "A queue has marked it."),
    Definition("fate", "", "delivered, or why it was dropped."),
)
"""Columns of tables that the report does not show."""


@cache
def meaning(name: str) -> Definition | None:
    """What a column means, if that is written down."""
    return next((d for d in (*DEFINITIONS, *LONG_TABLES) if fnmatchcase(name, d.name)), None)


def dictionary() -> str:
    """The page `docs/columns.md`; a test holds it equal to this."""
    rows = [
        f"| `{d.name}` | {d.unit} | {d.text} | {d.source} |" for d in (*DEFINITIONS, *LONG_TABLES)
    ]
    head = [
        "# Columns and metrics",
        "",
        "What tables of results have, and what is sampled over time. `*` stands for any word. Each",
        "column of a Parquet file has the same text and unit in its metadata.",
        "",
        "| name | unit | meaning | source |",
        "| --- | --- | --- | --- |",
    ]
    return "\n".join([*head, *rows]) + "\n"
