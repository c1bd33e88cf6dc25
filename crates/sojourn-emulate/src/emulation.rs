//! The loop that carries packets between homes and a server in real time.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use sojourn::outside::{Arrived, Direction, Lost, Time};

use crate::clock::{Clock, duration};
use crate::device::Device;
use crate::end::End;
use crate::error::{Error, Result};
use crate::ip::{destination, set_ace, set_class, stays_on_link};
use crate::lateness::Lateness;
use crate::line::Line;
use crate::payloads::{Payload, Payloads};
use crate::place::Place;
use crate::real_time::{LockedMemory, raise_priority};

/// What was carried so far, for whoever watches.
#[derive(Default)]
pub struct Carried {
    /// The longest lateness since it was read last, in ns.
    latest_ns: AtomicU64,
}

impl Carried {
    /// The longest lateness in ms since the last call.
    pub fn latest_ms(&self) -> f64 {
        self.latest_ns.swap(0, Relaxed) as f64 * 1e-6
    }
}

/// What an emulation came to.
#[derive(Default)]
pub struct Outcome {
    /// How late packets were read and delivered.
    pub lateness: Lateness,
    /// How long it lasted.
    pub lasted: Time,
    /// How long the line could not keep up with the wall clock: the turns of the loop that ended more than 1 ms after they
    /// were due.
    pub behind: Time,
    /// The longest of them.
    pub most_behind: Time,
    /// Packets that are not of IPv4 or IPv6, or that the line does not carry.
    pub refused_packets: u64,
    /// Packets for the link alone, which no router forwards.
    pub link_packets: u64,
    /// Packets that a device did not take.
    pub unwritten_packets: u64,
    /// Packets on the line at the end.
    pub inside_packets: u64,
    /// Has it the priority of real time?
    pub has_priority: bool,
    /// Is its memory locked?
    pub has_locked_memory: bool,
    /// How long the machine was suspended, if it was.
    pub suspended: Option<Duration>,
}

/// A longer turn of the loop leaves packets waiting.
const BEHIND: Time = Time::from_ms(1);

/// A line that carries packets between homes and a server, until it is stopped.
pub struct Emulation<L> {
    stop: Arc<Stop>,
    carried: Arc<Carried>,
    /// None once it has been joined.
    thread: Option<JoinHandle<(L, Outcome)>>,
}

struct Stop {
    is_over: AtomicBool,
    bell: EventFd,
}

impl<L: Line> Emulation<L> {
    /// Starts to carry packets between these homes, by their numbers, and the server. Simulated time is zero now.
    pub fn start(line: L, homes: &[&End], server: &End) -> Result<Self> {
        let bell = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .map_err(Error::of("cannot make an event"))?;
        let stop = Arc::new(Stop { is_over: AtomicBool::new(false), bell });
        let carried = Arc::new(Carried::default());
        let devices = homes.iter().copied().chain([server]).map(End::device).collect();
        let homes = homes.iter().map(|home| home.place().clone()).collect();
        let (its_stop, its_carried) = (Arc::clone(&stop), Arc::clone(&carried));
        let carry = move || Loop::new(line, homes, devices, its_stop, its_carried).run();
        let thread = thread::Builder::new().name("sojourn-line".to_owned()).spawn(carry);
        let thread = thread.map_err(Error::of_io("cannot start a thread"))?;
        Ok(Self { stop, carried, thread: Some(thread) })
    }

    /// What was carried so far.
    pub fn carried(&self) -> &Carried {
        &self.carried
    }

    /// Has it ended by itself, because the line could not go on or the machine was suspended?
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends it, and gives the line back.
    ///
    /// # Errors The panic of the line.
    pub fn stop(mut self) -> thread::Result<(L, Outcome)> {
        self.ring();
        self.thread.take().expect("it is joined here or when it is dropped").join()
    }
}

impl<L> Emulation<L> {
    fn ring(&self) {
        self.stop.is_over.store(true, Relaxed);
        let _ = self.stop.bell.write(1);
    }
}

impl<L> Drop for Emulation<L> {
    fn drop(&mut self) {
        self.ring();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Packets that are read from a device before others have their turn.
const BATCH: usize = 64;
/// How far the line goes before what has arrived is delivered.
const STRIDE: Time = Time::from_us(250);
/// It sleeps no longer, so that it knows since when a packet may have waited if it wakes late.
const LONGEST_SLEEP: Time = Time::from_us(500);
/// A shorter sleep is none: there was something already.
const SLEPT: Time = Time::from_us(20);
/// How often the machine's sleep is looked for, and watchers see something new.
const LOOK_EACH: Time = Time::from_ms(100);
/// More than the MTU.
const BUFFER_BYTES: usize = 2048;

struct Loop<L> {
    line: L,
    homes: Vec<Place>,
    /// Those of the homes, and behind them that of the server.
    devices: Vec<Arc<Device>>,
    stop: Arc<Stop>,
    carried: Arc<Carried>,
    clock: Clock,
    payloads: Payloads,
    arrived: Vec<Arrived>,
    lost: Vec<Lost>,
    looked: Time,
    /// When this turn was due.
    due: Time,
    /// Until when no packet waited unread at each device.
    watched: Vec<Time>,
    outcome: Outcome,
}

impl<L: Line> Loop<L> {
    fn new(
        line: L,
        homes: Vec<Place>,
        devices: Vec<Arc<Device>>,
        stop: Arc<Stop>,
        carried: Arc<Carried>,
    ) -> Self {
        let watched = vec![Time::ZERO; devices.len()];
        Self {
            line,
            homes,
            devices,
            stop,
            carried,
            clock: Clock::start(),
            payloads: Payloads::default(),
            arrived: Vec::new(),
            lost: Vec::new(),
            looked: Time::ZERO,
            due: Time::ZERO,
            watched,
            outcome: Outcome::default(),
        }
    }

    fn run(mut self) -> (L, Outcome) {
        let memory = LockedMemory::new();
        self.outcome.has_locked_memory = memory.is_some();
        self.outcome.has_priority = raise_priority();
        self.clock = Clock::start();
        let (devices, stop) = (self.devices.clone(), Arc::clone(&self.stop));
        let files = devices.iter().map(|device| device.as_fd()).chain([stop.bell.as_fd()]);
        let mut files: Vec<_> = files.map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
        let mut goes_on = true;
        while goes_on && !self.stop.is_over.load(Relaxed) {
            goes_on = self.turn(&mut files);
        }
        self.outcome.lasted = self.line.now();
        self.outcome.inside_packets = self.payloads.len() as u64;
        (self.line, self.outcome)
    }

    /// False if the line ends.
    fn turn(&mut self, files: &mut [PollFd<'_>]) -> bool {
        let goes_on =
            (0..self.devices.len()).all(|end| self.read(end)) && self.advance(self.clock.now());
        let now = self.clock.now();
        self.count_behind(now.since(self.due));
        if now >= self.looked + LOOK_EACH {
            self.looked = now;
            self.line.look();
            self.outcome.suspended = self.clock.suspended();
        }
        self.wait(files);
        goes_on && self.outcome.suspended.is_none()
    }

    /// What programs have sent enters the line.
    fn read(&mut self, end: usize) -> bool {
        let mut buffer = [0; BUFFER_BYTES];
        let device = Arc::clone(&self.devices[end]);
        for _ in 0..BATCH {
            let began = self.clock.now();
            let Ok(Some(packet)) = device.read(&mut buffer) else {
                self.watched[end] = began;
                return true;
            };
            if !self.enter(end, packet) {
                return false;
            }
        }
        true
    }

    fn enter(&mut self, end: usize, packet: &[u8]) -> bool {
        if stays_on_link(packet) {
            self.outcome.link_packets += 1;
            return true;
        }
        let at = self.clock.now().max(self.line.now());
        if !self.advance(at) {
            return false;
        }
        let handle = self.payloads.next();
        let server = self.homes.len();
        let (home, direction, to) = if end == server {
            let home = self.home_of(packet);
            (home, Direction::Down, home)
        } else {
            (end, Direction::Up, server)
        };
        if self.line.inject(at, home, direction, packet, handle) {
            self.payloads.keep(packet, at.since(self.watched[end].min(at)), to);
        } else {
            self.outcome.refused_packets += 1;
        }
        self.deliver();
        true
    }

    /// The home that a packet of the server goes to. Networks that programs make behind a home are those of the first.
    fn home_of(&self, packet: &[u8]) -> usize {
        let home = |to| self.homes.iter().position(|home| home.has(to));
        destination(packet).and_then(home).unwrap_or(0)
    }

    fn count_behind(&mut self, took: Time) {
        if took > BEHIND {
            self.outcome.behind += took;
            self.outcome.most_behind = self.outcome.most_behind.max(took);
        }
    }

    /// The line goes on, and delivers meanwhile.
    fn advance(&mut self, to: Time) -> bool {
        while self.line.now() < to {
            let step = to.min(self.line.now() + STRIDE);
            if !self.line.run_until(step) {
                return false;
            }
            self.deliver();
        }
        true
    }

    fn deliver(&mut self) {
        self.line.arrived(&mut self.arrived);
        let mut arrived = std::mem::take(&mut self.arrived);
        for one in arrived.drain(..) {
            self.write(one);
        }
        self.arrived = arrived;
        self.line.lost(&mut self.lost);
        for lost in self.lost.drain(..) {
            if let Some(payload) = self.payloads.take(lost.handle) {
                self.payloads.give_back(payload.bytes);
            }
        }
    }

    fn write(&mut self, arrived: Arrived) {
        let Some(payload) = self.payloads.take(arrived.handle) else { return };
        let Payload { bytes: mut packet, waited, to } = payload;
        set_class(&mut packet, arrived.dscp, arrived.ecn);
        if let Some(flags) = arrived.ace {
            set_ace(&mut packet, flags);
        }
        if !self.devices[to].write(&packet) {
            self.outcome.unwritten_packets += 1;
        }
        let late = waited + self.clock.now().since(arrived.at);
        self.outcome.lateness.record(late);
        self.carried.latest_ns.fetch_max(late.ps() / 1000, Relaxed);
        self.payloads.give_back(packet);
    }

    /// Sleeps until something is due: on the line, at a device, or the end.
    fn wait(&mut self, files: &mut [PollFd<'_>]) {
        let now = self.clock.now();
        let next = self.line.next_wake().min(now + LONGEST_SLEEP);
        self.due = now;
        if next <= now {
            return;
        }
        // It ends early by a signal, which is as well.
        let _ = ppoll(files, Some(duration(next.since(now)).into()), None);
        let woke = self.clock.now();
        self.due = next.min(woke);
        let did_not_sleep = woke.since(now) < SLEPT;
        for (watched, file) in self.watched.iter_mut().zip(files) {
            // What came while it slept has woken it; what had come before waits since it was read last.
            if !(did_not_sleep && file.any() == Some(true)) {
                *watched = self.due;
            }
        }
    }
}
