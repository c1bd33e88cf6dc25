//! What a modem tells of itself where its events are traced.

use super::shaper::TokenBucket;
use super::subscriber::Place;
use crate::metrics::Ledger;
use crate::metrics::modem_trace::ModemEventKind;
use crate::packet::Packet;
use crate::units::Time;

/// The eye on a service flow: open on the primary one upstream of the first home, and if the scenario
/// asks for a trace of it. Events are told with the level of the bucket of the sustained rate.
#[derive(Clone, Copy, Default)]
pub struct Probe {
    is_here: bool,
}

impl Probe {
    /// That of an upstream service flow in this place.
    pub fn upstream(place: &Place) -> Self {
        Self { is_here: place.home.is_empty() && place.flow.is_empty() }
    }

    /// A packet comes from the home.
    #[inline]
    pub fn arrive(self, ledger: &mut Ledger, now: Time, bucket: &TokenBucket, packet: &Packet) {
        if self.is_here
            && let Some(trace) = ledger.trace()
        {
            trace.arrives_at_modem(now, bucket.tokens(now), packet);
        }
    }

    /// What is told of packets from here on happens now.
    #[inline]
    pub fn set(self, ledger: &mut Ledger, now: Time, bucket: &TokenBucket) {
        if self.is_here
            && let Some(modem) = ledger.trace().and_then(|trace| trace.modem())
        {
            modem.set(now, bucket.tokens(now));
        }
    }

    /// Something happens to bytes that are of no single packet.
    #[inline]
    pub fn note(
        self,
        ledger: &mut Ledger,
        at: Time,
        bucket: &TokenBucket,
        kind: ModemEventKind,
        bytes: u64,
    ) {
        if self.is_here
            && let Some(modem) = ledger.trace().and_then(|trace| trace.modem())
        {
            modem.note(at, bucket.tokens(at), kind, bytes);
        }
    }

    /// Something happens to a packet now.
    #[inline]
    pub fn packet(self, ledger: &mut Ledger, kind: ModemEventKind, packet: &Packet) {
        if self.is_here
            && let Some(trace) = ledger.trace()
        {
            trace.at_modem(kind, packet);
        }
    }
}
