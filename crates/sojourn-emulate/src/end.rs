//! One end of a line: a network namespace with a device, and a thread that lives in it.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getpid, gettid};

use crate::device::{self, Device};
use crate::error::{Error, Result};
use crate::hosts::set_names;
use crate::place::Place;
use crate::program::{Program, Streams};
use crate::sockets;
use crate::uplink::Uplink;

type Work = Box<dyn FnOnce() + Send>;

/// A network namespace. It has no name, and ends with this value and all programs in it.
pub struct End {
    place: Place,
    device: Arc<Device>,
    /// None when it is to end.
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl End {
    /// Makes a namespace in which all `places` are known by their names. What goes beyond them has no way, or leads to the
    /// place of this address.
    pub fn new(place: &Place, places: &Arc<[Place]>, out: Option<Ipv4Addr>) -> Result<Self> {
        let (sender, receiver) = mpsc::channel::<Work>();
        let (ready, is_ready) = mpsc::channel();
        let (own, all) = (place.clone(), Arc::clone(places));
        let live = move || {
            let _ = ready.send(enter(&own, &all, out));
            receiver.into_iter().for_each(|work| work());
        };
        let thread = thread::Builder::new().name(format!("sojourn-{}", place.ipv4)).spawn(live);
        let thread = thread.map_err(Error::of_io("cannot start a thread"))?;
        let device = is_ready.recv().map_err(|_| Error::new("a thread ended early"))??;
        let place = place.clone();
        Ok(Self { place, device: Arc::new(device), work: Some(sender), thread: Some(thread) })
    }

    /// Starts a program here.
    pub fn start(&self, words: Vec<String>, streams: Streams) -> Result<Program> {
        self.inside(move || Program::start(&words, streams))?
    }

    /// Leads packets of all homes out into the network of this process.
    pub fn lead_out(&self) -> Result<Uplink> {
        let thread = self.inside(gettid)?;
        let uplink = Uplink::start(format!("/proc/{}/task/{thread}/ns/net", getpid()))?;
        self.inside(device::lead_out)?.map_err(Error::of_io("cannot lead out"))?;
        Ok(uplink)
    }

    /// Passes packets of one home on to another.
    pub fn forward(&self) -> Result<()> {
        self.inside(device::forward)?.map_err(Error::of_io("cannot forward between homes"))
    }

    /// Does any program here wait at a port, of TCP or UDP?
    pub fn listens(&self) -> bool {
        self.inside(sockets::any_listens).unwrap_or(false)
    }

    /// Packets of programs here that nobody read in time, so that they never reached the line.
    pub fn dropped_packets(&self) -> u64 {
        self.inside(device::dropped_packets).unwrap_or(0)
    }

    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    pub(crate) fn device(&self) -> Arc<Device> {
        Arc::clone(&self.device)
    }

    /// Does this in the namespace's thread.
    fn inside<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, receiver) = mpsc::channel();
        let work: Work = Box::new(move || drop(sender.send(work())));
        let thread = self.work.as_ref().expect("it has not ended");
        let ended = |_| Error::new("the thread of a namespace has ended");
        thread.send(work).map_err(|_| ended(mpsc::RecvError))?;
        receiver.recv().map_err(ended)
    }
}

impl Drop for End {
    fn drop(&mut self) {
        self.work = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn enter(place: &Place, places: &[Place], out: Option<Ipv4Addr>) -> Result<Device> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).map_err(no_namespace)?;
    set_names(places, out.is_some())?;
    let device = Device::open(place)?;
    if let Some(gateway) = out.filter(|gateway| *gateway != place.ipv4) {
        device::route_out(gateway).map_err(Error::of_io("cannot route beyond the ends"))?;
    }
    Ok(device)
}

fn no_namespace(errno: Errno) -> Error {
    match errno {
        Errno::EPERM => Error::new(
            "found no right to make network namespaces; allowed: root, or any user with: \
             unshare --user --map-root-user COMMAND",
        ),
        _ => Error::of("cannot make a network namespace")(errno),
    }
}
