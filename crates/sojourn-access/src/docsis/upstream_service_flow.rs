//! A modem's service flow on the shared upstream channel: its queue, its requests, and what it
//! sends in its grants.
//!
//! Headers make a packet longer on the channel; the rates of the service do not count them. The
//! CMTS grants no more than the token buckets hold when the grants of the MAP begin, and the modem
//! sends only bytes for which they hold tokens. So the sustained rate keeps the bound of White 2014
//! appendix C on every interval. Grants are sent in bursts at the channel's rate, so the peak-rate
//! bucket must be deeper here than one frame: deeper by what arrives from the start of one MAP
//! interval to the end of the next, the farthest apart that the grants of both may be.

use super::grant_split::Shares;
use super::regularity::Grid;
use super::request_grant::{By, MacCounters, Waiting};
use super::service_flow_mac::{Enforcement, Next, ServiceFlowMac};
use super::timing::Timing;
use crate::context::ServiceFlowContext;
use crate::service::Upstream;
use crate::shaper::{PEAK_BURST_BYTES, Shaper};
use sojourn_engine::count::Count;
use sojourn_engine::packet::{DropReason, Packet};
use sojourn_engine::queue::{Queue, default_limit_bytes};
use sojourn_engine::record::ModemEventKind as Kind;
use sojourn_engine::record::Recorder;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::{BitRate, Time};

/// An upstream service flow on the shared channel.
pub(crate) struct UpstreamServiceFlow {
    pub(super) mac: ServiceFlowMac,
    /// Bucket of the minimum reserved rate, if there is one.
    pub(super) reserved: Option<TokenBucket>,
    /// Traffic priority, 7 being the highest.
    pub(super) priority: u8,
    /// Its profile on the channel (framing.rs).
    pub(super) profile: u8,

    /// Does it request in contention only when nothing is requested?
    waits_for_grants: bool,
    /// Is it contending?
    pub(super) contends: bool,
    /// Is it waiting for grants?
    pub(super) waits: bool,
    /// Did the current MAP leave something of its requests (Data Grant Pending)?
    pub(super) is_pending: bool,
    /// Bytes left of its turn.
    pub(super) deficit: u64,
    /// When the grants of the current MAP begin, and what the MAP may grant the flow.
    map: Time,
    grantable: u64,
    /// What the current MAP grants it.
    pub(super) in_map: u64,
}

impl UpstreamServiceFlow {
    /// An idle flow with full token buckets.
    pub(crate) fn new(
        spec: &Upstream,
        context: &ServiceFlowContext,
        timing: &Timing,
        grid: &Grid,
        profile: u8,
    ) -> Self {
        let map = timing.map_interval();
        let mut shaper = Shaper::of(spec.terms());
        shaper.peak = deep_enough(shaper.peak.rate(), map.times(2));
        let buffer_bytes = default_limit_bytes(shaper.sustained.rate());
        let minimum = Some(spec.minimum_mbps).filter(|mbps| *mbps > 0.0).map(BitRate::from_mbps);
        let queue = context.queue("upstream", &spec.queue, buffer_bytes);
        let enforcement = match spec.scheduling.is_shaped() {
            true => Enforcement::GrantsAndPieces,
            false => Enforcement::None,
        };
        let mac = ServiceFlowMac::new(queue, shaper, enforcement, spec, timing, grid, context);
        Self {
            mac,
            reserved: minimum.map(|rate| deep_enough(rate, map)),
            priority: spec.priority,
            profile,
            waits_for_grants: timing.is_documents(),
            contends: false,
            waits: false,
            is_pending: false,
            deficit: 0,
            map: Time::NEVER,
            grantable: 0,
            in_map: 0,
        }
    }

    /// Takes a packet from the home.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, packet: Packet, recorder: &mut Recorder) {
        self.mac.arrive(now, &packet, recorder);
        self.mac.enqueue(now, packet, recorder);
    }

    /// Does it need to contend? Only for bytes that have come since its last request, and only without a
    /// grant, in which it requests. In Multiple Transmit Channel mode requests on their way do not keep it
    /// from requesting again (DOCSIS 3.0, MULPI §7.2.1); the documents' modem waits for their grants. A
    /// pending grant it waits for in any case: on a full channel all would contend for ever.
    pub(crate) fn wants_to_contend(&self) -> bool {
        let flow = &self.mac.flow;
        if self.waits_for_grants && flow.requested() > 0 {
            return false;
        }
        if flow.is_aggregate() {
            let Shares { low, classic } = flow.unrequested_by(By::Ungranted);
            let waits = self.is_pending;
            return low > 0 && !(waits && flow.low_at_cmts() > 0) || classic > 0 && !waits;
        }
        self.mac.policy.contention
            && !self.is_pending
            && !flow.has_grant()
            && flow.unrequested() > 0
    }

    /// Begins a grant of `bytes`: requests what has come since. Returns whether it requested
    /// anything.
    pub(crate) fn begin_grant(
        &mut self,
        now: Time,
        bytes: u64,
        timing: &Timing,
        recorder: &mut Recorder,
    ) -> bool {
        self.mac.flow.begin_grant(bytes);
        self.mac.note(recorder, now, Kind::Grant, bytes);
        self.mac.policy.piggyback && self.mac.request(By::Granted, now, timing, recorder)
    }

    /// Takes back a request that collided.
    pub(crate) fn collided(&mut self) {
        self.mac.flow.counters.requests += 1;
        self.mac.flow.counters.collisions += 1;
    }

    /// Drops the packet whose request failed too often (MULPI §7.2.1).
    pub(crate) fn give_up(&mut self, now: Time, recorder: &mut Recorder) {
        if let Some(packet) = self.mac.flow.discard_next(now, recorder) {
            recorder.dropped(now, packet, DropReason::Contention);
        }
    }

    /// The CMTS now knows of the requests that the MAP at `map` can grant. Returns whether it knows
    /// of any.
    pub(crate) fn requests_arrive(&mut self, map: Time) -> bool {
        self.mac.flow.requests_arrive(map);
        self.mac.flow.at_cmts() > 0
    }

    /// Requested bytes that the CMTS knows of.
    pub(crate) fn known_request(&self) -> u64 {
        self.mac.flow.at_cmts()
    }

    /// Bytes that the MAP whose grants begin at `start` may grant in addition to what it grants
    /// already.
    pub(crate) fn need(&mut self, start: Time) -> u64 {
        if self.map != start {
            self.map = start;
            self.grantable = self.grantable(start);
            if self.grantable == 0 && !self.mac.silent.at(start) {
                self.mac.hold(start);
            }
        }
        self.grantable - self.in_map
    }

    /// The part of that need which its minimum reserved rate covers.
    pub(crate) fn reserved_need(&mut self, start: Time) -> u64 {
        let tokens = self.reserved.as_ref().map_or(0.0, |reserved| reserved.tokens(start));
        self.need(start).min(tokens as u64)
    }

    /// Bytes that a grant at `start` may carry: requested, and allowed by the token buckets then.
    pub(crate) fn grantable(&self, start: Time) -> u64 {
        if self.mac.silent.at(start) {
            return 0;
        }
        if self.mac.enforcement == Enforcement::None {
            return self.mac.flow.at_cmts();
        }
        let tokens = self.mac.shaper.tokens(start);
        let Waiting { payload, on_channel } = self.mac.flow.waiting();
        if tokens >= payload as f64 {
            return self.mac.flow.at_cmts();
        }
        let longer = on_channel as f64 / payload as f64;
        self.mac.flow.at_cmts().min((tokens * longer) as u64)
    }

    /// Records the MAP that takes effect now, with grants from `start` on, in the trace, including
    /// what the token buckets keep it from granting.
    pub(crate) fn note_map(&self, now: Time, start: Time, recorder: &mut Recorder) {
        if !self.mac.probe.is_open(recorder) {
            return;
        }
        self.mac.note(recorder, now, Kind::Map, self.in_map);
        let grantable = self.grantable(start);
        if self.in_map == grantable && self.mac.flow.at_cmts() > grantable {
            self.mac.note(recorder, now, Kind::Defer, self.mac.flow.at_cmts() - grantable);
        }
    }

    /// Applies the current MAP's grant, which begins at `start`. Returns its bytes.
    pub(crate) fn take_grant(&mut self, start: Time) -> u64 {
        let grant = std::mem::take(&mut self.in_map);
        if grant == self.grantable && grant < self.mac.flow.at_cmts() {
            self.mac.hold(start);
        }
        self.mac.flow.grant_ahead(grant);
        if let Some(reserved) = &mut self.reserved {
            reserved.take(start, grant.min(reserved.tokens(start) as u64));
        }
        self.mac.flow.queue.on_map(grant, self.mac.flow.at_cmts());
        grant
    }

    /// Starts sending the next piece. Returns its bytes, or `None` if the grant has nothing more to
    /// send.
    pub(crate) fn next_piece(&mut self, now: Time, recorder: &mut Recorder) -> Option<u64> {
        if self.mac.silent.at(now) {
            self.mac.waste_grant(now, recorder);
            return None;
        }
        match self.mac.next_piece(now, recorder) {
            Next::Piece(bytes) => Some(bytes),
            Next::Wait(_) | Next::Nothing => None,
        }
    }

    /// When the AQM algorithm of its queue is next updated.
    pub(crate) fn next_update(&self) -> Time {
        self.queue().next_update()
    }

    /// Runs the periodic update of its queue's AQM algorithm.
    pub(crate) fn update(&mut self, now: Time) {
        self.mac.update(now, self.mac.flow.at_cmts() == 0);
    }

    /// Packets and bytes it holds.
    pub(crate) fn inside(&self) -> Count {
        self.mac.flow.inside()
    }

    /// Its queue, for its measurements.
    pub(crate) fn queue(&self) -> &Queue {
        &self.mac.flow.queue
    }

    /// Samples its queue for its time series.
    pub(crate) fn sample(&mut self) {
        self.mac.flow.queue.sample(|_| ());
    }

    /// Counters of its MAC.
    pub(crate) fn counters(&self) -> MacCounters {
        self.mac.flow.counters
    }
}

/// A bucket that holds a frame plus what arrives in `untouched`, a time in which nothing is
/// removed.
fn deep_enough(rate: BitRate, untouched: Time) -> TokenBucket {
    TokenBucket::new(rate, PEAK_BURST_BYTES + rate.bytes_in(untouched) as u64)
}
