//! Commits that take their place and are not waited for (`Transaction::commit_reserved`): whoever waits for a later one
//! must not sleep for good behind them.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use std::sync::mpsc;
use std::time::Duration;

#[test]
fn a_wait_goes_on_when_the_one_before_is_handed_over_and_kept() {
    for mode in [1, 2, 0] {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            flush_log_at_trx_commit: mode,
            background: false,
            ..Options::default()
        };
        let db = Database::open_with(dir.path(), options).unwrap();
        create(&db, vec![table_def("t", true, true)]);
        let t = db.catalog().table("d", "t").unwrap().clone();
        let writing = |id: i64| {
            let mut x = begin(&db);
            x.insert(&t, row(&t, id, Some(id), &format!("row {id}")))
                .unwrap();
            x
        };
        let (first, second) = (writing(1), writing(2));
        let (placed, is_placed) = mpsc::channel();
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let (done, is_done) = mpsc::channel();
        std::thread::scope(|s| {
            let first = s.spawn(move || {
                first.commit_reserved_then(|| {
                    placed.send(()).unwrap();
                    may_go_on.recv().unwrap();
                })
            });
            is_placed.recv().unwrap();
            let second = second.commit_reserved().unwrap();
            // Not of this scope, which would wait for it when the test fails.
            let db = db.clone();
            std::thread::spawn(move || done.send(db.wait_committed(&second)));
            // It finds an unfinished record before its own. A pause too short makes the test weaker, not wrong.
            std::thread::sleep(Duration::from_millis(50));
            go_on.send(()).unwrap();
            let kept = first.join().unwrap().unwrap();
            is_done
                .recv_timeout(Duration::from_secs(20))
                .unwrap_or_else(|_| panic!("mode {mode}: the wait goes on for ever"))
                .unwrap();
            assert!(kept.seq > 0);
        });
    }
}
