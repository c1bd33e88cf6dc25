//! A way out of the server's network into that of this process: `slirp4netns`, which opens a connection of its own for each of
//! a program. It has no rule, route or interface in this network, so nothing is left of it when it is killed.

use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{getpid, getppid, pipe2, read};

use crate::error::{Error, Result};

const PROGRAM: &str = "slirp4netns";
/// The interface that it makes in the server's network.
pub(crate) const NAME: &str = "uplink0";
/// Where it answers queries for names.
pub(crate) const RESOLVER: &str = "10.0.2.3";

/// The way out, while this lives. The program dies with the thread that started it.
pub struct Uplink {
    /// None when it is to end.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Uplink {
    /// Leads out of this network namespace, which has a path.
    pub(crate) fn start(namespace: String) -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let live = move || {
            let _ = match started(&namespace) {
                Ok(child) => ready.send(Ok(())).map(|()| wait(child, &stopped)),
                Err(error) => ready.send(Err(error)),
            };
        };
        let thread = thread::Builder::new().name("sojourn-uplink".to_owned()).spawn(live);
        let thread = thread.map_err(Error::of_io("cannot start a thread"))?;
        let new = Self { stop: Some(stop), thread: Some(thread) };
        is_ready.recv().map_err(|_| Error::new("a thread ended early"))??;
        Ok(new)
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn wait(mut child: Child, stopped: &Receiver<()>) {
    let _ = stopped.recv();
    let _ = child.kill();
    let _ = child.wait();
}

/// The program, once its interface is there.
fn started(namespace: &str) -> Result<Child> {
    let (is_ready, ready) = pipe2(OFlag::O_CLOEXEC).map_err(Error::of("cannot make a pipe"))?;
    let mut command = Command::new(PROGRAM);
    command.args(["--configure", "--mtu=1500", "--disable-host-loopback"]);
    command.arg(format!("--ready-fd={}", ready.as_raw_fd()));
    command.args(["--netns-type=path", namespace, NAME]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let (parent, kept) = (getpid(), ready.as_raw_fd());
    // SAFETY: these are system calls alone, between fork and exec.
    #[allow(unsafe_code)]
    unsafe {
        command.pre_exec(move || {
            set_pdeathsig(Signal::SIGKILL)?;
            if getppid() != parent {
                return Err(io::ErrorKind::BrokenPipe.into());
            }
            let kept = std::os::fd::BorrowedFd::borrow_raw(kept);
            fcntl(kept, FcntlArg::F_SETFD(FdFlag::empty()))?;
            Ok(())
        });
    }
    let child = command.spawn().map_err(|error| Error::new(not_started(&error)))?;
    drop(ready);
    has_begun(child, is_ready)
}

fn has_begun(mut child: Child, is_ready: OwnedFd) -> Result<Child> {
    let mut said = [0];
    if read(&is_ready, &mut said) == Ok(1) {
        return Ok(child);
    }
    let mut complaint = String::new();
    if let Some(mut from) = child.stderr.take() {
        let _ = from.read_to_string(&mut complaint);
    }
    let _ = child.wait();
    let why = complaint.lines().last().unwrap_or("it ended");
    Err(Error::new(format!("{PROGRAM}: cannot lead out of the server's network: {why}")))
}

fn not_started(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!(
            "{PROGRAM}: found no such program, which an uplink needs; install it: \
             sudo apt-get install {PROGRAM}"
        ),
        _ => format!("{PROGRAM}: cannot start: {error}"),
    }
}
