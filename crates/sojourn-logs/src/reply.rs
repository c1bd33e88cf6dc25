//! What a line of ping or fping says.

use crate::log::Probe;
use crate::stamp::Came;

/// A line that says what became of a probe.
pub(crate) struct Reply<'a> {
    /// Names its stream.
    pub(crate) host: &'a str,
    /// When the line was printed, if it says so.
    pub(crate) came: Option<Came>,
    pub(crate) number: Option<f64>,
    /// `None` for a lost probe.
    pub(crate) rtt_ms: Option<f64>,
    /// To and from the server, by two clocks.
    pub(crate) ways_ms: Option<[f64; 2]>,
}

impl<'a> Reply<'a> {
    pub(crate) fn new(
        host: &'a str,
        came: Option<Came>,
        number: Option<f64>,
        rtt_ms: Option<f64>,
    ) -> Self {
        Self { host, came, number, rtt_ms, ways_ms: None }
    }

    /// Sent then, if it has an answer.
    pub(crate) fn probe(&self, sent_ms: f64) -> Probe {
        let [up_ms, down_ms] = self.ways_ms.map_or([None; 2], |ways| ways.map(Some));
        self.rtt_ms.map_or(Probe::lost(sent_ms), |rtt_ms| Probe {
            up_ms,
            down_ms,
            ..Probe::answered(sent_ms, rtt_ms)
        })
    }
}
