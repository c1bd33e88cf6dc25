//! Checks that queues and bursts have room for one packet; without it nothing would ever pass.

use super::acks::Acks;
use super::{QueueSpec, SchedulerSpec, default_limit_bytes};
use crate::packet::FULL_PACKET;
use crate::units::BitRate;
use sojourn_input::problem::{Fault, Faults};

/// How much room a packet needs.
pub struct Room {
    /// Size of the largest packet in bytes.
    pub largest: u64,
    /// Must a queue stay below its limit? (ns-2.35 queue/drop-tail.cc)
    pub exclusive: bool,
}

impl Room {
    /// Size in bytes of the largest packet, and at least that of a full Ethernet packet.
    pub fn packet(&self) -> u64 {
        self.largest.max(FULL_PACKET)
    }

    /// The smallest limit of a queue that must hold `packet` bytes.
    pub fn least(&self, packet: u64) -> u64 {
        packet + u64::from(self.exclusive)
    }

    /// A burst must let the largest packet pass.
    pub fn check_burst(&self, burst_bytes: u64) -> Result<(), Fault> {
        if burst_bytes >= self.packet() {
            return Ok(());
        }
        let allowed = format!("{} or more, the size of the largest packet", self.packet());
        Err(Fault::new("burst_bytes", format!("found {burst_bytes}; allowed: {allowed}")))
    }

    fn allowed(&self, packet: u64) -> String {
        let reason = if self.exclusive {
            "so that one packet fits below the limit, which the ns2 dialect never reaches"
        } else {
            "so that one packet fits"
        };
        format!("allowed: {} or more, {reason}", self.least(packet))
    }
}

impl QueueSpec {
    /// Checks that this queue, in front of a link of this rate, can pass the largest packet. Fault
    /// paths start with a key of the queue.
    pub fn check(&self, room: &Room, rate: BitRate) -> Faults {
        let mut faults = Faults::default();
        let unlimited = self.limit_bytes.is_none() && self.limit_packets.is_none();
        let default = default_limit_bytes(rate);
        let has_default = unlimited && !self.scheduler.parameters().limits_itself();
        if has_default && default < room.least(room.packet()) {
            let message = format!(
                "unset, so {default} bytes (250 ms at the sustained rate) apply; {}",
                room.allowed(room.packet()),
            );
            faults.add(Fault::new("limit_bytes", message));
        }
        let limits = [
            ("limit_bytes", self.limit_bytes, room.packet()),
            ("limit_packets", self.limit_packets, 1),
        ];
        for (key, limit, packet) in limits {
            if let Some(limit) = limit.filter(|limit| *limit < room.least(packet)) {
                faults.add(Fault::new(key, format!("found {limit}; {}", room.allowed(packet))));
            }
        }
        faults.add_under("law", self.law.parameters().check(rate.time_for(FULL_PACKET)));
        if self.acks != Acks::default() && matches!(self.scheduler, SchedulerSpec::LowLatency(_)) {
            let message = "found with the scheduler low_latency; allowed: unset, since its flows have \
                           queues of their own";
            faults.add(Fault::new("acks", message));
        }
        if let SchedulerSpec::LowLatency(keys) = &self.scheduler {
            faults.add_under("scheduler", keys.check_member_rates(rate));
        }
        faults.add_under("scheduler", self.scheduler.parameters().check(&self.law, room.largest));
        faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{AqmSpec, Parameters};

    const RFC: Room = Room { largest: 64, exclusive: false };
    const NS2: Room = Room { exclusive: true, ..RFC };
    const JUMBO: Room = Room { largest: 9018, exclusive: false };

    /// The keys at fault before a link of so many bit/s.
    fn keys_at_fault(queue: &QueueSpec, room: &Room, bps: u64) -> Vec<String> {
        let faults = queue.check(room, BitRate::from_bps(bps)).into_iter();
        faults.map(|fault| fault.path).collect()
    }

    #[test]
    fn a_limit_holds_the_largest_packet() {
        const FAST: u64 = 10_000_000;
        for (room, least_bytes, least_packets) in [(RFC, 1522, 1), (NS2, 1523, 2), (JUMBO, 9018, 1)]
        {
            let of = |limit_bytes, limit_packets| {
                let queue = QueueSpec { limit_bytes, limit_packets, ..QueueSpec::default() };
                keys_at_fault(&queue, &room, FAST)
            };
            assert!(of(Some(least_bytes), Some(least_packets)).is_empty());
            assert_eq!(of(Some(least_bytes - 1), None), ["limit_bytes"]);
            assert_eq!(of(None, Some(least_packets - 1)), ["limit_packets"]);
        }
    }

    /// 250 ms at 288 576 bit/s are 9018 bytes.
    #[test]
    fn a_default_limit_holds_the_largest_packet() {
        let (usual, bytes) = (QueueSpec::default, ["limit_bytes"]);
        assert!(keys_at_fault(&usual(), &JUMBO, 288_576).is_empty());
        assert_eq!(keys_at_fault(&usual(), &JUMBO, 288_543), bytes);
        assert_eq!(keys_at_fault(&usual(), &Room { exclusive: true, ..JUMBO }, 288_576), bytes);
        let reported =
            usual().check(&JUMBO, BitRate::from_bps(200_000)).into_iter().next().unwrap().message;
        assert!(reported.contains("6250 bytes") && reported.contains("9018 or more"), "{reported}");
        // It does not apply beside a limit in packets, or where the scheduler has limits of its own.
        assert!(
            keys_at_fault(&QueueSpec { limit_packets: Some(9), ..usual() }, &JUMBO, 1000)
                .is_empty()
        );
        let low =
            QueueSpec { scheduler: SchedulerSpec::LowLatency(Parameters::default()), ..usual() };
        assert!(keys_at_fault(&low, &JUMBO, 1000).is_empty());
    }

    #[test]
    fn a_burst_holds_the_largest_packet() {
        for (room, least) in [(RFC, 1522), (NS2, 1522), (JUMBO, 9018)] {
            assert!(room.check_burst(least).is_ok());
            assert!(room.check_burst(least - 1).is_err());
        }
    }

    #[test]
    fn all_parts_of_a_queue_are_checked() {
        let mut queue = QueueSpec {
            scheduler: SchedulerSpec::LowLatency(Parameters {
                low_latency_mbps: Some(9.0),
                classic_buffer_bytes: Some(2000),
                ..Parameters::default()
            }),
            acks: Acks::Prioritised,
            ..QueueSpec::default()
        };
        let keys = ["acks", "scheduler.low_latency_mbps", "scheduler.classic_buffer_bytes"];
        assert_eq!(keys_at_fault(&queue, &JUMBO, 8_000_000), keys);
        queue.acks = Acks::InOrder;
        assert_eq!(keys_at_fault(&queue, &JUMBO, 8_000_000), keys[1..]);
        let prioritised = QueueSpec { acks: Acks::Prioritised, ..QueueSpec::default() };
        assert!(keys_at_fault(&prioritised, &RFC, 8_000_000).is_empty());
        let law = crate::aqm::red::Parameters {
            min_threshold_packets: Some(9.0),
            max_threshold_packets: Some(8.0),
            ..Default::default()
        };
        let red = QueueSpec { law: AqmSpec::Red(law), ..QueueSpec::default() };
        assert_eq!(keys_at_fault(&red, &RFC, 8_000_000), ["law.max_threshold_packets"]);
    }
}
