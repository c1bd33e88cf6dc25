//! What keeps the loop from waiting for other programs: priority, memory that stays, exact timers.

use nix::sys::mman::{MlockAllFlags, mlockall, munlockall};
use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{Resource, getrlimit};

/// Above ordinary threads, and below what the kernel itself runs as real-time threads.
const PRIORITY: i32 = 40;

/// Gives this thread the priority of real time; false if the system does not permit it.
#[allow(unsafe_code)]
pub(crate) fn raise_priority() -> bool {
    // A timer of an ordinary thread may be 50 us late; one of a real-time thread has no such slack.
    let _ = set_timerslack(1);
    // SAFETY: `sched_param` is plain data, for which all zeros are valid.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    let policy = libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK;
    // SAFETY: the call reads the parameters, which outlive it; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, policy, &parameters) == 0 }
}

/// Memory of the process that is not paged out while this lives.
pub(crate) struct LockedMemory;

impl LockedMemory {
    /// None if the system does not permit it. Under a limit that this process could still reach, memory is not locked: what
    /// it allocates later would fail.
    pub(crate) fn new() -> Option<Self> {
        let (limit, _) = getrlimit(Resource::RLIMIT_MEMLOCK).ok()?;
        if (SMALL_BYTES..libc::RLIM_INFINITY).contains(&limit) {
            return None;
        }
        let pages = MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE | on_fault();
        mlockall(pages).ok().map(|()| Self)
    }
}

/// Less than any process of this program: only one that is not bound by the limit passes it.
const SMALL_BYTES: u64 = 1 << 27;

/// Pages are locked when they are touched first.
fn on_fault() -> MlockAllFlags {
    MlockAllFlags::from_bits_retain(libc::MCL_ONFAULT)
}

impl Drop for LockedMemory {
    fn drop(&mut self) {
        let _ = munlockall();
    }
}
