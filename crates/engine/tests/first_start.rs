//! A crash at any moment of the very first start leaves a folder that the next start takes.
#![allow(clippy::unwrap_used, missing_docs)]

use narwal_engine::{Database, Options};
use narwal_log::sim::SimDisk;
use std::sync::Arc;

fn options(disk: &SimDisk) -> Options {
    Options {
        segment_size: 32 << 10,
        background: false,
        disk: Arc::new(disk.clone()),
        ..Options::default()
    }
}

#[test]
fn a_first_start_may_end_anywhere() {
    let dir = "/d";
    for n in 1.. {
        let disk = SimDisk::new();
        disk.power_off_in(n);
        let opened = Database::open_with(dir, options(&disk)).is_ok_and(|_| !disk.is_off());
        for (how, left) in [
            ("killed", disk.kill()),
            ("power lost", disk.crash(n)),
            ("power lost", disk.crash(n + 1_000_000)),
        ] {
            let again = || Database::open_with(dir, options(&left));
            let db = again().unwrap_or_else(|e| panic!("{how} at change {n}: {e}"));
            db.create_database("a").unwrap();
            db.close().unwrap();
            drop(db);
            again().unwrap_or_else(|e| panic!("{how} at change {n}, again: {e}"));
        }
        if opened {
            assert!(n > 5, "{n}");
            return;
        }
    }
}
