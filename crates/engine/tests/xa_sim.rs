//! XA transactions on a simulated disk that loses what was not synced: whatever is prepared is there after any crash, with its
//! locks, and nothing of it is seen before it is committed.
//!
//! One seed is one story, as in `crash_sim.rs`; `NARWAL_SEEDS` and `NARWAL_SEED` as there.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::xa::{XaBranch, XaContext, Xid};
use narwal_engine::*;
use narwal_log::sim::{Call, SimDisk};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::sync::Arc;

const DIR: &str = "/data";
/// Each branch has so many rows of its own.
const ROWS: i64 = 8;
const BRANCHES: i64 = 5;

type Rows = BTreeMap<i64, (Option<i64>, String)>;

/// All that a client can see: rows (those of `h`, which has no key, in order), and what the branches in doubt would make of
/// them.
#[derive(Debug, Clone, Default)]
struct Model {
    t: Rows,
    h: Vec<(i64, Option<i64>, String)>,
    doubt: BTreeMap<i64, (Rows, Vec<i64>)>,
}

fn xid(branch: i64) -> Xid {
    Xid::new(1, format!("branch{branch}").as_bytes(), b"q").unwrap()
}

fn options(disk: &SimDisk, rng: &mut StdRng) -> Options {
    let small = rng.random_bool(0.6);
    Options {
        oob_threshold: if small {
            rng.random_range(1..800)
        } else {
            1 << 20
        },
        spill_bytes: if small { rng.random_range(1..3000) } else { 0 },
        flush_log_at_trx_commit: 1,
        segment_size: 32 << 10,
        max_binlog_size: 4096,
        background: false,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

/// Changes rows of one owner; the model after it.
fn changes(
    db: &Database,
    rng: &mut StdRng,
    owner: i64,
    before: &Rows,
) -> Result<(Transaction, Rows, Vec<i64>)> {
    let cat = db.catalog();
    let (t, h) = (cat.table("d", "t").unwrap(), cat.table("d", "h").unwrap());
    let mut x = db.begin(TxnOptions {
        log_bin: rng.random_bool(0.85),
        row_image: match rng.random_bool(0.5) {
            true => RowImage::Full,
            false => RowImage::Minimal,
        },
        ..TxnOptions::default()
    });
    let mut rows = before.clone();
    let mut hidden = Vec::new();
    for n in 0..rng.random_range(1..20) {
        x.begin_statement(7, rng.random_bool(0.3).then_some(b"annotated"));
        let id = owner * ROWS + rng.random_range(0..ROWS);
        let k = rng.random_bool(0.8).then(|| rng.random_range(-3..3i64));
        let c = format!("c{id}-{n}-{}", rng.random_range(0..1000));
        if rng.random_bool(0.2) {
            x.insert(h, row(h, id, k, "h"))?;
            hidden.push(id);
            x.end_statement();
            continue;
        }
        match x.lock_row(t, &key(id), LockMode::Exclusive, LockWait::Wait)? {
            None => {
                x.insert(t, row(t, id, k, &c))?;
                rows.insert(id, (k, c));
            }
            Some(r) if rng.random_bool(0.3) => {
                x.delete(t, &key(id), &r)?;
                rows.remove(&id);
            }
            Some(r) => {
                x.update(t, &key(id), &r, row(t, id, k, &c))?;
                rows.insert(id, (k, c));
            }
        }
        x.end_statement();
    }
    Ok((x, rows, hidden))
}

fn of(rows: &Rows, owner: i64) -> Rows {
    let range = rows.range(owner * ROWS..(owner + 1) * ROWS);
    range.map(|(id, v)| (*id, v.clone())).collect()
}

fn put(model: &mut Model, owner: i64, rows: &Rows, hidden: &[i64]) {
    model.t.retain(|id, _| id / ROWS != owner);
    model.t.extend(rows.clone());
    model
        .h
        .extend(hidden.iter().map(|id| (*id, None, "h".to_owned())));
    model.h.sort();
}

fn agree(db: &Database, model: &Model, what: &str) {
    let cat = db.catalog();
    let (t, h) = (cat.table("d", "t").unwrap(), cat.table("d", "h").unwrap());
    let rows: Rows = dump(&mut begin(db), t, 0, ReadView::Snapshot)
        .into_iter()
        .map(|(id, k, c)| (id, (k, c)))
        .collect();
    assert_eq!(rows, model.t, "{what}: rows");
    let mut hidden: Vec<_> = dump(&mut begin(db), h, 0, ReadView::Snapshot)
        .into_iter()
        .map(|(id, _, c)| (id, None, c))
        .collect();
    hidden.sort();
    assert_eq!(hidden, model.h, "{what}: rows without a key");
    check_indexes(db, t);
    check_indexes(db, h);
    let doubt: Vec<Xid> = model.doubt.keys().map(|b| xid(*b)).collect();
    assert_eq!(db.xa_prepared(), doubt, "{what}: in doubt");
    for (branch, (after, _)) in &model.doubt {
        let before = of(&model.t, *branch);
        for id in branch * ROWS..(branch + 1) * ROWS {
            if before.get(&id) != after.get(&id) {
                let locked = begin(db).lock_row(t, &key(id), LockMode::Exclusive, LockWait::NoWait);
                assert!(
                    matches!(locked, Err(EngineError::LockNotAvailable)),
                    "{what}: row {id} of {branch} is not locked"
                );
            }
        }
    }
}

fn end(
    db: &Database,
    live: &mut BTreeMap<i64, XaBranch>,
    branch: i64,
    commit: bool,
) -> Result<u64> {
    let mut owned = match live.remove(&branch) {
        Some(b) => b,
        None => db.xa_take(&xid(branch))?,
    };
    let choice = GtidChoice::default();
    let reserved = owned.end(commit, &XaContext::default(), choice, None)?;
    db.wait_committed(&reserved)?;
    Ok(reserved.seq)
}

fn story(seed: u64, met: &mut [u64; 3]) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut disk = SimDisk::new();
    let o = options(&disk, &mut rng);
    let mut db = Database::open_with(DIR, o).unwrap();
    create(
        &db,
        vec![table_def("t", true, true), table_def("h", false, false)],
    );
    // history[n]: the state after commit n.
    let mut history = vec![Model::default(); 4];
    for round in 0..5 {
        let what = format!("seed {seed} round {round}");
        disk.power_off_in(rng.random_range(20..400));
        let mut live: BTreeMap<i64, XaBranch> = BTreeMap::new();
        let mut next = None;
        for _ in 0..60 {
            let model = history.last().unwrap().clone();
            let branch = rng.random_range(0..BRANCHES);
            let mut after = model.clone();
            let done: Result<u64> = match rng.random_range(0..20) {
                0 => db.checkpoint().map(|()| 0),
                1 => {
                    live.clear(); // their connections end
                    Ok(0)
                }
                2..6 => {
                    let owner = BRANCHES;
                    changes(&db, &mut rng, owner, &of(&model.t, owner)).and_then(|(x, r, h)| {
                        put(&mut after, owner, &r, &h);
                        Ok(x.commit()?.seq)
                    })
                }
                _ if model.doubt.contains_key(&branch) => {
                    let commit = rng.random_bool(0.6);
                    let (rows, hidden) = after.doubt.remove(&branch).unwrap();
                    if commit {
                        put(&mut after, branch, &rows, &hidden);
                    }
                    met[usize::from(commit)] += 1;
                    end(&db, &mut live, branch, commit)
                }
                _ => changes(&db, &mut rng, branch, &of(&model.t, branch)).and_then(|(x, r, h)| {
                    let mut b = db.xa_begin(&xid(branch))?;
                    after.doubt.insert(branch, (r, h));
                    let reserved = b.prepare(x, &XaContext::default())?;
                    db.wait_committed(&reserved)?;
                    live.insert(branch, b);
                    Ok(reserved.seq)
                }),
            };
            match done {
                Ok(0) => {}
                Ok(seq) => {
                    assert_eq!(seq as usize, history.len(), "{what}: one number for each");
                    history.push(after);
                }
                Err(_) => {
                    next = Some(after);
                    break;
                }
            }
        }
        // Also when the log has stopped: what nobody was told of is not shown.
        let doubt: Vec<Xid> = history
            .last()
            .unwrap()
            .doubt
            .keys()
            .map(|b| xid(*b))
            .collect();
        assert_eq!(db.xa_prepared(), doubt, "{what}: prepared");
        if !disk.is_off() {
            agree(&db, history.last().unwrap(), &format!("{what}, running"));
        }
        let crashed = match rng.random_bool(0.7) || disk.is_off() {
            true => disk.crash(seed ^ round),
            false => disk.kill(),
        };
        drop(live);
        drop(db);
        disk = crashed;
        let o = options(&disk, &mut rng);
        db = Database::open_with(DIR, o).unwrap_or_else(|e| panic!("{what}: does not open: {e}"));
        let stats = db.stats();
        let seq = stats.values.iter().find(|v| v.0 == "Narwal_visible_seq");
        let seq = seq.unwrap().1 as usize;
        if seq == history.len() {
            // What was on its way when the power went has arrived.
            history.push(next.expect("a commit that nobody made"));
        }
        assert_eq!(seq, history.len() - 1, "{what}: what was answered stands");
        met[2] += history[seq].doubt.len() as u64;
        agree(&db, &history[seq], &what);
    }
}

#[test]
fn what_is_prepared_survives_any_crash() {
    let number = |name: &str| std::env::var(name).ok().and_then(|s| s.parse::<u64>().ok());
    let one = number("NARWAL_SEED");
    let n = number("NARWAL_SEEDS").unwrap_or(60);
    let seeds: Vec<u64> = one.map_or_else(|| (0..n).collect(), |s| vec![s]);
    let mut met = [0; 3];
    for seed in seeds {
        let told = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut met = [0; 3];
            story(seed, &mut met);
            met
        }));
        let more = told.unwrap_or_else(|_| panic!("failed with NARWAL_SEED={seed}"));
        met.iter_mut().zip(more).for_each(|(m, n)| *m += n);
    }
    assert!(
        one.is_some() || met.iter().all(|n| *n > 50),
        "rolled back, committed, in doubt after a crash: {met:?}"
    );
}

#[test]
fn a_stopped_log_shows_the_branches_as_they_were_acknowledged() {
    let disk = SimDisk::new();
    let mut rng = StdRng::seed_from_u64(1);
    let db = Database::open_with(DIR, options(&disk, &mut rng)).unwrap();
    create(
        &db,
        vec![table_def("t", true, true), table_def("h", false, false)],
    );
    let none = Rows::new();
    let about = XaContext::default();
    let (x, ..) = changes(&db, &mut rng, 1, &none).unwrap();
    let mut first = db.xa_begin(&xid(1)).unwrap();
    db.wait_committed(&first.prepare(x, &about).unwrap())
        .unwrap();
    assert_eq!(db.xa_prepared(), [xid(1)]);
    let (x, ..) = changes(&db, &mut rng, 2, &none).unwrap();
    let mut second = db.xa_begin(&xid(2)).unwrap();
    let taken = (first.end(true, &about, GtidChoice::default(), None)).unwrap();
    let prepared = second.prepare(x, &about).unwrap();
    assert_eq!(db.xa_prepared(), [xid(1)], "neither is on the disk yet");
    disk.fail_nth(Call::Write, 1, libc::EIO);
    db.wait_committed(&prepared).unwrap_err();
    db.wait_committed(&taken).unwrap_err();
    assert_eq!(db.xa_prepared(), [xid(1)], "neither was acknowledged");
    let again = first.end(true, &about, GtidChoice::default(), None);
    assert!(matches!(again, Err(EngineError::LogFailed(_))), "{again:?}");
    drop((first, second));
    assert_eq!(db.xa_prepared(), [xid(1)]);
    let other = db.xa_take(&xid(1));
    assert!(matches!(other, Err(EngineError::LogFailed(_))), "{other:?}");
}
