//! Programs in a namespace, which end with all their children when the one that started them ends.
//!
//! ```text
//! sojourn ── warden ── init (1 of a namespace of processes) ── COMMAND ── its children
//! ```
//!
//! The warden dies with the thread that started it, and the init with the warden. When the first process of a namespace of
//! processes ends, the kernel kills all others in it. The init is there because signals that a first process does not
//! handle have no effect on it, so COMMAND must not be the first.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

use nix::errno::Errno;
use nix::libc::_exit;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SigHandler, SigSet, SigmaskHow, Signal, kill, signal, sigprocmask};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid, getppid, pipe2};

use crate::error::{Error, Result};

/// Where a program reads and writes; what is not given is that of this process.
#[derive(Default)]
pub struct Streams {
    /// Standard input.
    pub input: Option<OwnedFd>,
    /// Standard output.
    pub output: Option<OwnedFd>,
    /// Standard error.
    pub error: Option<OwnedFd>,
}

impl Streams {
    /// Copies of these descriptors of input, output and error.
    ///
    /// # Errors If one of them is not open.
    pub fn copies((input, output, error): Descriptors) -> io::Result<Self> {
        Ok(Self { input: copy(input)?, output: copy(output)?, error: copy(error)? })
    }
}

type Descriptors = (Option<RawFd>, Option<RawFd>, Option<RawFd>);

#[allow(unsafe_code)]
fn copy(descriptor: Option<RawFd>) -> io::Result<Option<OwnedFd>> {
    // SAFETY: the number is used for this call alone, which fails if nothing is open there.
    let copy = |number| unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
    descriptor.filter(|number| *number >= 0).map(copy).transpose()
}

/// A program that was started.
pub struct Program(Child);

impl Program {
    /// Starts a program in the namespaces of this thread, which has to live as long as it.
    pub(crate) fn start(words: &[String], streams: Streams) -> Result<Self> {
        let [name, arguments @ ..] = words else {
            return Err(Error::new("found no command; allowed: a program and its arguments"));
        };
        let mut command = Command::new(name);
        command.args(arguments);
        let stdio = |file: Option<OwnedFd>| file.map_or_else(Stdio::inherit, Stdio::from);
        command.stdin(stdio(streams.input));
        command.stdout(stdio(streams.output)).stderr(stdio(streams.error));
        let parent = getpid();
        // SAFETY: `confine` makes system calls alone, between fork and exec in a process with one thread.
        #[allow(unsafe_code)]
        unsafe {
            command.pre_exec(move || confine(parent));
        }
        let child = command.spawn().map_err(|error| Error::new(not_started(name, &error)))?;
        Ok(Self(child))
    }

    /// Its exit status as a shell has it, when it has ended: 128 and the number of the signal that ended it.
    pub fn poll(&mut self) -> Option<i32> {
        self.0.try_wait().ok().flatten().map(status)
    }

    /// Asks the program and all its children to end.
    pub fn terminate(&self) {
        let _ = kill(self.pid(), Signal::SIGTERM);
    }

    /// Ends the program and all its children.
    pub fn kill(&mut self) {
        if self.poll().is_none() {
            let _ = kill(self.pid(), Signal::SIGKILL);
            let _ = self.0.wait();
        }
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id() as i32)
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn status(of: ExitStatus) -> i32 {
    of.code().or(of.signal().map(|number| 128 + number)).unwrap_or(1)
}

fn not_started(name: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => {
            format!("{name}: found no such program; allowed: one of PATH, or its path")
        }
        io::ErrorKind::PermissionDenied => {
            format!("{name}: found a file that is no program; allowed: one that may be executed")
        }
        _ => format!("{name}: cannot start: {error}"),
    }
}

/// Returns in the process that becomes COMMAND; the two between it and the parent stay here.
fn confine(parent: Pid) -> io::Result<()> {
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::all()), None)?;
    set_pdeathsig(Signal::SIGKILL)?;
    if getppid() != parent {
        exit(128);
    }
    // SAFETY: the default is no code of this process.
    #[allow(unsafe_code)]
    unsafe {
        signal(Signal::SIGCHLD, SigHandler::SigDfl)?;
    }
    unshare(CloneFlags::CLONE_NEWPID)?;
    let (alive, warden) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    if let Some(init) = forked()? {
        close_all_but(warden.as_raw_fd());
        tend(init, init);
    }
    drop(warden);
    set_pdeathsig(Signal::SIGKILL)?;
    die_without(&alive);
    drop(alive);
    own_processes();
    if let Some(command) = forked()? {
        close_all_but(RawFd::MAX);
        tend(command, Pid::from_raw(-1));
    }
    sigprocmask(SigmaskHow::SIG_SETMASK, Some(&SigSet::empty()), None)?;
    Ok(())
}

/// The child's number in the parent.
#[allow(unsafe_code)]
fn forked() -> io::Result<Option<Pid>> {
    // SAFETY: this process has one thread, and the child goes on with system calls alone.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => Ok(Some(child)),
        ForkResult::Child => Ok(None),
    }
}

/// Ends this process if the warden has ended before its death could be announced.
fn die_without(alive: &OwnedFd) {
    let mut warden = [PollFd::new(alive.as_fd(), PollFlags::POLLIN)];
    if poll(&mut warden, PollTimeout::ZERO) != Ok(0) {
        exit(128);
    }
}

/// `/proc` shows the processes of this namespace, where the system permits it.
fn own_processes() {
    let nothing: Option<&str> = None;
    if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
        let _ = mount(Some("proc"), "/proc", Some("proc"), flags, nothing);
    }
}

/// Files of the parent do not stay open in processes that only wait.
#[allow(unsafe_code)]
fn close_all_but(kept: RawFd) {
    let close = |first: u32, last: u32| {
        // SAFETY: this process uses none of these descriptors again.
        unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) };
    };
    let kept = kept as u32;
    if kept > FIRST {
        close(FIRST, kept - 1);
    }
    close(kept.saturating_add(1).max(FIRST), u32::MAX);
}

/// Above the standard streams.
const FIRST: u32 = 3;

/// Waits for a child, passes on that it should end, and ends as it did.
fn tend(child: Pid, whom: Pid) -> ! {
    let mut awaited = SigSet::empty();
    awaited.add(Signal::SIGCHLD);
    awaited.add(Signal::SIGTERM);
    loop {
        if awaited.wait() == Ok(Signal::SIGTERM) {
            let _ = kill(whom, Signal::SIGTERM);
        }
        reap(child);
    }
}

/// Takes note of all children that have ended; if `child` is among them, so does this process.
fn reap(child: Pid) {
    loop {
        match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(of, code)) if of == child => exit(code),
            Ok(WaitStatus::Signaled(of, number, _)) if of == child => exit(128 + number as i32),
            Ok(WaitStatus::StillAlive) | Err(Errno::ECHILD) => return,
            _ => {}
        }
    }
}

#[allow(unsafe_code)]
fn exit(status: i32) -> ! {
    // SAFETY: the call runs no code of the process that was copied.
    unsafe { _exit(status) }
}
