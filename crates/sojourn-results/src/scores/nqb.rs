//! Whether senders of the NQB code point are as slow and smooth as RFC 9956 §4 asks: in any time T they
//! send no more than R T and one full packet, with R about 500 kb/s.
//!
//! The RFC counts bytes of IP. Here they are those of the service flow, so that Ethernet's header counts
//! too and small packets are held to a somewhat lower rate.

use sojourn_engine::packet::Packet;
use sojourn_engine::units::{BitRate, Time};

/// R.
const RATE: BitRate = BitRate::from_bps(500_000);
/// A full packet on the wire: 1500 B with Ethernet's 18.
const FULL_PACKET: u64 = 1518;

/// The bound on each sender of an entry in one direction: one in each of its homes.
pub struct Bound {
    first_home: usize,
    /// When each sender would have sent everything at R.
    done_at: Vec<Time>,
    /// The most bytes that anybody had sent beyond R T.
    most: u64,
}

impl Bound {
    /// Nobody of `homes` has sent anything; `first_home` is the first.
    pub fn new(first_home: usize, homes: usize) -> Self {
        Self { first_home, done_at: vec![Time::ZERO; homes], most: 0 }
    }

    /// A packet is sent.
    pub fn sent(&mut self, packet: &Packet) {
        let (now, home) = (packet.sent_at, usize::from(packet.home) - self.first_home);
        let done_at = &mut self.done_at[home];
        *done_at = now.max(*done_at) + RATE.time_for(packet.size.into());
        let beyond = RATE.bytes_in(done_at.since(now)).round() as u64;
        self.most = self.most.max(beyond);
    }

    /// What the bound says of these senders, if they exceed it; `kbps` is their mean rate.
    pub fn complaint(&self, kbps: f64) -> Option<String> {
        let most_kbps = RATE.bps() as f64 / 1e3;
        if kbps > most_kbps {
            return Some(format!("sends {kbps:.0} kbps"));
        }
        (self.most > FULL_PACKET).then(|| {
            let Self { most, .. } = self;
            format!("sends bursts of {most} bytes beyond {most_kbps} kbps, where {FULL_PACKET} are allowed")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(bound: &mut Bound, at_us: u64, size: u16) {
        let sent_at = Time::from_us(at_us);
        bound.sent(&Packet { sent_at, home: 7, ..Packet::datagram(size) });
    }

    #[test]
    fn a_full_packet_may_come_at_any_time_and_no_more() {
        // 1518 B at 500 kb/s take 24.288 ms.
        let mut bound = Bound::new(7, 1);
        (0..100).for_each(|n| send(&mut bound, n * 24_288, 1518));
        assert_eq!((bound.most, bound.complaint(499.0)), (1518, None));
        // The next one comes 1 ms early: 62.5 B too much.
        send(&mut bound, 100 * 24_288 - 1000, 1518);
        assert_eq!(bound.most, 1581);
        let complaint = bound.complaint(499.0).unwrap();
        assert_eq!(complaint, "sends bursts of 1581 bytes beyond 500 kbps, where 1518 are allowed");
    }
}
