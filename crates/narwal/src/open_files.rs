//! How many files the process may open: each connection takes one, each log file that is read one more.

/// Lets the process open `wanted` files, or with 0 as many as it may ask for; returns how many it may open now. What it
/// may open already is not taken back, and a limit that it may not raise so far is raised as far as it goes, with a warning.
pub(crate) fn allow(wanted: u64) -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: the call gets a pointer to an initialised rlimit that lives across it, and nothing else.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        tracing::warn!("the limit on open files is unknown, and stays as it is");
        return 0;
    }
    let (now, most) = (limit.rlim_cur, limit.rlim_max);
    let raised = if wanted == 0 { most } else { wanted };
    if raised <= now || set(raised, most.max(raised)) {
        return raised.max(now);
    }
    let reached = if set(most, most) { most } else { now };
    if wanted != 0 {
        tracing::warn!(
            "open_files_limit: the system lets this process open {reached} files, {wanted} were asked for"
        );
    }
    reached
}

fn set(now: u64, most: u64) -> bool {
    let limit = libc::rlimit {
        rlim_cur: now,
        rlim_max: most,
    };
    // SAFETY: as above.
    unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_opened_is_told_and_never_less_than_before() {
        let before = allow(1);
        assert!(before >= 1);
        let all = allow(0);
        assert!(all >= before);
        assert_eq!(allow(1), all, "nothing is taken back");
        assert!(allow(u64::MAX) >= all);
    }
}
