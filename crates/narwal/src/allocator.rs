//! The C library's allocator, told to keep its memory together.

/// Fewer arenas than the eight a processor that glibc would make: each keeps what was freed in it for itself, and a server with
/// many connections would hold a third more memory than it uses. More than one a processor, so that threads seldom meet.
///
/// To be called before other threads are there. Returns whether the allocator took it; others than glibc's are left as they are.
pub(crate) fn keep_together() -> bool {
    let arenas = 2 * std::thread::available_parallelism().map_or(2, usize::from);
    limit_arenas(i32::try_from(arenas).unwrap_or(i32::MAX))
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn limit_arenas(most: i32) -> bool {
    // SAFETY: mallopt takes two numbers and touches no memory of ours; glibc documents it as unsafe only against other threads
    // that allocate meanwhile, and main calls this before it makes any.
    unsafe { libc::mallopt(libc::M_ARENA_MAX, most) == 1 }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn limit_arenas(_: i32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_allocator_takes_the_limit_and_goes_on() {
        assert_eq!(super::keep_together(), cfg!(target_env = "gnu"));
        let rooms: Vec<Vec<u8>> = std::thread::scope(|s| {
            let threads: Vec<_> = (0..16)
                .map(|i| s.spawn(move || vec![i as u8; 100_000]))
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).collect()
        });
        assert!((0..16).all(|i| rooms[i].iter().all(|b| *b == i as u8)));
    }
}
