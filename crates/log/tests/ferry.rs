//! Groups that wait for those of the last round, on a disk whose syncs take long.
#![allow(clippy::unwrap_used, missing_docs)]

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use narwal_log::sim::SimDisk;
use narwal_log::{HEADER_LEN, Log, LogOptions, LogStats, RecordKind};

const SYNC: Duration = Duration::from_millis(40);
const COMMITS: u64 = 12;

/// `clients` that commit, one after another, with little work between their commits.
fn run(clients: u64, auto: bool) -> LogStats {
    let disk = SimDisk::new();
    let opts = LogOptions {
        disk: Arc::new(disk.clone()),
        commit_wait_auto: auto,
        flush_interval: Duration::from_secs(3600),
        ..LogOptions::new("/data/log")
    };
    let open = Log::<()>::open(opts, None, |_| Ok::<_, Infallible>(())).unwrap();
    let log = open.start(()).unwrap();
    disk.set_sync_time(SYNC);
    std::thread::scope(|s| {
        for _ in 0..clients {
            s.spawn(|| {
                for _ in 0..COMMITS {
                    std::thread::sleep(Duration::from_millis(2));
                    let (t, ()) = log.reserve(RecordKind::Commit, 1, |_, ()| ()).unwrap();
                    log.fill(&t, vec![0; HEADER_LEN + 1]);
                    log.wait(&t).unwrap();
                }
            });
        }
    });
    assert_eq!(log.visible_seq(), clients * COMMITS);
    log.stats()
}

#[test]
fn clients_that_come_back_share_one_sync() {
    let stats = run(6, true);
    assert!(stats.auto_count > 0, "{stats:?}");
    // Without the wait two halves take turns: groups of three, 24 in all. A machine that is busy with other things may
    // miss some of the rounds.
    assert!(stats.groups <= 20, "{stats:?}");
    assert!(stats.largest_group == 6, "{stats:?}");
}

#[test]
fn it_can_be_switched_off() {
    let stats = run(6, false);
    assert_eq!((stats.auto_count, stats.auto_timeout), (0, 0));
}

#[test]
fn a_lone_client_never_waits() {
    let stats = run(1, true);
    assert_eq!((stats.auto_count, stats.auto_timeout), (0, 0));
    assert_eq!(stats.groups, COMMITS);
}
