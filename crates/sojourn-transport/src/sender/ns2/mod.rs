//! The sending halves of ns-2.35's agents, which only the dialect `ns2` has. Nothing else needs this room.

mod full;
mod linux;
mod one_way;

pub(super) use full::FullSender;
pub(super) use linux::Ns2LinuxSender;
pub(super) use one_way::Ns2Sender;
