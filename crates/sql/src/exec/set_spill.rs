//! Rows of SELECTs that are put together, in memory and temporary files.

use super::distinct::first_of_each;
use super::key_table::KeyTable;
use super::order::Spilled;
use super::partition::{Hasher, Part, Partitions};
use super::row_list::RowList;
use super::spill::{SpillFile, SpillReader};
use super::value_bytes::{put_bytes, take_bytes, take_u64};
use crate::env::StatementEnv;
use crate::status_counts::StatusCount;
use narwal_syntax::ast::{SetKind, SetOp};
use narwal_types::SqlResult;

/// Rows in their order, each with the key that it is compared by.
#[derive(Default)]
pub(super) struct SetRows {
    rows: RowList,
    record: Vec<u8>,
}

/// Which rows of the left side stay, by the number of rows of the right side with their key.
struct Counts {
    keys: KeyTable,
    of_key: Vec<u64>,
}

impl Counts {
    fn new() -> Self {
        Counts {
            keys: KeyTable::default(),
            of_key: Vec::new(),
        }
    }

    fn add(&mut self, key: &[u8]) {
        match self.keys.insert(key) {
            (_, true) => self.of_key.push(1),
            (at, false) => self.of_key[at] += 1,
        }
    }

    fn memory(&self) -> u64 {
        self.keys.memory() + 8 * self.of_key.len() as u64
    }

    fn stays(&mut self, key: &[u8], op: SetOp) -> bool {
        let stays = op.kind == SetKind::Intersect;
        match self.keys.get(key) {
            Some(at) if op.all => {
                let n = &mut self.of_key[at];
                let found = *n > 0;
                *n = n.saturating_sub(1);
                found == stays
            }
            Some(_) => stays,
            None => !stays,
        }
    }
}

impl SetRows {
    /// Appends a row.
    pub(super) fn push(&mut self, key: &[u8], image: &[u8], env: &StatementEnv) -> SqlResult<()> {
        self.record.clear();
        put_bytes(key, &mut self.record);
        self.record.extend_from_slice(image);
        self.rows.push(&self.record, env.table_room(), env)
    }

    /// Calls `f` with the image of each row. False = enough.
    pub(super) fn each(
        mut self,
        env: &StatementEnv,
        f: &mut dyn FnMut(&[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        self.rows.finish()?;
        self.rows.each(env, &mut |mut record| {
            take_bytes(&mut record)?;
            f(record)
        })
    }

    /// The rows that stay when others are put to them, in their order.
    pub(super) fn combine(
        mut self,
        mut other: SetRows,
        op: SetOp,
        env: &StatementEnv,
    ) -> SqlResult<SetRows> {
        self.rows.finish()?;
        other.rows.finish()?;
        if self.rows.is_spilled() || other.rows.is_spilled() {
            return self.combine_files(&other, op, env);
        }
        let mut counts = Counts::new();
        other.rows.each(env, &mut |mut record| {
            counts.add(take_bytes(&mut record)?);
            Ok(true)
        })?;
        let mut seen = KeyTable::default();
        let mut out = SetRows::default();
        self.rows.each(env, &mut |record| {
            let key = take_bytes(&mut &*record)?;
            if (op.kind == SetKind::Union || counts.stays(key, op))
                && (op.all || seen.insert(key).1)
            {
                out.rows.push(record, u64::MAX, env)?;
            }
            Ok(true)
        })?;
        Ok(out)
    }

    fn combine_files(&self, other: &SetRows, op: SetOp, env: &StatementEnv) -> SqlResult<SetRows> {
        let mut left = Partitions::new();
        let mut right = Partitions::by(left.hasher());
        let mut n = 0u64;
        self.rows.each(env, &mut |record| {
            let key = take_bytes(&mut &*record)?;
            left.push(key, &[&n.to_be_bytes(), record], env)?;
            n += 1;
            Ok(true)
        })?;
        other.rows.each(env, &mut |mut record| {
            right.push(take_bytes(&mut record)?, &[], env)?;
            Ok(true)
        })?;
        let mut runs = Spilled::new(env)?;
        for (left, right) in left.finish()?.into_iter().zip(right.finish()?) {
            let Some(left) = left else { continue };
            if op.kind == SetKind::Union {
                first_of_each(left, env, &mut runs)?;
            } else {
                filter(left, right, op, env, &mut runs)?;
            }
        }
        let mut out = SetRows::default();
        runs.each(env, &mut |c| {
            out.rows.push(c.parts().0, env.table_room(), env)?;
            Ok(true)
        })?;
        Ok(out)
    }
}

/// Puts the rows of a file that stay into runs.
fn filter(
    left: Part,
    right: Option<Part>,
    op: SetOp,
    env: &StatementEnv,
    runs: &mut Spilled,
) -> SqlResult<()> {
    let mut counts = Counts::new();
    let mut fits = true;
    if let Some(right) = &right {
        right.each(env, &mut |key, _| {
            counts.add(key);
            fits = counts.memory() <= env.table_room() || counts.of_key.len() < 2;
            Ok(fits)
        })?;
    }
    if fits && op.all {
        return runs.run(env, |runs| {
            left.each(env, &mut |key, body| {
                if counts.stays(key, op) {
                    let mut record = body;
                    let n = take_u64(&mut record)?;
                    runs.record(&n.to_be_bytes(), record, &[])?;
                }
                Ok(true)
            })
        });
    }
    if fits {
        // Files of their own, so that each has its rows in order.
        let mut stay = Partitions::new();
        left.each(env, &mut |key, body| {
            if counts.stays(key, op) {
                stay.push(key, &[body], env)?;
            }
            Ok(true)
        })?;
        drop((left, right, counts));
        for part in stay.finish()?.into_iter().flatten() {
            first_of_each(part, env, runs)?;
        }
        return Ok(());
    }
    drop(counts);
    let mut lefts = Partitions::new();
    let mut rights = Partitions::by(lefts.hasher());
    left.each(env, &mut |key, body| {
        lefts.push(key, &[body], env).map(|()| true)
    })?;
    drop(left);
    if let Some(right) = right {
        right.each(env, &mut |key, _| rights.push(key, &[], env).map(|()| true))?;
    }
    for (left, right) in lefts.finish()?.into_iter().zip(rights.finish()?) {
        if let Some(left) = left {
            filter(left, right, op, env, runs)?;
        }
    }
    Ok(())
}

/// The keys of all rows of a recursive table whose equal rows count once.
#[derive(Default)]
pub(super) struct StepKeys {
    seen: KeyTable,
    files: Option<KeyFiles>,
}

/// Keys that did not fit into memory.
struct KeyFiles {
    hasher: Hasher,
    /// By the number of their part.
    known: Vec<Option<SpillFile>>,
    /// Rows of the current step, which may be known.
    step: Partitions,
    count: u64,
}

impl StepKeys {
    /// Appends a row to those of its step if its key is new, now or at the end of the step.
    pub(super) fn offer(
        &mut self,
        key: &[u8],
        image: &[u8],
        out: &mut RowList,
        env: &StatementEnv,
    ) -> SqlResult<()> {
        if let Some(files) = &mut self.files {
            if self.seen.get(key).is_none() {
                let n = files.count;
                files.count += 1;
                files.step.push(key, &[&n.to_be_bytes(), image], env)?;
            }
            return Ok(());
        }
        if self.seen.insert(key).1 {
            out.push(image, env.table_room(), env)?;
            if self.seen.memory() > env.table_room() {
                env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
                let step = Partitions::new();
                self.files = Some(KeyFiles {
                    hasher: step.hasher(),
                    known: (0..super::partition::PARTS).map(|_| None).collect(),
                    step,
                    count: 0,
                });
            }
        }
        Ok(())
    }

    /// A step has ended: appends its rows whose keys turned out to be new, and makes all of them readable.
    pub(super) fn finish_step(&mut self, out: &mut RowList, env: &StatementEnv) -> SqlResult<()> {
        if let Some(files) = &mut self.files {
            let next = Partitions::by(files.hasher.clone());
            let step = std::mem::replace(&mut files.step, next);
            let mut runs = Spilled::new(env)?;
            for (part, known) in step.finish()?.into_iter().zip(&mut files.known) {
                if let Some(part) = part {
                    new_rows(&part, known, &mut runs, env)?;
                }
            }
            runs.each(env, &mut |c| {
                out.push(c.parts().0, env.table_room(), env).map(|()| true)
            })?;
        }
        out.finish()
    }
}

/// Puts those rows of a file into runs whose keys are not known yet, and makes them known. It takes as many rows at once as
/// fit into memory.
fn new_rows(
    part: &Part,
    known: &mut Option<SpillFile>,
    runs: &mut Spilled,
    env: &StatementEnv,
) -> SqlResult<()> {
    let mut keys = KeyTable::default();
    let mut rows = RowList::default();
    let mut flush = |keys: &mut KeyTable, rows: &mut RowList| -> SqlResult<()> {
        let mut old = vec![false; keys.len()];
        let known = match &mut *known {
            Some(f) => f,
            none => {
                env.status_counts.add(StatusCount::CreatedTmpFiles, 1);
                none.insert(SpillFile::new(&env.tmp_dir)?)
            }
        };
        let mut reader = SpillReader::new(0, known.len());
        let mut key = Vec::new();
        let mut steps = 0u32;
        while reader.read_record(known, &mut key)? {
            steps = steps.wrapping_add(1);
            if steps & 0xff == 0 {
                env.check_interrupt()?;
            }
            if let Some(at) = keys.get(&key) {
                old[at] = true;
            }
        }
        runs.run(env, |runs| {
            let mut at = 0;
            rows.each(env, &mut |mut row| {
                if !old[at] {
                    known.write_record(&[keys.key(at)])?;
                    let n = take_u64(&mut row)?;
                    runs.record(&n.to_be_bytes(), row, &[])?;
                }
                at += 1;
                Ok(true)
            })
        })?;
        known.flush()?;
        keys.clear();
        *rows = RowList::default();
        Ok(())
    };
    part.each(env, &mut |key, body| {
        if keys.insert(key).1 {
            rows.push(body, u64::MAX, env)?;
            if keys.memory() + rows.memory() > env.table_room() {
                flush(&mut keys, &mut rows)?;
            }
        }
        Ok(true)
    })?;
    flush(&mut keys, &mut rows)
}
