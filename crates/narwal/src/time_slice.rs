//! How long the kernel lets a thread that answers clients run before others have their turn.

use std::io;
use std::mem::{size_of, zeroed};
use std::time::Duration;

/// Asks the kernel for turns of this length for all threads of this process, and for those that they start from now on.
///
/// A thread that asks for short turns gets no more of the processors, but gets them sooner: it comes before one with longer
/// turns when it has been woken (sched_setattr(2), `sched_runtime` of a thread under SCHED_OTHER; sched-design-EEVDF in the
/// kernel's documentation). A statement takes microseconds, the usual turn is about 3 ms, so this shortens what statements
/// wait for each other, for clients on the same machine, and for checkpoints. The kernel takes 0.1 to 100 ms, others as the
/// nearest of these; a kernel before 6.12 takes no notice.
///
/// # Errors
/// What the kernel says; a thread under a policy other than SCHED_OTHER and SCHED_BATCH is left alone
/// ([`io::ErrorKind::Unsupported`]), since somebody has chosen that.
#[cfg(target_os = "linux")]
pub(crate) fn set(turn: Duration) -> io::Result<()> {
    // One that ends meanwhile, or has a policy of its own, is no reason to leave out the others.
    for task in std::fs::read_dir("/proc/self/task")?.flatten() {
        if let Some(tid) = task.file_name().to_str().and_then(|t| t.parse().ok()) {
            let _ = set_thread(tid, turn);
        }
    }
    set_thread(0, turn)
}

/// 0: the calling thread.
#[cfg(target_os = "linux")]
fn set_thread(tid: libc::pid_t, turn: Duration) -> io::Result<()> {
    let mut now = get(tid)?;
    let fair = [libc::SCHED_OTHER, libc::SCHED_BATCH];
    if !fair
        .iter()
        .any(|p| u32::try_from(*p) == Ok(now.sched_policy))
    {
        return Err(io::ErrorKind::Unsupported.into());
    }
    now.sched_runtime = u64::try_from(turn.as_nanos()).unwrap_or(u64::MAX);
    // SAFETY: the kernel reads `size` bytes of a struct that lives across the call, and `size` is the struct's own.
    let done = unsafe { libc::syscall(libc::SYS_sched_setattr, tid, &raw const now, 0) };
    if done == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// How a thread is scheduled: policy, nice value and turns stay as they are when this is given back.
#[cfg(target_os = "linux")]
fn get(tid: libc::pid_t) -> io::Result<libc::sched_attr> {
    // SAFETY: a struct of plain numbers, for which zero is a value.
    let mut attr: libc::sched_attr = unsafe { zeroed() };
    let size = size_of::<libc::sched_attr>();
    // SAFETY: the kernel writes at most `size` bytes into a struct of that size that lives across the call.
    let done = unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut attr, size, 0) };
    if done == 0 {
        Ok(attr)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Other systems have no such thing.
#[cfg(not(target_os = "linux"))]
pub(crate) fn set(_: Duration) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn all_threads_and_those_they_start_have_the_turns_and_all_else_as_it_was() {
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let other = std::thread::spawn(move || {
            let before = get(0).unwrap();
            let _ = asked.recv();
            let child = std::thread::spawn(|| get(0).unwrap()).join().unwrap();
            (before, get(0).unwrap(), child)
        });
        set(Duration::from_micros(300)).unwrap();
        let own = get(0).unwrap();
        ask.send(()).unwrap();
        let (before, after, child) = other.join().unwrap();
        for attr in [&own, &after, &child] {
            assert_eq!(attr.sched_policy, before.sched_policy);
            assert_eq!(attr.sched_nice, before.sched_nice);
            // Kernels before 6.12 have no turns to tell.
            if before.sched_runtime != 0 {
                assert_eq!(attr.sched_runtime, 300_000);
            }
        }
    }

    #[test]
    fn a_policy_that_somebody_has_chosen_stays() {
        let seen = std::thread::spawn(|| {
            let param = libc::sched_param { sched_priority: 0 };
            // SAFETY: the kernel reads a struct that lives across the call.
            let idle = unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &raw const param) };
            assert_eq!(idle, 0);
            let refused = set(Duration::from_micros(300)).map_err(|e| e.kind());
            (refused, get(0).unwrap().sched_policy)
        });
        let (refused, policy) = seen.join().unwrap();
        assert_eq!(refused, Err(io::ErrorKind::Unsupported));
        assert_eq!(u32::try_from(libc::SCHED_IDLE), Ok(policy));
    }
}
