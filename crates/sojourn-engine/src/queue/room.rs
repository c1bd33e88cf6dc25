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
