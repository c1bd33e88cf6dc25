//! Request, grant and fragmentation by hand: packets take 10 B more on the channel.

use super::super::outages::Outages;
use super::*;
use sojourn_engine::aqm::DrainRate;
use sojourn_engine::dialect::Dialect;
use sojourn_engine::packet::Segment;
use sojourn_engine::units::BitRate;

const AGGREGATE: &str = "scheduler.kind = 'low_latency'";
const MAP: Time = Time::from_ms(4);

/// A flow whose packets take 10 B more on the channel.
fn flow(keys: &str) -> RequestGrant {
    let spec = toml::from_str(keys).unwrap();
    let heads = [(); 2].map(|()| HeadOfLine::new(DelayPart::RequestWait, Outages::default()));
    RequestGrant::new(Queue::new(&spec, 1_000_000, Dialect::Rfc, "upstream", 1), 10, heads)
}

/// A flow that has requested this much, which the CMTS knows.
fn requesting(keys: &str, low: u64, classic: u64) -> RequestGrant {
    let mut flow = flow(keys);
    flow.request_shares(Shares { low, classic }, MAP);
    flow.requests_arrive(MAP);
    flow
}

fn put(flow: &mut RequestGrant, size: u16, dscp: u8) {
    let segment = Segment { dscp, ..Segment::default() };
    let packet = Packet { segment, tuple: 7, ..Packet::datagram(size) };
    let outlet = DrainRate::steady(BitRate::from_mbps(10.0), 1_000_000);
    flow.queue.enqueue(Time::ZERO, packet, &outlet, &mut Recorder::default());
}

/// Sends what fits: the pieces, and how the last one ends.
fn sent(flow: &mut RequestGrant) -> (Vec<u64>, PieceEnd) {
    let (probe, mut recorder) = (Probe::default(), Recorder::default());
    let (mut pieces, mut end) = (Vec::new(), PieceEnd::Nothing);
    while let Some(bytes) = flow.sendable(MAP, probe, &mut recorder).filter(|bytes| *bytes > 0) {
        flow.begin_piece(MAP, bytes, probe, &mut recorder);
        pieces.push(bytes);
        end = flow.end_piece(MAP, &mut Recorder::default());
        if matches!(end, PieceEnd::Packet) {
            flow.take_sent();
        }
    }
    (pieces, end)
}

#[test]
fn a_request_is_known_to_the_maps_that_can_grant_it() {
    let mut flow = flow("");
    flow.request(1000, MAP);
    flow.requests_arrive(Time::from_us(3999));
    assert_eq!((flow.at_cmts(), flow.requested()), (0, 1000));
    flow.requests_arrive(MAP);
    assert_eq!((flow.at_cmts(), flow.requested()), (1000, 1000));
    assert_eq!(flow.counters.requests, 1);
}

#[test]
fn what_is_taken_back_of_a_grant_is_requested_again() {
    let mut flow = requesting("", 0, 1000);
    flow.grant_ahead(600);
    assert_eq!((flow.at_cmts(), flow.classic.ahead, flow.counters.granted_bytes), (400, 600, 600));
    flow.take_back(250);
    assert_eq!((flow.at_cmts(), flow.classic.ahead, flow.counters.granted_bytes), (650, 350, 350));
    assert!(flow.has_grant());
    flow.begin_grant(350);
    assert_eq!((flow.granted(), flow.classic.ahead, flow.requested()), (350, 0, 1000));
}

#[test]
fn an_aggregate_gives_back_its_classic_grant_first() {
    // floor(10 000 * 230 / 256) = 8984 are the low-latency flow's.
    let mut flow = requesting(AGGREGATE, 20_000, 20_000);
    flow.grant_ahead(10_000);
    assert_eq!((flow.low.ahead, flow.classic.ahead), (8984, 1016));
    flow.take_back(1500);
    assert_eq!((flow.low.ahead, flow.classic.ahead), (8500, 0));
    assert_eq!((flow.low_at_cmts(), flow.classic.at_cmts), (11_500, 20_000));
    assert_eq!(flow.counters.granted_bytes, 8500);
    flow.begin_grant(8000);
    assert_eq!((flow.low.granted, flow.low.ahead, flow.classic.granted), (8000, 500, 0));
}

#[test]
fn what_one_flow_of_an_aggregate_does_not_need_is_the_others() {
    let granted = |low, classic, unasked| {
        let mut flow = requesting(AGGREGATE, low, classic);
        flow.set_proactive(unasked);
        let of = flow.grant(10_000);
        assert_eq!(flow.at_cmts(), low + classic - 10_000);
        assert_eq!((flow.counters.grants, flow.counters.granted_bytes), (1, 10_000));
        (of.low, of.classic)
    };
    assert_eq!(granted(20_000, 20_000, None), (8984, 1016));
    assert_eq!(granted(20_000, 500, None), (9500, 500));
    assert_eq!(granted(300, 20_000, None), (300, 9700));
    // 657 B come unasked and count in the weight: floor(10 657 * 230 / 256) = 9574, of which 8917 are left to grant.
    assert_eq!(granted(20_000, 20_000, Some(657)), (8917, 1083));
    assert_eq!(granted(0, 20_000, Some(657)), (0, 10_000));
    // Nothing comes unasked by itself: floor(9 * 230 / 256) = 8, and of 10 B it would be 8 beside that one.
    assert_eq!(requesting(AGGREGATE, 9, 9).grant(9), Shares { low: 8, classic: 1 });
    assert_eq!(granted(20_000, 500, Some(657)), (9500, 500));
}

#[test]
fn a_grant_of_nothing_is_none() {
    let mut flow = requesting("", 0, 1000);
    flow.grant(0);
    assert_eq!((flow.counters.grants, flow.at_cmts()), (0, 1000));
    assert_eq!((flow.unasked_per_map(), flow.proactive_part(9)), (0, 0));
}

#[test]
fn a_packet_goes_in_the_pieces_of_its_grants() {
    let mut flow = flow("");
    put(&mut flow, 1500, 0);
    put(&mut flow, 100, 0);
    assert_eq!((flow.waiting().payload, flow.waiting().on_channel), (1600, 1620));
    assert_eq!(flow.unrequested(), 1620);
    flow.request(1000, MAP);
    assert_eq!(flow.unrequested(), 620);
    flow.requests_arrive(MAP);
    let granted = flow.grant(1000);
    flow.begin(granted);
    assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Piece(1000)) if pieces == [1000]));
    // 1000 B carried its header of 10 and 990 of its own.
    assert_eq!((flow.waiting().payload, flow.waiting().on_channel), (610, 620));
    assert_eq!((flow.inside(), flow.granted()), (Count { packets: 2, bytes: 1600 }, 0));
    flow.begin_unsolicited(700);
    assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Packet) if pieces == [510, 110]));
    assert_eq!((flow.granted(), flow.inside().packets), (80, 0));
    flow.waste_grant(MAP, Probe::default(), &mut Recorder::default());
    assert_eq!((flow.granted(), flow.counters.unused_bytes, flow.take_unused()), (0, 80, 80));
    assert_eq!(flow.take_unused(), 0);
}

#[test]
fn an_aggregate_sends_its_low_latency_packets_first_and_wastes_what_they_leave() {
    let mut flow = flow(AGGREGATE);
    put(&mut flow, 500, 0);
    put(&mut flow, 200, 45);
    assert_eq!(
        (flow.unrequested_by(By::Both).low, flow.unrequested_by(By::Both).classic),
        (210, 510)
    );
    assert_eq!((flow.unrequested_by(By::Low).low, flow.unrequested_by(By::Low).classic), (210, 0));
    assert_eq!(
        (flow.unrequested_by(By::Classic).low, flow.unrequested_by(By::Classic).classic),
        (0, 510)
    );
    flow.request_shares(Shares { low: 210, classic: 510 }, MAP);
    assert_eq!(flow.unrequested(), 0);
    flow.requests_arrive(MAP);
    let granted = flow.grant(720);
    flow.begin(granted);
    assert!(flow.ungranted().is_none());
    // 300 B unasked: of 510 for the low-latency flow 210 are used, and of the rest nobody requested 90.
    flow.begin_unsolicited(300);
    let (pieces, _) = sent(&mut flow);
    assert_eq!(pieces, [210, 510]);
    assert_eq!((flow.counters.unused_bytes, flow.counters.unused_proactive_bytes), (300, 90));
    assert_eq!((flow.take_unused(), flow.low.granted), (210, 0));
    assert!(matches!(flow.ungranted(), Some(By::Both)));
}

#[test]
fn payload_is_what_follows_the_header() {
    let mut flow = flow("");
    put(&mut flow, 1500, 0);
    flow.begin(Shares { low: 0, classic: 2000 });
    assert_eq!(flow.sendable(MAP, Probe::default(), &mut Recorder::default()), Some(1510));
    assert!(
        matches!(flow.end_piece(MAP, &mut Recorder::default()), PieceEnd::Nothing),
        "none has begun"
    );
    assert_eq!([4, 10, 11, 1510].map(|bytes| flow.payload_of(bytes)), [0, 0, 1, 1500]);
    flow.begin_piece(MAP, 4, Probe::default(), &mut Recorder::default());
    assert!(flow.is_sending() && !flow.is_idle());
    assert!(matches!(flow.end_piece(MAP, &mut Recorder::default()), PieceEnd::Piece(4)));
    assert_eq!([6, 7, 1506].map(|bytes| flow.payload_of(bytes)), [0, 1, 1500]);
    assert_eq!(flow.proactive_part(100), 0);
}

/// An aggregate with a fragment of each flow, of which 100 B have been sent, and a packet of each behind it.
fn in_pieces() -> RequestGrant {
    let mut flow = flow(AGGREGATE);
    for (size, dscp) in [(500, 0), (200, 45), (600, 0), (300, 45)] {
        put(&mut flow, size, dscp);
    }
    for granted in [Shares { low: 100, classic: 0 }, Shares { low: 0, classic: 100 }] {
        flow.begin(granted);
        assert!(matches!(sent(&mut flow), (pieces, PieceEnd::Piece(100)) if pieces == [100]));
    }
    flow
}

/// Of 500, 200, 600 and 300 B, each with 10 B of header, twice 100 B were sent with a header.
#[test]
fn what_waits_of_an_aggregate_is_that_of_both_flows() {
    let mut flow = in_pieces();
    let waiting = flow.waiting();
    assert_eq!((waiting.payload, waiting.on_channel), (1600 - 180, 1640 - 200));
    let of = |shares: Shares| (shares.low, shares.classic);
    assert_eq!(of(flow.unrequested_by(By::Both)), (110 + 310, 410 + 610));
    assert_eq!(flow.inside(), Count { packets: 4, bytes: 1600 });
    assert!(!flow.is_idle() && !flow.has_grant() && flow.waits_for_unsolicited());
    // While a piece is being sent it is no longer waited for: 50 B more of the classic packet, or of the other.
    let (probe, mut recorder) = (Probe::default(), Recorder::default());
    for (low, want) in [(false, (420, 970)), (true, (370, 1020))] {
        let granted =
            if low { Shares { low: 50, classic: 0 } } else { Shares { low: 0, classic: 50 } };
        flow.begin(granted);
        assert_eq!(flow.sendable(MAP, probe, &mut recorder), Some(50));
        flow.begin_piece(MAP, 50, probe, &mut recorder);
        assert_eq!(of(flow.unrequested_by(By::Both)), want);
        assert_eq!(flow.payload_of(50), 50);
        flow.piece = 0; // and it was not sent after all
    }
    // The low-latency fragment is dropped first, then the other, then what waits.
    let sizes: Vec<_> =
        (0..5).map(|_| flow.discard_next(MAP, &mut recorder).map(|packet| packet.size)).collect();
    assert_eq!(sizes[..2], [Some(200), Some(500)]);
    assert_eq!(sizes.iter().flatten().map(|size| u32::from(*size)).sum::<u32>(), 1600);
    assert!(sizes[4].is_none() && flow.is_idle());
}

/// A flow requests with a grant of its own, or where it has none in this MAP; proactive grants carry the low-latency flow's.
#[test]
fn each_flow_of_an_aggregate_requests_where_it_may() {
    for (granted, ahead, proactive, [by_granted, by_ungranted], ungranted) in [
        ((0, 0), (0, 0), None, [(0, 0), (210, 510)], Some(By::Both)),
        ((1, 0), (0, 0), None, [(209, 0), (0, 510)], Some(By::Classic)),
        ((0, 1), (0, 0), None, [(0, 509), (210, 0)], Some(By::Low)),
        ((1, 1), (0, 0), None, [(209, 509), (0, 0)], None),
        ((0, 0), (1, 0), None, [(0, 0), (0, 510)], Some(By::Both)),
        ((0, 0), (0, 1), None, [(0, 0), (210, 0)], Some(By::Both)),
        ((0, 0), (0, 0), Some(50), [(0, 0), (0, 510)], Some(By::Classic)),
        ((1, 1), (0, 0), Some(50), [(0, 509), (0, 0)], None),
    ] {
        let mut flow = flow(AGGREGATE);
        put(&mut flow, 500, 0);
        put(&mut flow, 200, 45);
        flow.set_proactive(proactive);
        (flow.low.granted, flow.classic.granted) = granted;
        (flow.low.ahead, flow.classic.ahead) = ahead;
        for (by, want) in [(By::Granted, by_granted), (By::Ungranted, by_ungranted)] {
            let Shares { low, classic } = flow.unrequested_by(by);
            assert_eq!((low, classic), want, "{granted:?} {ahead:?} {proactive:?} {by:?}");
        }
        assert_eq!(flow.ungranted(), ungranted);
        assert_eq!(flow.has_grant(), granted != (0, 0) || ahead != (0, 0));
        assert_eq!(
            (flow.grants_proactively(), flow.unasked_per_map()),
            (proactive.is_some(), proactive.unwrap_or(0))
        );
        assert_eq!(flow.unrequested_by(By::Low).low, 210 - granted.0 - ahead.0);
    }
    // A flow that is no aggregate has no shares, and nothing unasked.
    let mut plain = flow("");
    plain.set_proactive(Some(50));
    assert!(!plain.grants_proactively());
    let shares = plain.shares(100, Shares { low: 60, classic: 70 });
    assert_eq!((shares.low, shares.classic), (30, 70));
}

/// Of 300 B unasked and 100 requested the low-latency flow's packets use 210 of those unasked first.
#[test]
fn bytes_granted_unasked_are_used_first() {
    let mut flow = flow(AGGREGATE);
    put(&mut flow, 200, 45);
    let (probe, mut recorder) = (Probe::default(), Recorder::default());
    flow.begin(Shares { low: 100, classic: 40 });
    flow.begin_unsolicited(300);
    assert_eq!((flow.granted(), flow.counters.granted_bytes, flow.counters.grants), (440, 300, 1));
    assert_eq!(flow.sendable(MAP, probe, &mut recorder), Some(210));
    assert_eq!([flow.proactive_part(210), flow.proactive_part(310)], [210, 300]);
    flow.begin_piece(MAP, 210, probe, &mut recorder);
    assert!(matches!(flow.end_piece(MAP, &mut Recorder::default()), PieceEnd::Packet));
    assert_eq!(flow.take_sent().map(|packet| packet.size), Some(200));
    assert!(matches!(flow.end_piece(MAP, &mut Recorder::default()), PieceEnd::Nothing));
    // Of 190 left of it 100 were requested, and the classic flow has nothing to send.
    assert_eq!(flow.sendable(MAP, probe, &mut recorder), None);
    assert_eq!((flow.counters.unused_bytes, flow.counters.unused_proactive_bytes), (190, 90));
    assert_eq!((flow.take_unused(), flow.low.granted, flow.classic.granted), (100, 0, 40));
    flow.waste_grant(MAP, probe, &mut recorder);
    assert_eq!((flow.counters.unused_bytes, flow.take_unused(), flow.granted()), (230, 40, 0));
    assert_eq!(flow.sendable(MAP, probe, &mut recorder), None);
}

/// What a queue may send in a grant that nobody asked for: of an aggregate its low-latency packets.
#[test]
fn unsolicited_grants_are_for_what_waits() {
    for (keys, dscp, waits) in [("", 0, true), (AGGREGATE, 0, false), (AGGREGATE, 45, true)] {
        let mut flow = flow(keys);
        assert!(!flow.waits_for_unsolicited() && flow.is_idle());
        put(&mut flow, 200, dscp);
        assert_eq!((flow.waits_for_unsolicited(), flow.is_idle()), (waits, false));
        flow.begin(Shares { low: 100, classic: 100 });
        let (probe, mut recorder) = (Probe::default(), Recorder::default());
        let bytes = flow.sendable(MAP, probe, &mut recorder).unwrap();
        flow.begin_piece(MAP, bytes, probe, &mut recorder);
        flow.end_piece(MAP, &mut Recorder::default());
        // The rest of its packet waits too.
        assert_eq!((flow.waits_for_unsolicited(), flow.queue.backlog().packets), (waits, 0));
        flow.waste_grant(MAP, probe, &mut recorder);
        assert!(!flow.is_idle());
    }
    let mut flow = flow("");
    flow.request(5, MAP);
    assert!(!flow.is_idle());
    let earlier = MacCounters { requests: 3, granted_bytes: 900, ..MacCounters::default() };
    let later =
        MacCounters { requests: 5, granted_bytes: 700, grants: 2, ..MacCounters::default() };
    let MacCounters { requests, granted_bytes, grants, .. } = later.since(earlier);
    assert_eq!((requests, granted_bytes, grants), (2, 0, 2));
    assert_eq!(later.plus(earlier).granted_bytes, 1600);
}

/// A byte is a grant too, of either flow; what is wasted is that of both.
#[test]
fn the_least_grant_is_a_byte() {
    let (probe, mut recorder) = (Probe::default(), Recorder::default());
    for (low, classic) in [(1, 0), (0, 1), (1, 1)] {
        let mut flow = flow(AGGREGATE);
        put(&mut flow, 500, 0);
        put(&mut flow, 200, 45);
        flow.begin(Shares { low, classic });
        assert_eq!(flow.sendable(MAP, probe, &mut recorder), Some(1));
        assert_eq!(flow.low_sends, low > 0);
        assert!(!flow.is_sending());
        flow.begin_piece(MAP, 1, probe, &mut recorder);
        assert!(flow.is_sending());
        flow.begin(Shares { low, classic: 1 - low });
        flow.waste_grant(MAP, probe, &mut recorder);
        assert_eq!((flow.granted(), flow.counters.unused_bytes), (0, low + classic));
    }
}
