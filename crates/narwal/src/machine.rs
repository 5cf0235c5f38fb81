//! How much memory there is for this process.

use std::path::Path;

/// What the server may take if nothing is said: the base's share, and half of what the machine has beside it, which leaves as much
/// for the kernel's cache and for others.
pub(crate) fn memory_limit(pool: u64) -> u64 {
    let beside = memory().saturating_sub(pool) / 2;
    pool.saturating_add(beside.max(LEAST_BESIDE))
}

/// Statements get at least so much beside the base.
const LEAST_BESIDE: u64 = 128 << 20;

/// The least of what the machine has, what the process's group may take and what the process may map.
fn memory() -> u64 {
    [machine(), group(), address_space()]
        .into_iter()
        .flatten()
        .min()
        .unwrap_or(4 << 30)
}

fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|l| l.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

/// The limit of the control group and of those around it.
fn group() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let number = |file: &Path| -> Option<u64> {
        let limit = std::fs::read_to_string(file).ok()?;
        limit.trim().parse().ok()
    };
    let mut least = None;
    for line in text.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(kinds), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (root, file) = match kinds {
            "" => ("/sys/fs/cgroup", "memory.max"),
            k if k.split(',').any(|k| k == "memory") => {
                ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let inner = Path::new(root).join(path.trim_start_matches('/'));
        for folder in inner.ancestors().take_while(|f| f.starts_with(root)) {
            least = least.into_iter().chain(number(&folder.join(file))).min();
        }
    }
    least
}

fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: it gets a pointer to a value that lives across the call.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_memory_beside_the_base() {
        assert!(memory() > 16 << 20);
        assert!(memory_limit(64 << 20) >= (64 << 20) + LEAST_BESIDE);
        assert_eq!(memory_limit(u64::MAX), u64::MAX);
    }
}
