//! Runs against a model, in both directions, over damage and failing disks.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::key::{FullRange, full_key};
use crate::store::entry::{Payload, RunEntry};
use crate::{EngineError, KeyRange};
use narwal_log::Disk;
use narwal_log::sim::{Call, SimDisk};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::path::Path;
use std::sync::Arc;

type Model = BTreeMap<Vec<u8>, Owned>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Owned {
    Tombstone,
    Present,
    Row(Vec<u8>),
}

impl Owned {
    fn entry(&self) -> RunEntry<'_> {
        match self {
            Owned::Tombstone => RunEntry::Tombstone,
            Owned::Present => RunEntry::Present,
            Owned::Row(r) => RunEntry::Row(r),
        }
    }

    fn of(p: &Payload) -> Owned {
        match p {
            Payload::Tombstone => Owned::Tombstone,
            Payload::Present => Owned::Present,
            Payload::Row(r) => Owned::Row(r.to_vec()),
        }
    }
}

const SMALL: RunSizes = RunSizes {
    block: 200,
    page: 300,
    write: 512,
    sync: 2048,
};

fn sim() -> (SimDisk, Arc<dyn Disk>) {
    let sim = SimDisk::new();
    (sim.clone(), Arc::new(sim))
}

fn write(disk: &Arc<dyn Disk>, path: &str, model: &Model, sizes: RunSizes) -> RunMeta {
    let mut w = RunWriter::with_sizes(disk, Path::new(path), sizes).unwrap();
    for (k, v) in model {
        w.add(k, v.entry()).unwrap();
    }
    assert_eq!(w.entries(), model.len() as u64);
    w.finish().unwrap()
}

fn key() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => proptest::collection::vec(0u8..4, 0..4),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ];
    (prop_oneof![Just(3u32), Just(4), Just(u32::MAX)], part)
        .prop_map(|(i, k)| full_key(i, &k).to_vec())
}

fn owned() -> impl Strategy<Value = Owned> {
    prop_oneof![
        Just(Owned::Tombstone),
        Just(Owned::Present),
        proptest::collection::vec(any::<u8>(), 0..60).prop_map(Owned::Row),
        Just(Owned::Row(vec![7; 1000])),
    ]
}

fn model(max: usize) -> impl Strategy<Value = Model> {
    proptest::collection::btree_map(key(), owned(), 0..max)
}

fn range() -> impl Strategy<Value = (u32, Bound<Vec<u8>>, Bound<Vec<u8>>)> {
    let bound = || {
        (proptest::collection::vec(0u8..4, 0..4), 0..3).prop_map(|(k, how)| match how {
            0 => Bound::Included(k),
            1 => Bound::Excluded(k),
            _ => Bound::Unbounded,
        })
    };
    (
        prop_oneof![Just(2u32), Just(3), Just(4), Just(u32::MAX)],
        bound(),
        bound(),
    )
}

fn collect(mut c: RunSetCursor) -> Vec<(Vec<u8>, Owned)> {
    let mut out = Vec::new();
    while let (Some(k), Some(p)) = (c.peek_key(), c.payload()) {
        out.push((k.to_vec(), Owned::of(&p)));
        c.advance().unwrap();
    }
    c.advance().unwrap();
    assert!(c.peek_key().is_none());
    out
}

fn expected(model: &Model, range: &FullRange, reverse: bool) -> Vec<(Vec<u8>, Owned)> {
    if range.is_empty() {
        return Vec::new();
    }
    let it = model
        .range::<[u8], _>(range.bounds())
        .map(|(k, v)| (k.clone(), v.clone()));
    if reverse {
        it.rev().collect()
    } else {
        it.collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 128, ..ProptestConfig::default() })]

    /// One or several runs, newest first, read like one sorted map; merged, they read the same.
    #[test]
    fn runs_read_like_a_map(
        parts in proptest::collection::vec(model(120), 1..5),
        probes in proptest::collection::vec(key(), 20),
        ranges in proptest::collection::vec(range(), 6),
        cache in prop_oneof![Just(0usize), Just(3000), Just(1 << 20)],
    ) {
        let (_, disk) = sim();
        let cache = RunCache::new(cache);
        let mut set = RunSet::default();
        let mut whole = Model::new();
        for (i, part) in parts.iter().enumerate() {
            let name = format!("/d/{i}.run");
            let meta = write(&disk, &name, part, SMALL);
            prop_assert_eq!(meta.entries, part.len() as u64);
            let run = Run::open_as(&disk, Path::new("/d"), &meta, &cache).unwrap();
            run.verify().unwrap();
            prop_assert_eq!(run.meta(), meta);
            for (k, v) in part {
                prop_assert_eq!(Owned::of(&run.get(k).unwrap().unwrap()), v.clone());
                prop_assert!(run.may_contain(k).unwrap());
            }
            let per_index: u64 = run.indexes().iter().map(|s| s.entries).sum();
            prop_assert_eq!(per_index, run.entries());
            set.push_newest(run);
            whole.extend(part.clone());
        }
        let merged = {
            let w = RunWriter::with_sizes(&disk, Path::new("/d/merged"), SMALL).unwrap();
            let meta = merge_runs(&set.runs, w, || false).unwrap();
            prop_assert_eq!(meta.entries, whole.len() as u64);
            let run = Run::open(&disk, Path::new("/d/merged"), &cache).unwrap();
            run.verify().unwrap();
            RunSet { runs: vec![run] }
        };
        for set in [&set, &merged] {
            for k in whole.keys().chain(&probes) {
                prop_assert_eq!(set.get(k).unwrap().as_ref().map(Owned::of), whole.get(k).cloned());
            }
            prop_assert_eq!(
                collect(set.iter_all().unwrap()),
                whole.clone().into_iter().collect::<Vec<_>>()
            );
            for (index, start, end) in &ranges {
                let full = FullRange::new(*index, &KeyRange { start: start.clone(), end: end.clone() });
                for reverse in [false, true] {
                    prop_assert_eq!(
                        collect(set.cursor(&full, reverse).unwrap()),
                        expected(&whole, &full, reverse)
                    );
                }
                let span = set.index_range(*index).map(|(a, b)| (a.to_vec(), b.to_vec()));
                let mut keys = whole.keys().filter(|k| k[..4] == index.to_be_bytes());
                let first = keys.next().cloned();
                let last = keys.next_back().cloned().or_else(|| first.clone());
                prop_assert_eq!(span, first.zip(last));
            }
        }
        prop_assert!(cache.bytes() <= 1 << 20);
    }

    /// A changed byte anywhere is an error for whoever reads all; a point read gives an error or the truth.
    #[test]
    fn a_changed_byte_is_found(part in model(80), place in any::<u64>(), bit in 0..8u32) {
        let (raw, disk) = sim();
        let meta = write(&disk, "/d/r", &part, SMALL);
        let at = place % meta.bytes;
        raw.damage(Path::new("/d/r"), at, |b| b[0] ^= 1 << bit);
        let cache = RunCache::new(1 << 20);
        let corrupt = |e: &EngineError| matches!(e, EngineError::Corrupt(m) if m.contains("/d/r at offset"));
        match Run::open(&disk, Path::new("/d/r"), &cache) {
            Err(e) => prop_assert!(corrupt(&e), "{e}"),
            Ok(run) => {
                let e = run.verify().unwrap_err();
                prop_assert!(corrupt(&e), "{e}");
                for (k, v) in &part {
                    match run.get(k) {
                        Ok(p) => prop_assert_eq!(p.as_ref().map(Owned::of), Some(v.clone())),
                        Err(e) => prop_assert!(corrupt(&e), "{e}"),
                    }
                }
            }
        }
    }

    /// A file that was cut or has something behind its end is refused.
    #[test]
    fn another_length_is_found(part in model(60), change in 1u64..400, grow in any::<bool>()) {
        let (_, disk) = sim();
        let meta = write(&disk, "/d/r", &part, SMALL);
        let len = if grow { meta.bytes + change } else { meta.bytes.saturating_sub(change) };
        disk.open(Path::new("/d/r")).unwrap().set_len(len).unwrap();
        let e = Run::open(&disk, Path::new("/d/r"), &RunCache::new(0)).unwrap_err();
        prop_assert!(matches!(e, EngineError::Corrupt(_)), "{e}");
    }
}

fn numbered(n: u32) -> Model {
    (0..n)
        .map(|i| {
            (
                full_key(5, &i.to_be_bytes()).to_vec(),
                Owned::Row(vec![i as u8; 100]),
            )
        })
        .collect()
}

#[test]
fn finished_runs_survive_power_loss_and_unfinished_ones_are_removed() {
    let (raw, disk) = sim();
    let model = numbered(500);
    let meta = write(&disk, "/d/a", &model, SMALL);
    disk.sync_dir(Path::new("/d")).unwrap();
    {
        let mut w = RunWriter::with_sizes(&disk, Path::new("/d/b"), SMALL).unwrap();
        for (k, v) in &model {
            w.add(k, v.entry()).unwrap();
        }
    }
    assert!(!disk.exists(Path::new("/d/b")).unwrap());
    for seed in 0..20 {
        let after: Arc<dyn Disk> = Arc::new(raw.crash(seed));
        let run = Run::open_as(&after, Path::new("/d"), &meta, &RunCache::new(1 << 20)).unwrap();
        run.verify().unwrap();
    }
}

#[test]
fn a_run_of_the_same_name_is_not_taken_for_another() {
    let (_, disk) = sim();
    let model = numbered(50);
    let old = write(&disk, "/d/a", &model, SMALL);
    let new = write(&disk, "/d/a", &model, SMALL);
    assert_ne!(old.id, new.id);
    let cache = RunCache::new(1 << 20);
    assert!(Run::open_as(&disk, Path::new("/d"), &new, &cache).is_ok());
    assert!(matches!(
        Run::open_as(&disk, Path::new("/d"), &old, &cache),
        Err(EngineError::Corrupt(_))
    ));
}

#[test]
fn keys_out_of_order_are_refused() {
    let (_, disk) = sim();
    let mut w = RunWriter::create(&disk, Path::new("/d/a")).unwrap();
    w.add(b"\0\0\0\x01b", RunEntry::Present).unwrap();
    assert!(w.add(b"\0\0\0\x01b", RunEntry::Present).is_err());
    assert!(w.add(b"\0\0\0\x01a", RunEntry::Present).is_err());
    assert!(w.add(b"\0\0\0", RunEntry::Present).is_err());
}

#[test]
fn a_full_disk_is_told_and_leaves_nothing() {
    let (raw, disk) = sim();
    for call in [Call::Write, Call::Sync] {
        raw.fail_nth(call, 2, libc::ENOSPC);
        let mut w = RunWriter::with_sizes(&disk, Path::new("/d/a"), SMALL).unwrap();
        let mut result = Ok(());
        for (k, v) in &numbered(200) {
            result = w.add(k, v.entry());
            if result.is_err() {
                break;
            }
        }
        assert!(
            matches!(result, Err(EngineError::DiskFull(_))),
            "{call:?}: {result:?}"
        );
        drop(w);
        assert!(!disk.exists(Path::new("/d/a")).unwrap());
    }
}

#[test]
fn an_obsolete_run_goes_with_its_last_reader() {
    let (_, disk) = sim();
    write(&disk, "/d/a", &numbered(50), SMALL);
    let cache = RunCache::new(1 << 20);
    let run = Run::open(&disk, Path::new("/d/a"), &cache).unwrap();
    let mut cursor = run.iter_all().unwrap();
    run.get(&full_key(5, &[0, 0, 0, 1])).unwrap().unwrap();
    assert!(cache.bytes() > 0);
    run.mark_obsolete();
    drop(run);
    assert!(disk.exists(Path::new("/d/a")).unwrap());
    let mut n = 0;
    while cursor.peek_key().is_some() {
        n += 1;
        cursor.advance().unwrap();
    }
    assert_eq!(n, 50);
    drop(cursor);
    assert!(!disk.exists(Path::new("/d/a")).unwrap());
    assert_eq!(cache.bytes(), 0);
}

#[test]
fn an_interrupted_merge_leaves_nothing() {
    let (_, disk) = sim();
    write(&disk, "/d/a", &numbered(5000), SMALL);
    let run = Run::open(&disk, Path::new("/d/a"), &RunCache::new(1 << 20)).unwrap();
    let w = RunWriter::create(&disk, Path::new("/d/m")).unwrap();
    assert!(matches!(
        merge_runs(&[run], w, || true),
        Err(EngineError::Interrupted)
    ));
    assert!(!disk.exists(Path::new("/d/m")).unwrap());
}
