//! Real programs on a simulated line, in real time.
//!
//! A program runs in a network namespace of its own, and its other end in a second one; so do programs
//! of further homes. Each has a TUN device, and whatever leaves by one of them crosses the line, as
//! packets of a simulation whose time is that of the wall clock, before it arrives at the other. Namespaces have no names, so they
//! end with the processes in them, and all processes end with the one that started them.
//!
//! - [`End`] is a network namespace with its device and the names of all ends; it starts programs.
//! - [`Line`] is what packets cross: a simulation, or a plain delay in tests.
//! - [`Emulation`] carries packets between homes and a server, and measures how late it is.
//!
//! Linux only.
#![cfg(target_os = "linux")]

mod background;
mod clock;
mod device;
mod emulation;
mod end;
mod error;
mod hosts;
mod ip;
mod lateness;
mod line;
mod payloads;
mod place;
mod program;
mod real_time;
mod sockets;
mod uplink;

pub use background::Background;
pub use emulation::{Carried, Emulation, Outcome};
pub use end::End;
pub use error::{Error, Result};
pub use lateness::Lateness;
pub use line::Line;
pub use place::Place;
pub use program::{Program, Streams};
pub use uplink::Uplink;
