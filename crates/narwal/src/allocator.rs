//! The C library's allocator, told to keep its memory together.

use std::time::Duration;

/// What is at least so large is memory of its own, and goes back when it is freed.
const LARGE: i32 = 1 << 20;

/// Tells the allocator to take memory from few places, and to give it back.
///
/// Fewer arenas than the eight a processor that glibc would make: each keeps what was freed in it for itself, and a server with
/// many connections would hold a third more memory than it uses. More than one a processor, so that threads seldom meet. And
/// sizes that stay: by itself glibc keeps ever larger ones once they were freed, and twice as much at an arena's end.
///
/// To be called before other threads are there. Returns whether the allocator took it; others than glibc's are left as they are.
pub(crate) fn keep_together() -> bool {
    let arenas = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    let arenas = i32::try_from(arenas).unwrap_or(i32::MAX);
    tell(arenas)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn tell(arenas: i32) -> bool {
    let all = [
        (libc::M_ARENA_MAX, arenas),
        (libc::M_MMAP_THRESHOLD, LARGE),
        (libc::M_TRIM_THRESHOLD, 2 * LARGE),
    ];
    // SAFETY: mallopt takes two numbers and touches no memory of ours; glibc documents it as unsafe only against other threads
    // that allocate meanwhile, and main calls this before it makes any.
    all.iter()
        .all(|(what, n)| unsafe { libc::mallopt(*what, *n) == 1 })
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn tell(_: i32) -> bool {
    false
}

/// How often the size of the process is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Starts a thread that gives back what the allocator keeps free, whenever the process comes near `budget` bytes, or near
/// `limit`, what it may take at all. It keeps the more the more arenas there are, and what one statement freed may be of no use
/// to the next one in another arena. It tells the accountant of memory how large the process is, which knows what was asked for
/// but not what that takes; and it takes the reserve again after it was used.
pub(crate) fn stay_within(budget: u64, limit: u64) {
    narwal_memory::set_limit(limit);
    narwal_memory::ask_system_by(crate::reserve::system_has);
    crate::reserve::take();
    let thread = std::thread::Builder::new().name("narwal-trim".into());
    let watch = move || {
        let mut trims = [Trims::new(budget), Trims::new(limit)];
        loop {
            std::thread::sleep(LOOK);
            let Some(before) = resident() else {
                return;
            };
            narwal_memory::set_size(before);
            let worth = trims.each_mut().map(|t| t.worth(before));
            if worth.contains(&true) {
                trim();
                let after = resident().unwrap_or(before);
                narwal_memory::set_size(after);
                for (t, _) in trims.iter_mut().zip(worth).filter(|(_, worth)| *worth) {
                    t.done(before, after);
                }
            }
            if narwal_memory::is_exhausted() && crate::reserve::take() {
                narwal_memory::set_exhausted(false);
            }
        }
    };
    if let Err(e) = thread.spawn(watch) {
        tracing::warn!("no thread to give free memory back: {e}");
    }
}

/// When to give memory back.
struct Trims {
    /// Bytes of the process from which on it is worth a try.
    near: u64,
    /// The size behind the last try, and how much more makes the next one worth it: the more, the less came of it.
    last: Option<(u64, u64)>,
}

impl Trims {
    fn new(budget: u64) -> Self {
        Trims {
            near: budget / 16 * 13,
            last: None,
        }
    }

    fn step(&self) -> u64 {
        self.near / 64
    }

    fn worth(&mut self, resident: u64) -> bool {
        if resident < self.near - 4 * self.step() {
            self.last = None;
        }
        resident > self.near && self.last.is_none_or(|(size, more)| resident > size + more)
    }

    fn done(&mut self, before: u64, after: u64) {
        let more = match self.last {
            Some((_, more)) if before < after + self.step() => (more * 2).min(4 * self.step()),
            _ => self.step(),
        };
        self.last = Some((after, more));
    }
}

/// Bytes of this process in memory, the code's included; `None` where the kernel does not say.
fn resident() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: it takes a number and touches no memory.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim() {
    // SAFETY: it takes a number; glibc's allocator locks what it works on.
    unsafe { libc::malloc_trim(0) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_given_back_near_the_budget_as_long_as_it_helps() {
        let mut t = Trims::new(64 * 16 * 1000);
        let (near, step) = (64 * 13 * 1000, 13_000);
        assert!(!t.worth(near), "far enough from it");
        assert!(t.worth(near + 1));
        t.done(near + 1, near - step);
        assert!(t.worth(near + 1), "it helped, and is used up");
        t.done(near + 1, near);
        assert!(!t.worth(near + 2 * step), "hardly anything came of it");
        assert!(t.worth(near + 2 * step + 1));
        t.done(near + 2 * step + 1, near + 2 * step + 1);
        assert!(!t.worth(near + 6 * step), "nothing came of it");
        assert!(t.worth(near + 6 * step + 2));
        assert!(!t.worth(near - 4 * step));
        assert!(!t.worth(near + 1), "it goes up and down around it");
        assert!(!t.worth(near / 2));
        assert!(t.worth(near + 1), "a new start");
    }

    #[test]
    fn the_process_has_a_size() {
        assert_eq!(resident().is_some(), cfg!(target_os = "linux"));
        assert!(resident().is_none_or(|r| r > 4096));
        trim();
    }

    #[test]
    fn the_allocator_takes_the_limit_and_goes_on() {
        assert_eq!(keep_together(), cfg!(target_env = "gnu"));
        let rooms: Vec<Vec<u8>> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..16)
                .map(|i| s.spawn(move || vec![i as u8; 100_000]))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!((0..16).all(|i| rooms[i].iter().all(|b| *b == i as u8)));
    }
}
