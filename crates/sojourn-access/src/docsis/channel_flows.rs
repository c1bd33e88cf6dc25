//! The service flows on a shared channel. Whoever gets one to change it has touched it, so that contenders that may
//! have nothing left to request are known without asking all.

use std::ops::{Index, IndexMut, Range};

use super::upstream_service_flow::UpstreamServiceFlow;

/// All service flows, by number.
#[derive(Default)]
pub(super) struct ChannelFlows {
    all: Vec<UpstreamServiceFlow>,
    /// Contenders that have been touched since they were looked at, each once.
    touched: Vec<u32>,
}

impl ChannelFlows {
    pub(super) fn push(&mut self, flow: UpstreamServiceFlow) {
        self.all.push(flow);
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &UpstreamServiceFlow> {
        self.all.iter()
    }

    /// Samples the queues of these for their time series.
    pub(super) fn sample(&mut self, numbers: Range<usize>) {
        self.all[numbers].iter_mut().for_each(UpstreamServiceFlow::sample);
    }

    /// Calls `withdraw` for contenders that no longer want to contend; they do not contend from then on.
    pub(super) fn drop_out(&mut self, mut withdraw: impl FnMut(u32)) {
        for number in self.touched.drain(..) {
            let flow = &mut self.all[number as usize];
            flow.is_touched = false;
            if flow.contends && !flow.wants_to_contend() {
                flow.contends = false;
                withdraw(number);
            }
        }
    }
}

impl Index<u32> for ChannelFlows {
    type Output = UpstreamServiceFlow;

    #[inline]
    fn index(&self, number: u32) -> &UpstreamServiceFlow {
        &self.all[number as usize]
    }
}

impl IndexMut<u32> for ChannelFlows {
    #[inline]
    fn index_mut(&mut self, number: u32) -> &mut UpstreamServiceFlow {
        let flow = &mut self.all[number as usize];
        if flow.contends && !flow.is_touched {
            flow.is_touched = true;
            self.touched.push(number);
        }
        flow
    }
}
