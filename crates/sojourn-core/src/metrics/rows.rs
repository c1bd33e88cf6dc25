//! The rows of result tables. A field is a column, and this is its one definition: the Arrow tables,
//! their metadata, the report's definitions and docs/columns.md come from here.
//!
//! `Option` is for what does not apply to every row or may not have been measured.

use super::column::rows;

rows! {
    /// One row per traffic entry and direction: counts, loss, rates, latency, scores.
    "flows" of FlowRow, Plain {
        /// Entry of the scenario's traffic list.
        traffic: String;
        /// How an entry is judged: game by latency and loss, voice by its score, pages by load time,
        /// responses by response time, video by what was seen, video_call by its frames, throughput by
        /// rate.
        quality: &'static str;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Packets that the sender sent, acknowledgements too.
        sent_packets: u64, in "packets";
        /// Their bytes on the wire, headers and framing included.
        sent_bytes: u64, in "B";
        /// Packets that came to their receiver.
        delivered_packets: u64, in "packets";
        /// Their bytes on the wire.
        delivered_bytes: u64, in "B";
        /// Packets dropped because a queue was at its limit.
        dropped_overflow_packets: u64, in "packets";
        /// Packets that a queue manager dropped early, to signal congestion.
        dropped_aqm_packets: u64, in "packets";
        /// Packets lost at random on the link of their server.
        dropped_link_packets: u64, in "packets";
        /// Packets that a modem discarded after 16 requests that failed.
        dropped_contention_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Acknowledgements dropped because a newer one took their place in the modem: no loss.
        superseded_packets: u64, in "packets", from "RFC 3449, section 5.2.1";
        /// Packets that a queue manager marked rather than dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Packets that Queue Protection sent to the classic queue, because their flow built up the
        /// low-latency queue.
        sanctioned_packets: u64, in "packets", from "RFC 9957, section 4";
        /// Share of packets lost among those delivered or lost.
        loss_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.2";
        /// Bytes on the wire delivered, over the whole run.
        throughput_mbps: f64, in "Mbps", from "Hong 2015, section 4.1";
        /// Payload delivered to the application in order, over the whole run.
        goodput_mbps: f64, in "Mbps", from "RFC 2647, section 3.17";
        /// Mean one-way latency from sending to delivery.
        latency_mean_ms: Option<f64>, in "ms", from "White & Rice 2013, section 4.1.1";
        /// Least one-way latency.
        latency_min_ms: Option<f64>, in "ms";
        /// Median one-way latency. Quantiles are exact to 0.1 % or 1 µs.
        latency_p50_ms: Option<f64>, in "ms", from "White & Rice 2013, section 4.1.1";
        /// 90 % quantile of the one-way latency.
        latency_p90_ms: Option<f64>, in "ms";
        /// 99 % quantile of the one-way latency.
        latency_p99_ms: Option<f64>, in "ms";
        /// 99.9 % quantile of the one-way latency.
        latency_p999_ms: Option<f64>, in "ms";
        /// 99.99 % quantile of the one-way latency; no more than the greatest of fewer than 10 000
        /// packets.
        latency_p9999_ms: Option<f64>, in "ms";
        /// Greatest one-way latency.
        latency_max_ms: Option<f64>, in "ms";
        /// Game: share of delivered packets with more than 20 ms in the access network, which is the
        /// one-way latency without cable and server link. Lost packets are in loss_percent alone.
        over_20_ms_access_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.3";
        /// Game: share of round trips of more than 80 ms, among those that a two-way stream measured.
        /// Otherwise share of delivered packets that leave a round trip of more than 80 ms, where the
        /// way back counts with cable and link alone.
        over_80_ms_round_trip_percent: Option<f64>, in "%",
            from "Choy et al. in White & Rice 2013, section 4.1.3";
        /// Voice: share of packets that came after they should have been played; with `playout =
        /// "fixed"` more than 60 ms later than the fastest.
        late_percent: Option<f64>, in "%", from "WebRTC NetEQ; White & Padden 2012, section 3.2.2";
        /// Voice: share of the call that was concealed, since packets were dropped or late.
        concealed_percent: Option<f64>, in "%", from "WebRTC NetEQ";
        /// Voice: mean time from sending to playing, with an adaptive playout buffer.
        playout_delay_ms: Option<f64>, in "ms", from "WebRTC NetEQ";
        /// Voice: transmission quality R of the E-model for G.711, 0 to 94.2, from what was concealed,
        /// the mean time until a packet is played, and 20 ms for the rest of the way. With `playout =
        /// "fixed"` that time is the mean latency of packets on time.
        r_value: Option<f64>,
            from "Cole & Rosenbluth 2001; White & Padden 2012, section 3.2.2";
        /// Voice: mean opinion score from r_value, 1 (bad) to 4.5 (excellent).
        mos: Option<f64>, from "ITU-T G.107";
        /// Voice: R from mean latency and loss of the network, nothing added, no packet late.
        network_r_value: Option<f64>, from "Cole & Rosenbluth 2001; Hong 2015, section 3.2.2.2";
        /// Voice: mean opinion score from network_r_value.
        network_mos: Option<f64>, from "ITU-T G.107";
        /// Web: pages loaded to the end within the run.
        page_loads: Option<u64>, in "pages", from "White & Padden 2012, section 3.2.3";
        /// Web: median time from the opening of a page's first connection to its last object.
        page_load_median_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: median absolute deviation of that time.
        page_load_mad_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: 90 % quantile of that time.
        page_load_p90_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web sessions: objects that came within the run.
        responses: Option<u64>, in "objects", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: mean time from the opening of an object's connection to its last byte.
        response_mean_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: standard deviation of that time.
        response_stddev_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: median of that time.
        response_median_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: 90 % quantile of that time.
        response_p90_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Video: mean rate of what was played, from the encoded rates of its segments.
        video_rate_mbps: Option<f64>, in "Mbps",
            from "Hong 2015, section 3.2.2.1, videoPlaybackRate";
        /// Video: changes of the level per viewer, over the time since the first request.
        video_adaptations_per_hour: Option<f64>, in "1/h",
            from "Hong 2015, section 3.2.2.1, adaptationRate";
        /// Video: share of the time since playing began in which it stood still.
        video_stalled_percent: Option<f64>, in "%",
            from "Hong 2015, section 3.2.2.1, rebufferTime";
        /// Video call: median time from the sending of a frame's first packet to the arrival of its
        /// last one, of frames that came whole.
        frame_latency_p50_ms: Option<f64>, in "ms", from "RFC 8593, section 5: frames of several packets";
        /// Video call: 90 % quantile of that time.
        frame_latency_p90_ms: Option<f64>, in "ms";
        /// Video call: 99 % quantile of that time.
        frame_latency_p99_ms: Option<f64>, in "ms";
        /// Video call: share of frames that lack a packet when 32 newer ones have begun to come.
        frames_incomplete_percent: Option<f64>, in "%";
        /// Transfers of known size, and pieces of BitTorrent, that came to their end.
        transfers_completed: Option<u64>, in "transfers";
        /// Throughput: time from the first packet to the end of the first sampling interval (100 ms by
        /// default) with 90 % of the service's sustained rate or more. The 90 % are ours.
        time_to_sustained_rate_s: Option<f64>, in "s", from "White & Rice 2013, section 4.4";
        /// Throughput: the same for the service's peak rate.
        time_to_peak_rate_s: Option<f64>, in "s", from "White & Rice 2013, section 4.4";
        /// TCP connections that an entry opened, in the rows of both directions.
        connections: u64, in "connections";
        /// Mean of the round-trip times that the senders of this direction measured. TCP and QUIC measure
        /// with their data, delayed acknowledgements included; two-way streams with what the other end
        /// echoes, less the time that it waited before.
        rtt_mean_ms: Option<f64>, in "ms",
            from "RFC 7323, section 4; RFC 6298, section 3; RFC 3550, section 6.4.1";
        /// Least of these round-trip times.
        rtt_min_ms: Option<f64>, in "ms";
        /// TCP: mean over acknowledgements of new data of the time since the segment was sent that
        /// they echo: the first of those acknowledged, in ns-2 the latest, so that a receiver's wait is
        /// not in it. Each window weighs by its packets.
        rtt_echo_mean_ms: Option<f64>, in "ms",
            from "RFC 7323, section 4.3; Hong 2015, table 5.4: what packets experience";
        /// Median of these round-trip times. Quantiles are exact to 0.1 % or 1 µs.
        rtt_p50_ms: Option<f64>, in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
        /// 90 % quantile of these round-trip times.
        rtt_p90_ms: Option<f64>, in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
        /// 99 % quantile of these round-trip times.
        rtt_p99_ms: Option<f64>, in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
        /// 99.9 % quantile of these round-trip times.
        rtt_p999_ms: Option<f64>, in "ms";
        /// TCP and QUIC: segments that the senders of this direction sent again, those of handshakes too.
        retransmitted_packets: u64, in "packets", from "RFC 4898, tcpEStatsPerfSegsRetrans";
        /// TCP and QUIC: times that a retransmission or probe timer of theirs expired.
        timeouts: u64, in "timeouts", from "RFC 4898, tcpEStatsPerfTimeouts";
    }
}

rows! {
    /// One row per quality and direction: counts, loss and scores of all entries judged alike.
    "traffic_classes" of TrafficClassRow, Plain {
        /// How these entries are judged: as in flows.
        quality: &'static str;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Traffic entries of this quality that sent packets this way.
        entries: u64, in "entries";
        /// Packets that their senders sent, acknowledgements too.
        sent_packets: u64, in "packets";
        /// Packets that came to their receiver.
        delivered_packets: u64, in "packets";
        /// Packets dropped because a queue was at its limit.
        dropped_overflow_packets: u64, in "packets";
        /// Packets that a queue manager dropped early, to signal congestion.
        dropped_aqm_packets: u64, in "packets";
        /// Packets lost at random on the links of servers.
        dropped_link_packets: u64, in "packets";
        /// Packets that modems discarded after 16 requests that failed.
        dropped_contention_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Packets that a queue manager marked rather than dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Share of packets lost among those delivered or lost.
        loss_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.2";
        /// Median one-way latency of all packets together. Quantiles are exact to 0.1 % or 1 µs.
        latency_p50_ms: Option<f64>, in "ms", from "White & Rice 2013, section 4.1.1";
        /// 90 % quantile of that latency.
        latency_p90_ms: Option<f64>, in "ms";
        /// 99 % quantile of that latency.
        latency_p99_ms: Option<f64>, in "ms";
        /// Voice: mean of the entries' mean opinion scores.
        mos_mean: Option<f64>, from "ITU-T G.107";
        /// Voice: the worst of them.
        mos_min: Option<f64>, from "ITU-T G.107";
        /// Web: pages loaded to the end within the run.
        page_loads: Option<u64>, in "pages", from "White & Padden 2012, section 3.2.3";
        /// Web: median load time of all pages together.
        page_load_median_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: median absolute deviation of that time.
        page_load_mad_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: 90 % quantile of that time.
        page_load_p90_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
    }
}

rows! {
    /// One row per TCP connection and direction that carried packets. The table has the first
    /// connections of each traffic entry, as many as the scenario's metrics.connections says.
    "connections" of ConnectionRow, Repeated {
        /// Entry of the scenario's traffic list.
        traffic: String;
        /// The home that opened the connection: its number within its group, from 1.
        home: u16;
        /// Number of the connection among those of its entry, from 1, in the order of opening.
        connection: u64;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// When it was opened.
        start_s: f64, in "s";
        /// When both of its sides were closed; null if it was open at the end of the run.
        end_s: Option<f64>, in "s";
        /// Payload delivered to the application in order.
        payload_bytes: u64, in "B";
        /// Packets that came to their receiver.
        delivered_packets: u64, in "packets";
        /// Their bytes on the wire.
        delivered_bytes: u64, in "B";
        /// Packets dropped, for any reason.
        dropped_packets: u64, in "packets";
        /// Packets that a queue manager marked rather than dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Segments sent again, those of the handshake too.
        retransmitted_packets: u64, in "packets", from "RFC 4898, tcpEStatsPerfSegsRetrans";
        /// Times that the retransmission timer expired.
        timeouts: u64, in "timeouts", from "RFC 4898, tcpEStatsPerfTimeouts";
        /// Mean of the round-trip times that the sender measured, as in flows.
        rtt_mean_ms: Option<f64>, in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
        /// Mean time since the segment was sent that an acknowledgement echoes, as in flows.
        rtt_echo_mean_ms: Option<f64>, in "ms",
            from "RFC 7323, section 4.3; Hong 2015, table 5.4: what packets experience";
    }
}

rows! {
    /// One row per group of homes, service flow and direction: the counters of a modem's management
    /// information base, of all homes of the group together.
    "service_flows" of ServiceFlowRow, Plain {
        /// Group of homes.
        homes: String;
        /// Service flow; primary: what no classifier sends through another.
        service_flow: String;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Packets that the service flow forwarded.
        forwarded_packets: u64, in "packets", from "DOCS-QOS3-MIB, docsQosServiceFlowPkts";
        /// Their bytes on the wire.
        forwarded_bytes: u64, in "B", from "DOCS-QOS3-MIB, docsQosServiceFlowOctets";
        /// Packets dropped because the buffer of their service flow was full.
        policed_drop_packets: u64, in "packets",
            from "DOCS-QOS3-MIB, docsQosServiceFlowPolicedDropPkts";
        /// Packets forwarded that the sustained rate held back: while they waited, its tokens and
        /// nothing else kept bytes of the flow from being sent.
        policed_delay_packets: u64, in "packets",
            from "DOCS-QOS3-MIB, docsQosServiceFlowPolicedDelayPkts";
        /// Packets that the queue manager of their service flow dropped early.
        dropped_aqm_packets: u64, in "packets", from "White 2014, section 9";
        /// Acknowledgements dropped because a newer one took their place in the modem: no loss.
        superseded_packets: u64, in "packets", from "RFC 3449, section 5.2.1";
        /// Packets discarded after 16 requests that failed.
        contention_dropped_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Upstream: requests for bandwidth that modems made. Null where there is no MAC.
        mac_requests: Option<u64>, in "requests";
        /// Upstream: those requests that were not heard, as another modem made one in the same
        /// opportunity.
        mac_collisions: Option<u64>, in "requests", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Upstream: grants that gave something.
        mac_grants: Option<u64>, in "grants";
        /// Upstream: bytes granted.
        mac_granted_bytes: Option<u64>, in "B";
        /// Upstream: bytes granted and not used.
        mac_unused_bytes: Option<u64>, in "B";
        /// Bytes granted proactively and not used: the price of these grants.
        mac_unused_proactive_bytes: Option<u64>, in "B";
    }
}

rows! {
    /// One row for the upstream channel that modems share, if any do: how it was used.
    "channels" of ChannelRow, Plain {
        /// The channel: upstream.
        channel: &'static str;
        /// Minislots that MAPs granted.
        granted_minislots: u64, in "minislots";
        /// Their share of all minislots.
        utilisation_percent: f64, in "%";
        /// Opportunities to request bandwidth in contention, those of MAPs without effect included.
        request_opportunities: u64, in "opportunities";
        /// Requests made in these opportunities.
        contention_requests: u64, in "requests";
        /// Those requests that were not heard, as they collided.
        collisions: u64, in "requests";
    }
}

rows! {
    /// One row per queue of the first home of each group: the sojourn times of its packets. A queue with
    /// a low-latency and a classic member has rows for these too.
    "queues" of QueueRow, Plain {
        /// Name of the queue: upstream, downstream, cmts, with its home or flow, and its member:
        /// low_latency or classic.
        queue: String;
        /// Packets that left the queue without being dropped.
        departed_packets: u64, in "packets";
        /// Mean time that those packets spent in the queue.
        sojourn_mean_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Median of that time. Quantiles are exact to 0.1 % or 1 µs.
        sojourn_p50_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 90 % quantile of that time.
        sojourn_p90_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99 % quantile of that time.
        sojourn_p99_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99.9 % quantile of this time.
        sojourn_p999_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99.99 % quantile of this time; no more than the greatest of fewer than 10 000 packets.
        sojourn_p9999_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Greatest of these times.
        sojourn_max_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Low-latency queue managers: packets marked, for any cause. Null for all others.
        marked_packets: Option<u64>, in "packets", from "RFC 9332, section 2.4";
        /// Those marked because of the low-latency queue's own delay.
        native_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 2.4";
        /// Those marked in the low-latency queue because of the classic queue's signals.
        coupled_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 2.4";
        /// Those marked in the low-latency queue while the classic queue's signals ask to mark
        /// everything.
        overload_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 4.2.3";
        /// Packets that such a queue manager dropped because a queue was at its limit.
        dropped_overflow_packets: Option<u64>, in "packets";
        /// Packets that it dropped early.
        dropped_aqm_packets: Option<u64>, in "packets";
        /// Packets that Queue Protection sent from the low-latency queue to the classic one.
        sanctioned_packets: Option<u64>, in "packets", from "RFC 9957, section 4";
    }
}

rows! {
    /// One row per bin of the latency histograms of low-latency aggregates, which a scheduler has
    /// whose latency_histogram_ms is set.
    "latency_histogram" of LatencyHistogramRow, Plain {
        /// Name of the queue: upstream, downstream, cmts, with its home or flow.
        queue: String;
        /// Which flow of the aggregate: low_latency or classic.
        member: &'static str;
        /// Greatest latency of the bin; null in the last one, which has no bound.
        up_to_ms: Option<f64>, in "ms", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
        /// Packets that came when the estimated queue latency was in the bin.
        packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
        /// Greatest estimated queue latency of this flow of the aggregate, in all its rows.
        greatest_ms: f64, in "ms", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
    }
}

rows! {
    /// One row per web page loaded.
    "pages" of PageRow, Plain {
        /// Entry of the scenario's traffic list.
        traffic: String;
        /// When the page was requested.
        start_s: f64, in "s";
        /// Time from the opening of the page's first connection to its last object.
        load_time_s: f64, in "s", from "White & Padden 2012, section 3.2.3";
        /// Share of the pages of the entry that took no longer: the cumulative distribution of load
        /// times.
        cdf_percent: f64, in "%", from "White & Rice 2013, section 4.2";
    }
}

rows! {
    /// One row per traffic entry and part of the one-way delay of delivered packets through the first
    /// home's modem. The means of the parts add up to that of the total; quantiles do not. Empty unless
    /// the scenario sets metrics.modem_trace.
    "delay_parts" of DelayPartRow, Plain {
        /// Entry of the scenario's traffic list.
        traffic: String;
        /// up: from the home to a server.
        direction: &'static str;
        /// What delay was spent on: queue (behind other packets), request_wait (until bandwidth can be
        /// requested), grant_wait (until it is granted), shaping (until there are tokens),
        /// transmission, path (from the modem to the server); total is their sum.
        part: &'static str;
        /// Packets that came to their receiver.
        delivered_packets: u64, in "packets";
        /// Mean of the part.
        mean_ms: Option<f64>, in "ms";
        /// Median of the part. Quantiles are exact to 0.1 % or 1 µs.
        p50_ms: Option<f64>, in "ms";
        /// 90 % quantile of the part.
        p90_ms: Option<f64>, in "ms";
        /// 99 % quantile of the part.
        p99_ms: Option<f64>, in "ms";
        /// Greatest value of the part.
        max_ms: Option<f64>, in "ms";
    }
}
