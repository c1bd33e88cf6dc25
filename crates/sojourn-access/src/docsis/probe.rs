//! Records a modem's events in its trace.

use crate::context::ServiceFlowContext;
use sojourn_engine::packet::Packet;
use sojourn_engine::record::ModemEventKind;
use sojourn_engine::record::Recorder;
use sojourn_engine::token_bucket::TokenBucket;
use sojourn_engine::units::Time;

/// Records the events of one service flow. It is active for the primary upstream flow of the first
/// home, and only if the scenario wants a trace.
#[derive(Clone, Copy, Default)]
pub(crate) struct Probe {
    is_here: bool,
}

impl Probe {
    /// The probe of an upstream service flow in this context.
    pub(crate) fn upstream(context: &ServiceFlowContext) -> Self {
        Self { is_here: context.home.is_empty() && context.flow.is_empty() }
    }

    /// Is this flow traced?
    #[inline]
    pub(crate) fn is_open(self, recorder: &mut Recorder) -> bool {
        self.is_here && recorder.trace().is_some_and(|trace| trace.modem().is_some())
    }

    /// Records the bucket of the sustained rate from now on.
    #[inline]
    pub(crate) fn bucket(self, recorder: &mut Recorder, bucket: &TokenBucket) {
        if self.is_here
            && let Some(modem) = recorder.trace().and_then(|trace| trace.modem())
        {
            modem.bucket(bucket);
        }
    }

    /// Records a packet from the home, and the bucket.
    #[inline]
    pub(crate) fn arrive(
        self,
        recorder: &mut Recorder,
        now: Time,
        bucket: &TokenBucket,
        packet: &Packet,
    ) {
        if self.is_here
            && let Some(trace) = recorder.trace()
        {
            trace.arrives_at_modem(now, bucket, packet);
        }
    }

    /// Records an event that concerns bytes but no single packet.
    #[inline]
    pub(crate) fn note(self, recorder: &mut Recorder, at: Time, kind: ModemEventKind, bytes: u64) {
        if self.is_here
            && let Some(modem) = recorder.trace().and_then(|trace| trace.modem())
        {
            modem.note(at, kind, bytes);
        }
    }

    /// Records an event of a packet.
    #[inline]
    pub(crate) fn packet(
        self,
        recorder: &mut Recorder,
        at: Time,
        kind: ModemEventKind,
        packet: &Packet,
    ) {
        if self.is_here
            && let Some(trace) = recorder.trace()
        {
            trace.at_modem(at, kind, packet);
        }
    }
}
