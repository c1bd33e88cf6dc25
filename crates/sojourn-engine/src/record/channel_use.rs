//! How a channel that homes share was used.

/// Counters of a channel since the start of the run, or since they were read.
#[derive(Clone, Debug)]
pub struct ChannelUse {
    /// Its name in results.
    pub name: String,
    /// Segments of modems that send on several channels.
    pub segments: Option<SegmentUse>,
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

/// Segments that a channel carried.
#[derive(Clone, Copy, Debug)]
pub struct SegmentUse {
    /// That modems sent.
    pub sent: u64,
    /// That noise took, or the loss of the channel.
    pub lost: u64,
    /// For which the CMTS did not wait any longer, those that came too late included.
    pub given_up: u64,
}

impl SegmentUse {
    fn since(self, earlier: Self) -> Self {
        Self {
            sent: self.sent - earlier.sent,
            lost: self.lost - earlier.lost,
            given_up: self.given_up - earlier.given_up,
        }
    }
}

impl ChannelUse {
    /// What came since they were as `earlier`.
    pub fn since(self, earlier: &Self) -> Self {
        let segments = self.segments.zip(earlier.segments);
        Self {
            name: self.name,
            segments: segments.map(|(now, earlier)| now.since(earlier)),
            granted_minislots: self.granted_minislots - earlier.granted_minislots,
            minislots: self.minislots - earlier.minislots,
            request_opportunities: self.request_opportunities - earlier.request_opportunities,
            contention_requests: self.contention_requests - earlier.contention_requests,
            collisions: self.collisions - earlier.collisions,
        }
    }
}
