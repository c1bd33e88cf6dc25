//! What a modem reports of itself where its events are traced.

use crate::access::context::ServiceFlowContext;
use crate::metrics::Ledger;
use crate::metrics::modem_trace::ModemEventKind;
use crate::packet::Packet;
use crate::token_bucket::TokenBucket;
use crate::units::Time;

/// The eye on a service flow: open on the primary one upstream of the first home, and only if the
/// scenario wants a trace of it.
#[derive(Clone, Copy, Default)]
pub struct Probe {
    is_here: bool,
}

impl Probe {
    /// That of an upstream service flow in this context.
    pub fn upstream(context: &ServiceFlowContext) -> Self {
        Self { is_here: context.home.is_empty() && context.flow.is_empty() }
    }

    /// Is there a trace of this flow?
    #[inline]
    pub fn is_open(self, ledger: &mut Ledger) -> bool {
        self.is_here && ledger.trace().is_some_and(|trace| trace.modem().is_some())
    }

    /// The bucket of the sustained rate as it is from here on, until it is reported again.
    #[inline]
    pub fn bucket(self, ledger: &mut Ledger, bucket: &TokenBucket) {
        if self.is_here
            && let Some(modem) = ledger.trace().and_then(|trace| trace.modem())
        {
            modem.bucket(bucket);
        }
    }

    /// A packet comes from the home, and the bucket is this.
    #[inline]
    pub fn arrive(self, ledger: &mut Ledger, now: Time, bucket: &TokenBucket, packet: &Packet) {
        if self.is_here
            && let Some(trace) = ledger.trace()
        {
            trace.arrives_at_modem(now, bucket, packet);
        }
    }

    /// Something happens to bytes that are of no single packet.
    #[inline]
    pub fn note(self, ledger: &mut Ledger, at: Time, kind: ModemEventKind, bytes: u64) {
        if self.is_here
            && let Some(modem) = ledger.trace().and_then(|trace| trace.modem())
        {
            modem.note(at, kind, bytes);
        }
    }

    /// Something happens to a packet.
    #[inline]
    pub fn packet(self, ledger: &mut Ledger, at: Time, kind: ModemEventKind, packet: &Packet) {
        if self.is_here
            && let Some(trace) = ledger.trace()
        {
            trace.at_modem(at, kind, packet);
        }
    }
}
