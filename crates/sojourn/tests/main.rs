//! The tests of what the library shows, in one program: it is linked once.

#![allow(unreachable_pub, reason = "the fuzz targets use some of these rooms")]

mod common;
mod queue_kit;
mod queue_low_latency;

mod causes;
mod clocks;
mod closed_form;
mod cmts;
mod columns;
mod conservation;
mod determinism;
mod fibre;
mod hops;
mod kernel_verdicts;
mod keys;
mod lapses;
mod layers;
mod linux_tcp;
mod low_latency;
mod modem_config;
mod modem_config_fuzz;
mod modem_trace;
mod network;
mod ns2_traces;
mod outside;
mod pacing;
mod plant_faults;
mod plant_timing;
mod provision;
mod provision_return;
mod qoe;
mod queue_abb;
mod queue_dualq;
mod queue_finish_tags;
mod queue_fuzz;
mod queue_keys;
mod queue_properties;
mod queue_rounds;
mod queue_signals;
mod queue_table;
mod quic;
mod replay;
mod scenario_files;
mod scheduling_services;
mod series;
mod shared_channel;
mod swarm;
mod time_parts;
mod traffic;
mod transport;
mod two_queues;
mod two_way;
mod verdict;
mod warm_up;
