//! How a channel that homes share was used.

/// Counters of a channel since the start of the run, or since they were read.
#[derive(Clone, Debug)]
pub struct ChannelUse {
    /// Its name in results.
    pub name: String,
    /// Segments where modems bond several channels.
    pub segments: Option<SegmentUse>,
    /// What was used of it, and all that there was: minislots, or seconds of a channel without them.
    pub used: (f64, f64),
    /// Requests and grants upstream.
    pub requests: Option<RequestUse>,
    /// Ranging, where modems do.
    pub ranging: Option<RangingUse>,
}

/// Ranging on a channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct RangingUse {
    /// Ranging requests that modems sent.
    pub requests: u64,
    /// Those without an answer.
    pub t3_timeouts: u64,
    /// Times that a modem gave the channel up since there was no answer too often.
    pub t3_exceeded: u64,
    /// Times that a modem did since there was no opportunity.
    pub t4_timeouts: u64,
}

impl RangingUse {
    fn since(self, earlier: Self) -> Self {
        Self {
            requests: self.requests - earlier.requests,
            t3_timeouts: self.t3_timeouts - earlier.t3_timeouts,
            t3_exceeded: self.t3_exceeded - earlier.t3_exceeded,
            t4_timeouts: self.t4_timeouts - earlier.t4_timeouts,
        }
    }
}

/// Requests on a channel, and what it granted.
#[derive(Clone, Copy, Debug)]
pub struct RequestUse {
    /// Minislots granted.
    pub granted_minislots: u64,
    /// Opportunities to send a request in contention.
    pub request_opportunities: u64,
    /// Requests sent in contention.
    pub contention_requests: u64,
    /// Contention requests that collided.
    pub collisions: u64,
}

impl RequestUse {
    fn since(self, earlier: Self) -> Self {
        Self {
            granted_minislots: self.granted_minislots - earlier.granted_minislots,
            request_opportunities: self.request_opportunities - earlier.request_opportunities,
            contention_requests: self.contention_requests - earlier.contention_requests,
            collisions: self.collisions - earlier.collisions,
        }
    }
}

/// Segments that a channel carried.
#[derive(Clone, Copy, Debug)]
pub struct SegmentUse {
    /// That modems sent, or packets that the CMTS did.
    pub sent: u64,
    /// That noise took, or the loss of the channel.
    pub lost: u64,
    /// For which CMTS or modem did not wait any longer, those that came too late included.
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
        let requests = self.requests.zip(earlier.requests);
        let ranging = self.ranging.zip(earlier.ranging);
        Self {
            name: self.name,
            segments: segments.map(|(now, earlier)| now.since(earlier)),
            used: (self.used.0 - earlier.used.0, self.used.1 - earlier.used.1),
            requests: requests.map(|(now, earlier)| now.since(earlier)),
            ranging: ranging.map(|(now, earlier)| now.since(earlier)),
        }
    }
}
