//! A replica on a simulated disk: random histories, several sources, several workers, and the power goes anywhere.
//!
//! After each start the replica's tables are exactly a state that the source had, its own record of where it stands
//! names exactly that state, and going on from there it ends with the source's rows. `NARWAL_SEEDS` sets the number of
//! stories, `NARWAL_SEED` runs one. With workers a story's threads are scheduled by the machine, so a seed may have to be
//! run more than once to fail again.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_binlog::EventReader;
use narwal_engine::Database;
use narwal_log::sim::SimDisk;
use narwal_replica::apply::Ended;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const REPLICA: u32 = 77;

/// The replica's log has the sources' groups, each source's in its order; of a single source at the same positions.
fn same_log(db: &Database, sources: &[Source], applied: &[usize], threads: u32) {
    let ours = groups(db);
    for (s, n) in sources.iter().zip(applied) {
        let theirs: Vec<_> = s.groups[..*n].iter().map(|g| g.head.gtid).collect();
        let copied: Vec<_> = ours
            .iter()
            .map(|g| g.head.gtid)
            .filter(|g| g.server == s.id)
            .collect();
        assert_eq!(
            copied, theirs,
            "GTIDs in the replica's log, {threads} threads"
        );
    }
    if let [s] = sources {
        for (a, b) in ours.iter().zip(&s.groups) {
            assert_eq!(
                (&a.head.file, a.head.end_pos, a.head.begins_file),
                (&b.head.file, b.head.end_pos, b.head.begins_file),
                "position of {}: {:?} instead of {:?}",
                a.head.gtid,
                shape(a),
                shape(b)
            );
        }
    }
}

/// Types and lengths of a group's events.
fn shape(g: &Group) -> Vec<(u8, u32)> {
    EventReader::new(&g.events)
        .without_checksums()
        .map(|e| e.unwrap().header)
        .map(|h| (h.event_type, h.event_size))
        .collect()
}

fn story(seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let history = History {
        transactions: rng.random_range(10..70),
        ddl: rng.random_bool(0.6),
        large: rng.random_bool(0.6),
        domains: rng.random_bool(0.3),
        keys: [4, 15, 200][rng.random_range(0..3)],
    };
    let sources: Vec<Source> = (1..=rng.random_range(1..=2))
        .map(|id| Source::new(id, &mut rng, &history))
        .collect();
    let threads = [0, 1, 2, 3, 4][rng.random_range(0..5)];
    let mode = [1, 1, 2, 0][rng.random_range(0..4)];
    let oob = [600, 4000, 1 << 20][rng.random_range(0..3)];
    let mut disk = SimDisk::new();
    let rounds = rng.random_range(2..6);
    for round in 0..=rounds {
        let mut o = options(&disk, REPLICA);
        o.flush_log_at_trx_commit = mode;
        o.oob_threshold = oob;
        let db = Database::open_with(DIR, o)
            .unwrap_or_else(|e| panic!("round {round}: does not open: {e}"));
        let replica = instance(db, REPLICA);
        let db = replica.database();
        let state = db.replica_state();
        let applied: Vec<usize> = sources.iter().map(|s| s.applied(&state)).collect();
        for (s, n) in sources.iter().zip(&applied) {
            assert_eq!(
                dump(db, &s.schema),
                s.states[*n],
                "round {round}: not the state after group {n} of source {}",
                s.id
            );
        }
        same_log(db, &sources, &applied, threads);
        let last = round == rounds;
        let stop = Arc::new(AtomicBool::new(false));
        if !last {
            match rng.random_range(0..4) {
                0 => {}
                1 => {
                    // STOP SLAVE at any moment.
                    let (stop, micros) = (stop.clone(), rng.random_range(0..20_000));
                    std::thread::spawn(move || {
                        std::thread::sleep(Duration::from_micros(micros));
                        stop.store(true, Ordering::SeqCst);
                    });
                }
                _ => disk.power_off_in(rng.random_range(1..300)),
            }
        }
        let seeds: Vec<u64> = sources.iter().map(|_| rng.random()).collect();
        let up_to: Vec<usize> = (sources.iter().zip(&applied))
            .map(|(s, n)| match last {
                true => s.groups.len(),
                false => rng.random_range(*n..=s.groups.len()),
            })
            .collect();
        std::thread::scope(|scope| {
            for (i, s) in sources.iter().enumerate() {
                let groups = &s.groups[applied[i]..up_to[i]];
                let (replica, stop, seed) = (&replica, &stop, seeds[i]);
                scope.spawn(move || {
                    let mut rng = StdRng::seed_from_u64(seed);
                    let (ended, progress) =
                        apply(replica, &settings(s.id, threads), groups, &mut rng, stop);
                    if last {
                        assert_eq!(ended, Ended::Until, "{:?}", progress.error());
                    }
                });
            }
        });
        if !last && !disk.is_off() && rng.random_bool(0.3) {
            let _ = db.checkpoint();
        }
        if last {
            let state = db.replica_state();
            db.wait_visible(state.seq).unwrap();
            for s in &sources {
                assert_eq!(s.applied(&state), s.groups.len());
                assert_eq!(dump(db, &s.schema), *s.states.last().unwrap());
            }
            let all: Vec<usize> = sources.iter().map(|s| s.groups.len()).collect();
            same_log(db, &sources, &all, threads);
        }
        drop(replica);
        disk = match disk.is_off() || rng.random_bool(0.6) {
            true => disk.crash(seed ^ round),
            false => disk.kill(),
        };
    }
}

#[test]
fn a_crashed_replica_is_a_prefix_and_knows_which() {
    let number = |name: &str| {
        let text = std::env::var(name).ok()?;
        text.parse::<u64>().ok()
    };
    let one = number("NARWAL_SEED");
    let seeds: Vec<u64> = match one {
        Some(seed) => vec![seed],
        None => (0..number("NARWAL_SEEDS").unwrap_or(40)).collect(),
    };
    for seed in seeds {
        let told = std::panic::catch_unwind(|| story(seed));
        assert!(told.is_ok(), "failed with NARWAL_SEED={seed}");
    }
}
