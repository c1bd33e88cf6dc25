"""What every column and metric means, for the report."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Definition:
    """What a name means. The unit is that of the values, empty where there is none."""

    name: str
    unit: str
    text: str
    source: str = ""


_WHITE_2012 = "White & Padden 2012, section 3.2.2"
_HONG_2015 = "Hong 2015, section 3.2.2.1"
_HISTOGRAM = "Quantiles are exact to 0.1 % or 1 µs."

DEFINITIONS = (
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
    Definition("loss_percent", "%", "Share of packets dropped among those delivered or dropped."),
    Definition("throughput_mbps", "Mbps", "Bytes on the wire delivered, over the whole run."),
    Definition(
        "goodput_mbps", "Mbps", "Payload delivered to the application in order, over the whole run."
    ),
    Definition(
        "latency_*_ms",
        "ms",
        f"One-way latency from sending to delivery: mean, extremes and quantiles. {_HISTOGRAM}",
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
        "Voice: transmission quality R of the E-model for G.711, 0 to 94.2, with 20 ms added for "
        "the rest of the way; late packets count as lost.",
        f"Cole & Rosenbluth 2001; {_WHITE_2012}",
    ),
    Definition(
        "mos", "", "Voice: mean opinion score from R, 1 (bad) to 4.5 (excellent).", "ITU-T G.107"
    ),
    Definition("page_loads", "pages", "Web: pages loaded to the end within the run."),
    Definition(
        "page_load_*_s",
        "s",
        "Web: time from the first request of a page to its last object: median, median absolute "
        "deviation (mad) and 90 % quantile.",
    ),
    Definition("responses", "objects", "Web sessions: objects that came within the run."),
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
        "transfers_completed",
        "transfers",
        "Transfers of known size, and pieces of BitTorrent, that came to their end.",
    ),
    Definition("departed_packets", "packets", "Packets that left a queue without being dropped."),
    Definition(
        "sojourn_*_ms",
        "ms",
        f"Time that those packets spent in the queue. {_HISTOGRAM}",
    ),
    Definition(
        "throughput", "Mbps", "Series: bytes on the wire delivered in the sampling interval."
    ),
    Definition(
        "queue_delay", "ms", "Series: mean sojourn time of the packets that left in the interval."
    ),
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
        "fingerprint",
        "",
        "Hash over the time and place of every event: equal for equal runs, bit for bit.",
    ),
)
