//! The rows of result tables. A field is a column, and this is its one definition: the Arrow tables,
//! their metadata, the report's definitions and docs/columns.md come from here.
//!
//! `Option` is for what does not apply to every row or may not have been measured.

use super::column::rows;

rows! {
    /// One row per traffic entry and direction: counts, loss, rates, latency, scores, of the packets that were
    /// sent from metrics.from_s on.
    "flows" of FlowRow, Plain {
        /// Name of the scenario's traffic entry.
        traffic: String;
        /// How the entry is graded: game by latency and loss, voice by its opinion score, pages by load time,
        /// responses by response time, video by rate and stalls, video_call by its frames, cloud_game by
        /// the opinion score of G.1072, responsiveness by round trips per minute, throughput by rate. unscored are real packets, of which nobody knows what users notice.
        quality: &'static str;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Packets that the sender sent, including acknowledgements.
        sent_packets: u64, in "packets";
        /// Bytes of these packets on the wire, including headers and framing.
        sent_bytes: u64, in "B";
        /// Packets that reached their receiver.
        delivered_packets: u64, in "packets";
        /// Bytes of these packets on the wire.
        delivered_bytes: u64, in "B";
        /// Packets dropped because a queue was full.
        dropped_overflow_packets: u64, in "packets";
        /// Packets that an AQM algorithm dropped early to signal congestion.
        dropped_aqm_packets: u64, in "packets";
        /// Packets lost at random on the link to their server.
        dropped_link_packets: u64, in "packets";
        /// Packets that a modem discarded after 16 failed requests.
        dropped_contention_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Acknowledgements that the modem replaced by a newer one. They do not count as lost.
        superseded_packets: u64, in "packets", from "RFC 3449, section 5.2.1";
        /// Packets that an AQM algorithm marked (ECN) instead of dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Packets that Queue Protection moved to the classic queue because their flow built a queue in the
        /// low-latency one.
        sanctioned_packets: u64, in "packets", from "RFC 9957, section 4";
        /// Lost packets as a share of lost and delivered packets.
        loss_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.2";
        /// Delivered bytes on the wire, averaged over the run from metrics.from_s on; where packets were sent before, from
        /// when the first one that counts could arrive.
        throughput_mbps: f64, in "Mbps", from "Hong 2015, section 4.1";
        /// Payload delivered to the application in order, averaged over the same time.
        /// Datagrams count with their headers.
        goodput_mbps: f64, in "Mbps", from "RFC 2647, section 3.17";
        /// Bulk traffic, in the direction of its payload: time from metrics.from_s on in which it was under way, as a
        /// mean over homes. A file is so from the opening of its connection until its last byte is acknowledged; what
        /// stops earlier, and other bulk traffic, from its start until all that it sent has arrived. Where packets were
        /// sent before metrics.from_s, it counts from when the first one that counts could arrive.
        under_way_s: Option<f64>, in "s";
        /// Bulk traffic: delivered bytes on the wire over under_way_s, which the length of the run does not change.
        rate_mbps: Option<f64>, in "Mbps";
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
        /// 99.99 % quantile of the one-way latency. With fewer than 10 000 packets it is the greatest
        /// latency.
        latency_p9999_ms: Option<f64>, in "ms";
        /// Greatest one-way latency.
        latency_max_ms: Option<f64>, in "ms";
        /// Game: share of delivered packets that spent more than 20 ms in the access network and in
        /// queues. This is the one-way latency without home cable and without the delays of links of core and
        /// server. Lost packets count only in loss_percent.
        over_20_ms_access_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.3";
        /// Game: share of round trips that took more than 80 ms. A two-way stream measures them. For a one-
        /// way stream the round trip is the packet's latency plus a way back without queues: home cable and
        /// server link alone.
        over_80_ms_round_trip_percent: Option<f64>, in "%",
            from "Choy et al. in White & Rice 2013, section 4.1.3";
        /// Voice: share of packets that arrived after their playing time. With `playout = "fixed"` that is 60
        /// ms after the fastest packet.
        late_percent: Option<f64>, in "%", from "WebRTC NetEQ; White & Padden 2012, section 3.2.2";
        /// Voice: share of the call that the receiver had to conceal because packets were lost or late.
        concealed_percent: Option<f64>, in "%", from "WebRTC NetEQ";
        /// Voice: mean time from sending to playing, with an adaptive playout buffer.
        playout_delay_ms: Option<f64>, in "ms", from "WebRTC NetEQ";
        /// Voice: rating R of the E-model for G.711, from 0 to 94.2. It follows from the concealed share, the
        /// mean time until a packet is played, and 20 ms for the rest of the path. With `playout = "fixed"`
        /// that time is the mean latency of the packets that were on time.
        r_value: Option<f64>,
            from "Cole & Rosenbluth 2001; White & Padden 2012, section 3.2.2";
        /// Voice: mean opinion score, computed from r_value: 1 is bad, 5 excellent. G.711 reaches 4.4 at
        /// most.
        mos: Option<f64>, from "ITU-T G.107, annex B";
        /// Voice: R from the network's mean latency and loss alone. Nothing is added for the rest of the
        /// path, and no packet is late.
        network_r_value: Option<f64>, from "Cole & Rosenbluth 2001; Hong 2015, section 3.2.2.2";
        /// Voice: mean opinion score, computed from network_r_value.
        network_mos: Option<f64>, from "ITU-T G.107, annex B";
        /// Web: pages that finished loading within the run.
        page_loads: Option<u64>, in "pages", from "White & Padden 2012, section 3.2.3";
        /// Web: median load time, from the opening of a page's first connection until its last object has
        /// arrived.
        page_load_median_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: median absolute deviation of that time.
        page_load_mad_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: 90 % quantile of that time.
        page_load_p90_s: Option<f64>, in "s", from "White & Padden 2012, section 3.2.3";
        /// Web: median time until what is seen first of a page was there; only with pages that are loaded as browsers of
        /// today do.
        first_render_median_s: Option<f64>, in "s", from "Web Almanac 2025, Performance";
        /// Web sessions: objects that arrived within the run.
        responses: Option<u64>, in "objects", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: mean time from the opening of an object's connection to its last byte.
        response_mean_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: standard deviation of that time.
        response_stddev_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: median of that time.
        response_median_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Web sessions: 90 % quantile of that time.
        response_p90_s: Option<f64>, in "s", from "Hong 2015, section 3.2.2.3";
        /// Video: mean encoded rate of the segments that were requested since the level of quality has risen, and
        /// played. Empty while the level of a viewer rises.
        video_rate_mbps: Option<f64>, in "Mbps";
        /// Video: mean time from the opening of a viewer's connection, or from metrics.from_s, until the level of
        /// quality was first requested that the next five segments do not exceed, or the top one. Empty while the level of a viewer rises.
        video_rise_s: Option<f64>, in "s";
        /// Video: mean encoded rate of all segments that were played.
        video_whole_rate_mbps: Option<f64>, in "Mbps",
            from "Hong 2015, section 3.2.2.1, videoPlaybackRate";
        /// Video: changes of the quality level per viewer and hour, counted from the first request.
        video_adaptations_per_hour: Option<f64>, in "1/h",
            from "Hong 2015, section 3.2.2.1, adaptationRate";
        /// Video: mean time from the opening of a viewer's connection, or from metrics.from_s, until playing
        /// first began, or until the end for those of several who still wait. Empty if it began for none.
        video_start_wait_s: Option<f64>, in "s";
        /// Video: share of the time since playing began in which playing stood still.
        video_stalled_percent: Option<f64>, in "%",
            from "Hong 2015, section 3.2.2.1, rebufferTime";
        /// Video call, cloud game: median time from the sending of a frame's first packet to the arrival of its last one.
        /// It covers complete frames only.
        frame_latency_p50_ms: Option<f64>, in "ms", from "RFC 8593, section 5: frames of several packets";
        /// Video call, cloud game: 90 % quantile of that time.
        frame_latency_p90_ms: Option<f64>, in "ms";
        /// Video call, cloud game: 99 % quantile of that time.
        frame_latency_p99_ms: Option<f64>, in "ms";
        /// Video call, cloud game: share of frames that are still incomplete when packets of 32 newer frames have
        /// arrived, or at the end, if nothing has come of frames for 0.4 s and more. A frame with parity is complete with as many packets as it has without.
        frames_incomplete_percent: Option<f64>, in "%";
        /// Video call, cloud game: how often the picture froze: a frame stayed for three times as long as the 30 before it on
        /// average, and at least 150 ms longer.
        freezes: Option<u64>, in "freezes", from "W3C, Identifiers for WebRTC's Statistics API: freezeCount";
        /// Video call, cloud game: share of the time since the first frame in which the picture was frozen.
        frozen_percent: Option<f64>, in "%",
            from "W3C, Identifiers for WebRTC's Statistics API: totalFreezesDuration";
        /// Video call with a control: mean height of the pictures that were sent as a share of the largest one's.
        picture_height_percent: Option<f64>, in "%";
        /// Cloud game: share of complete frames that took over one interval of frames longer than the fastest.
        frames_late_percent: Option<f64>, in "%";
        /// Cloud game: median time from the sending of an input until the first frame is complete that was made after its
        /// arrival, with the wait for that frame.
        input_to_frame_p50_ms: Option<f64>, in "ms";
        /// Cloud game: 90 % quantile of that time.
        input_to_frame_p90_ms: Option<f64>, in "ms";
        /// Cloud game: 99 % quantile of that time.
        input_to_frame_p99_ms: Option<f64>, in "ms";
        /// Cloud game: mean part of that time in which the input or its frame was on the way, without the wait for the frame.
        input_and_frame_mean_ms: Option<f64>, in "ms";
        /// Cloud game: rating R from 0 to 78.49, from input_and_frame_mean_ms and the frames that were incomplete or late,
        /// with the coding of 1080p at 60 frames per second and 20 Mbps, for games that need fast reactions.
        game_r_value: Option<f64>, from "ITU-T G.1072 (2020) with Corrigendum 1";
        /// Cloud game: mean opinion score, computed from game_r_value: 1.3 is bad, 4.1 the best that the model gives.
        game_mos: Option<f64>, from "ITU-T G.1072 (2020) with Corrigendum 1";
        /// Responsiveness: round trips per minute under its load, by the last of its moving averages: the mean of two rates, 60 000
        /// over the mean of probe_tcp_ms, probe_tls_ms and probe_http_ms, and 60 000 over probe_loaded_http_ms. A load of both
        /// directions has one result, in both rows; of several homes it is the mean.
        rpm: Option<f64>, in "RPM", from "draft-ietf-ippm-responsiveness-09, section 5.3.1";
        /// Responsiveness: the same by the rule of the drafts until 2024, 60 000 over the mean of both times, which is less where
        /// probes on connections of their own pass a queue that loaded connections wait in.
        mean_delay_rpm: Option<f64>, in "RPM", from "draft-ietf-ippm-responsiveness-03";
        /// Responsiveness: round trips per minute of probes before its load, on connections of their own. Other traffic may load the
        /// line by then.
        rpm_before_load: Option<f64>, in "RPM";
        /// Responsiveness: low if it had fewer intervals with probes than a moving average has, medium if its moving averages
        /// were not stable when it ended, and high if they were.
        rpm_confidence: Option<&'static str>, from "draft-ietf-ippm-responsiveness-09, section 5.4.1";
        /// Responsiveness: trimmed mean time of the handshake of TCP on new connections, from the SYN to its answer.
        probe_tcp_ms: Option<f64>, in "ms", from "draft-ietf-ippm-responsiveness-09, section 5.3";
        /// Responsiveness: trimmed mean time of the handshake of TLS 1.3 that follows.
        probe_tls_ms: Option<f64>, in "ms", from "draft-ietf-ippm-responsiveness-09, section 5.3";
        /// Responsiveness: trimmed mean time of the request that follows.
        probe_http_ms: Option<f64>, in "ms", from "draft-ietf-ippm-responsiveness-09, section 5.3";
        /// Responsiveness: trimmed mean time of a request on a connection of the load.
        probe_loaded_http_ms: Option<f64>, in "ms", from "draft-ietf-ippm-responsiveness-09, section 5.3";
        /// Responsiveness: goodput of its load in this direction, over the intervals of the last moving average.
        load_mbps: Option<f64>, in "Mbps";
        /// Responsiveness: connections that loaded this direction at its end; of several homes the mean.
        load_connections: Option<f64>, in "connections";
        /// A traffic model of one's own: the gauge by which it is scored, at the end of the run; of several homes the
        /// worst.
        own_score: Option<f64>;
        /// The metric of `series` of which own_score is a value: the kind of the model and the name of its gauge.
        own_score_metric: Option<&'static str>;
        /// Where that is on the model's scale: 1 is its bound of good, 2 of fair and 3 of poor; between them in proportion.
        own_score_level: Option<f64>;
        /// Transfers of known size, and pieces of BitTorrent, that finished from metrics.from_s on.
        transfers_completed: Option<u64>, in "transfers";
        /// Transfers of known size: mean time of those that finished from metrics.from_s on, each from its start until its
        /// last byte is acknowledged.
        transfer_time_mean_s: Option<f64>, in "s";
        /// Throughput: time from the first packet to the end of the first sampling interval (100 ms by
        /// default) that reached 90 % of the service's sustained rate, in the whole run. The 90 % are
        /// Sojourn's choice.
        time_to_sustained_rate_s: Option<f64>, in "s", from "White & Rice 2013, section 4.4";
        /// Throughput: time until 90 % of the service's peak rate, measured likewise.
        time_to_peak_rate_s: Option<f64>, in "s", from "White & Rice 2013, section 4.4";
        /// Probes of a router's controller: mean over time of the rate that it has set for the shaper of this direction;
        /// of several homes, the mean of all.
        shaper_mean_mbps: Option<f64>, in "Mbps";
        /// Probes of a router's controller: how often it has set a lower rate, in all homes.
        shaper_decreases: Option<u64>, in "decreases";
        /// TCP connections that the entry opened in the whole run; the rows of both directions have the same
        /// number.
        connections: u64, in "connections";
        /// Mean of the round-trip times that the senders of this direction measured. TCP and QUIC measure
        /// with data; the receiver's wait before a delayed acknowledgement is included. Two-way streams
        /// measure with echoes; the wait of the other end is subtracted.
        rtt_mean_ms: Option<f64>, in "ms",
            from "RFC 7323, section 4; RFC 6298, section 3; RFC 3550, section 6.4.1";
        /// Least of these round-trip times.
        rtt_min_ms: Option<f64>, in "ms";
        /// TCP: mean time from the sending of a segment to the acknowledgement that echoes its timestamp,
        /// weighted by the packets of each window. If an acknowledgement covers several segments, it echoes
        /// the first of them, in dialect ns2 the last one, which leaves the receiver's wait out.
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
        /// Two-way streams: mean of the round-trip times that began while no bulk traffic of their home was under way, nor
        /// any that had stopped was still on its way. This and the next ones are null with fewer than ten of them, and leave out
        /// what was measured while the packets of a real program were more than 5 % of what the line carries.
        rtt_idle_mean_ms: Option<f64>, in "ms";
        /// Median of these times.
        rtt_idle_p50_ms: Option<f64>, in "ms";
        /// Two-way streams: mean of those that began while bulk traffic went down alone.
        rtt_down_mean_ms: Option<f64>, in "ms";
        /// Median of these times.
        rtt_down_p50_ms: Option<f64>, in "ms";
        /// Two-way streams: mean of those that began while bulk traffic went up alone.
        rtt_up_mean_ms: Option<f64>, in "ms";
        /// Median of these times.
        rtt_up_p50_ms: Option<f64>, in "ms";
        /// Two-way streams: mean of those that began while bulk traffic went both ways at once.
        rtt_both_mean_ms: Option<f64>, in "ms";
        /// Median of these times.
        rtt_both_p50_ms: Option<f64>, in "ms";
        /// TCP and QUIC: segments that the senders of this direction sent again, including those of
        /// handshakes.
        retransmitted_packets: u64, in "packets", from "RFC 4898, tcpEStatsPerfSegsRetrans";
        /// TCP and QUIC: how often a retransmission or probe timer of these senders expired.
        timeouts: u64, in "timeouts", from "RFC 4898, tcpEStatsPerfTimeouts";
    }
}

rows! {
    /// One row per quality and direction: counts, loss and scores of all entries with the same quality, of the
    /// packets that were sent from metrics.from_s on.
    "traffic_classes" of TrafficClassRow, Plain {
        /// How these entries are graded, as in flows.
        quality: &'static str;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Traffic entries of this quality that sent packets in this direction.
        entries: u64, in "entries";
        /// Packets that the senders sent, including acknowledgements.
        sent_packets: u64, in "packets";
        /// Packets that reached their receiver.
        delivered_packets: u64, in "packets";
        /// Packets dropped because a queue was full.
        dropped_overflow_packets: u64, in "packets";
        /// Packets that an AQM algorithm dropped early to signal congestion.
        dropped_aqm_packets: u64, in "packets";
        /// Packets lost at random on the links to servers.
        dropped_link_packets: u64, in "packets";
        /// Packets that modems discarded after 16 failed requests.
        dropped_contention_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Packets that an AQM algorithm marked (ECN) instead of dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Lost packets as a share of lost and delivered packets.
        loss_percent: Option<f64>, in "%", from "White & Rice 2013, section 4.1.2";
        /// Median one-way latency of all packets together. Quantiles are exact to 0.1 % or 1 µs.
        latency_p50_ms: Option<f64>, in "ms", from "White & Rice 2013, section 4.1.1";
        /// 90 % quantile of that latency.
        latency_p90_ms: Option<f64>, in "ms";
        /// 99 % quantile of that latency.
        latency_p99_ms: Option<f64>, in "ms";
        /// Voice: mean of the opinion scores of these entries.
        mos_mean: Option<f64>, from "ITU-T G.107";
        /// Voice: the lowest of these scores.
        mos_min: Option<f64>, from "ITU-T G.107";
        /// Web: pages that finished loading within the run.
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
    /// One row per TCP connection and direction that carried packets. Packets sent from metrics.from_s on
    /// count. metrics.connections sets how many connections of each traffic entry are recorded.
    "connections" of ConnectionRow, Repeated {
        /// Name of the scenario's traffic entry.
        traffic: String;
        /// The home that opened the connection: its number within its group, from 1.
        home: u16;
        /// Number of the connection among those of its entry, from 1, in the order of opening.
        connection: u64;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// When it was opened.
        start_s: f64, in "s";
        /// When both of its sides had closed it; null if it was still open at the end of the run.
        end_s: Option<f64>, in "s";
        /// Payload delivered to the application in order.
        payload_bytes: u64, in "B";
        /// Packets that reached their receiver.
        delivered_packets: u64, in "packets";
        /// Bytes of these packets on the wire, with those that arrived after end_s, which are not in payload_bytes.
        delivered_bytes: u64, in "B";
        /// Packets dropped, for any reason.
        dropped_packets: u64, in "packets";
        /// Packets that an AQM algorithm marked (ECN) instead of dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Segments that were sent again, including those of the handshake.
        retransmitted_packets: u64, in "packets", from "RFC 4898, tcpEStatsPerfSegsRetrans";
        /// How often the retransmission timer expired.
        timeouts: u64, in "timeouts", from "RFC 4898, tcpEStatsPerfTimeouts";
        /// Mean of the round-trip times that the sender measured, as in flows.
        rtt_mean_ms: Option<f64>, in "ms", from "RFC 7323, section 4; RFC 6298, section 3";
        /// Mean time from the sending of a segment to the acknowledgement that echoes its timestamp, as in
        /// flows.
        rtt_echo_mean_ms: Option<f64>, in "ms",
            from "RFC 7323, section 4.3; Hong 2015, table 5.4: what packets experience";
    }
}

rows! {
    /// One row per group of homes, service flow and direction: the counters that a modem's MIB has, summed
    /// over all homes of the group. Packets count that were sent from metrics.from_s on; requests and
    /// grants from then on.
    "service_flows" of ServiceFlowRow, Plain {
        /// Group of homes.
        homes: String;
        /// Name of the service flow. `primary` carries all packets that no classifier assigns to another
        /// flow.
        service_flow: String;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Packets that the service flow forwarded.
        forwarded_packets: u64, in "packets", from "DOCS-QOS3-MIB, docsQosServiceFlowPkts";
        /// Bytes of these packets on the wire.
        forwarded_bytes: u64, in "B", from "DOCS-QOS3-MIB, docsQosServiceFlowOctets";
        /// Packets dropped because the buffer of their service flow was full.
        policed_drop_packets: u64, in "packets",
            from "DOCS-QOS3-MIB, docsQosServiceFlowPolicedDropPkts";
        /// Forwarded packets that waited while the sustained rate, not the peak rate, held back bytes of
        /// their service flow.
        policed_delay_packets: u64, in "packets",
            from "DOCS-QOS3-MIB, docsQosServiceFlowPolicedDelayPkts";
        /// Packets that the AQM algorithm of their service flow dropped early.
        dropped_aqm_packets: u64, in "packets", from "White 2014, section 9";
        /// Packets of their service flow that an AQM algorithm marked (ECN) instead of dropping them.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Acknowledgements that the modem replaced by a newer one. They do not count as lost.
        superseded_packets: u64, in "packets", from "RFC 3449, section 5.2.1";
        /// Packets discarded after 16 failed requests.
        contention_dropped_packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Upstream: requests for bandwidth that modems sent. Null where there is no MAC.
        mac_requests: Option<u64>, in "requests";
        /// Upstream: requests that were lost because another modem sent one in the same opportunity.
        mac_collisions: Option<u64>, in "requests", from "DOCSIS 3.1 MULPI, section 7.2.1";
        /// Upstream: grants of at least one byte or minislot.
        mac_grants: Option<u64>, in "grants";
        /// Upstream: bytes granted.
        mac_granted_bytes: Option<u64>, in "B";
        /// Upstream: granted bytes that were not used.
        mac_unused_bytes: Option<u64>, in "B";
        /// Upstream: bytes of proactive grants that were not used. They are the price of these grants.
        mac_unused_proactive_bytes: Option<u64>, in "B";
    }
}

rows! {
    /// One row for the upstream channel that modems share, if any do, or for each one that they bond
    /// (upstream_channel.bonded, cmts.bonded): how it was used from metrics.from_s on.
    "channels" of ChannelRow, Plain {
        /// The channel: upstream or downstream, with its name if there are several.
        channel: String;
        /// Minislots that the MAPs granted; null downstream.
        granted_minislots: Option<u64>, in "minislots";
        /// Their share of all minislots; downstream the share of time in which it sent.
        utilisation_percent: f64, in "%";
        /// Opportunities to send a request in contention, including those that no modem used; null downstream.
        request_opportunities: Option<u64>, in "opportunities";
        /// Requests made in these opportunities; null downstream.
        contention_requests: Option<u64>, in "requests";
        /// Requests that were lost because they collided; null downstream.
        collisions: Option<u64>, in "requests";
        /// Segments that modems sent on it, downstream packets; null for a channel that is not bonded in a group.
        segments: Option<u64>, in "segments";
        /// Those that noise or an outage of the channel took.
        lost_segments: Option<u64>, in "segments";
        /// Those for which the CMTS, downstream the modem, did not wait any longer: lost ones, and ones that came later
        /// than resequencing_ms after a following one.
        given_up_segments: Option<u64>, in "segments";
        /// Ranging requests that modems sent; null without upstream_channel.ranging.
        ranging_requests: Option<u64>, in "requests";
        /// Those without an answer within T3.
        t3_timeouts: Option<u64>, in "requests";
        /// Times that a modem gave the channel up since it had no answer too often (T3 retries exceeded).
        t3_exceeded: Option<u64>, in "times";
        /// Times that a modem gave the channel up since it had no ranging opportunity within T4.
        t4_timeouts: Option<u64>, in "times";
    }
}

rows! {
    /// One row per queue of the first home of each group: the sojourn times of the packets that left it, of those sent from
    /// metrics.from_s on. A low-latency aggregate also has a row for each member.
    "queues" of QueueRow, Plain {
        /// Name of the queue: upstream, downstream or cmts, with its home or service flow, and with its
        /// member: low_latency or classic.
        queue: String;
        /// up: its packets go from the home to a server; down: to the home.
        direction: &'static str;
        /// Group of homes; null for a queue that homes share.
        homes: Option<String>;
        /// low_latency or classic: a member of a low-latency aggregate. Null for a whole queue.
        member: Option<&'static str>;
        /// Packets that left the queue without a drop.
        departed_packets: u64, in "packets";
        /// Mean time that these packets spent in the queue.
        sojourn_mean_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Median of that time. Quantiles are exact to 0.1 % or 1 µs.
        sojourn_p50_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 90 % quantile of that time.
        sojourn_p90_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99 % quantile of that time.
        sojourn_p99_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99.9 % quantile of that time.
        sojourn_p999_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// 99.99 % quantile of that time. With fewer than 10 000 packets it is the greatest time.
        sojourn_p9999_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Greatest of these times.
        sojourn_max_ms: Option<f64>, in "ms", from "RFC 8289, section 3";
        /// Packets that an AQM algorithm marked (ECN) instead of dropping them, for any cause.
        marked_packets: u64, in "packets", from "RFC 3168, section 5";
        /// Packets dropped because the queue was full.
        dropped_overflow_packets: u64, in "packets";
        /// Packets that an AQM algorithm dropped early to signal congestion.
        dropped_aqm_packets: u64, in "packets";
        /// Packets marked because of the low-latency queue's own delay. This cause and the next ones are
        /// null for queue managers without a low-latency queue.
        native_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 2.4";
        /// Packets marked in the low-latency queue because of the classic queue's signals.
        coupled_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 2.4";
        /// Packets marked in the low-latency queue while the classic queue's signals require that all are
        /// marked.
        overload_marked_packets: Option<u64>, in "packets", from "RFC 9332, section 4.2.3";
        /// Packets that Queue Protection moved from the low-latency queue to the classic one.
        sanctioned_packets: Option<u64>, in "packets", from "RFC 9957, section 4";
    }
}

rows! {
    /// One row per bin of the latency histograms of low-latency aggregates, of the packets that were
    /// sent from metrics.from_s on. Set latency_histogram_ms of the scheduler to record them.
    "latency_histogram" of LatencyHistogramRow, Plain {
        /// Name of the queue: upstream, downstream, cmts, with its home or flow.
        queue: String;
        /// Which flow of the aggregate: low_latency or classic.
        member: &'static str;
        /// Greatest latency of the bin; null for the last bin, which has no bound.
        up_to_ms: Option<f64>, in "ms", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
        /// Packets that arrived while the estimated queue latency was in the bin.
        packets: u64, in "packets", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
        /// Greatest estimated queue latency of this member of the aggregate; the same in all its rows.
        greatest_ms: Option<f64>, in "ms", from "DOCSIS 3.1 MULPI, section C.2.2.7.15.6";
    }
}

rows! {
    /// One row per web page that was requested from metrics.from_s on and loaded.
    "pages" of PageRow, Plain {
        /// Name of the scenario's traffic entry.
        traffic: String;
        /// When the page was requested.
        start_s: f64, in "s";
        /// Time from the opening of the page's first connection, or the look-up of its name if there is one, until its
        /// last object has arrived.
        load_time_s: f64, in "s", from "White & Padden 2012, section 3.2.3";
        /// Time until what is seen first was there, from the request on: the document, styles and scripts that it waits
        /// for. Only with pages that are loaded as browsers of today do.
        first_render_s: Option<f64>, in "s", from "Web Almanac 2025, Performance";
        /// Share of the entry's pages that loaded at least as fast: the cumulative distribution of load
        /// times.
        cdf_percent: f64, in "%", from "White & Rice 2013, section 4.2";
    }
}

rows! {
    /// One row per traffic entry, direction and part of the time of its packets that were sent from
    /// metrics.from_s on: until they were delivered, dropped or superseded, or until the run ended. The means of
    /// the parts add up to the mean of the total exactly; quantiles do not. Parts on which no time was spent have
    /// no row.
    "delay_parts" of DelayPartRow, Plain {
        /// Name of the scenario's traffic entry.
        traffic: String;
        /// up: from the home to a server. down: from a server to the home.
        direction: &'static str;
        /// Part of the time: router_queue, modem_queue, cmts_queue, core_queue or server_queue (other packets
        /// are ahead there; modem_queue and cmts_queue are the upstream and the downstream queue of any access
        /// network); in a modem that sends nothing meanwhile, request_wait (no opportunity to request bandwidth
        /// yet), contention (the request collided) and grant_wait (the requested grant has not begun); shaping
        /// (tokens are missing), stall (the modem is silent or passes nothing on), transmission, propagation,
        /// jitter (random time on the path), host (at the server's host), router (the router's delay),
        /// resequencing (packets on other bonded channels are ahead), or total, their sum.
        part: &'static str;
        /// Packets that were sent.
        sent_packets: u64, in "packets";
        /// Mean of the part, over all packets that were sent.
        mean_ms: f64, in "ms";
        /// Median of the part, of delivered packets; null without metrics.modem_trace. Quantiles are exact to
        /// 0.1 % or 1 µs.
        p50_ms: Option<f64>, in "ms";
        /// 90 % quantile of the part.
        p90_ms: Option<f64>, in "ms";
        /// 99 % quantile of the part.
        p99_ms: Option<f64>, in "ms";
        /// Greatest value of the part.
        max_ms: Option<f64>, in "ms";
    }
}

rows! {
    /// One row per value of the tables flows and queues that grades read, as the run would have it had it ended when
    /// half of the time that counts was over. What differs much from the whole run is still changing.
    "first_half" of FirstHalfRow, Repeated {
        /// Table that has the value of the whole run: flows or queues.
        table: &'static str;
        /// Name of the traffic entry or of the queue.
        name: String;
        /// up: from the home to a server; down: to the home.
        direction: &'static str;
        /// Column of that table, with its unit.
        column: &'static str;
        /// Value of the column.
        value: f64;
    }
}
