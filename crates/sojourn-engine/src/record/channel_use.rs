//! How a channel that homes share was used.

/// Counters of a channel since the start of the run, or since they were read.
#[derive(Clone, Copy, Debug)]
pub struct ChannelUse {
    /// Minislots granted.
    pub granted_minislots: u64,
    /// Minislots that there were.
    pub minislots: f64,
    /// Opportunities to send a request in contention.
    pub request_opportunities: u64,
    /// Requests sent in contention.
    pub contention_requests: u64,
    /// Contention requests that collided.
    pub collisions: u64,
}

impl ChannelUse {
    /// What came since they were as `earlier`.
    pub fn since(self, earlier: &Self) -> Self {
        Self {
            granted_minislots: self.granted_minislots - earlier.granted_minislots,
            minislots: self.minislots - earlier.minislots,
            request_opportunities: self.request_opportunities - earlier.request_opportunities,
            contention_requests: self.contention_requests - earlier.contention_requests,
            collisions: self.collisions - earlier.collisions,
        }
    }
}
