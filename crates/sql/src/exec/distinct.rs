//! Rows of which equal ones come once: by a hash of their keys, in memory as long as there is room.

use super::key_table::KeyTable;
use super::order::Spilled;
use super::partition::{Part, Partitions};
use super::value_bytes::take_u64;
use crate::env::StatementEnv;
use crate::status_counts::StatusCount;
use narwal_types::SqlResult;

/// The keys that were met. When memory is full the table stays as it is: rows with other keys are set aside in temporary
/// files, and come at the end, in their order.
#[derive(Default)]
pub(super) struct Distinct {
    seen: KeyTable,
    aside: Option<Partitions>,
    /// Number of rows set aside.
    count: u64,
    body: Vec<u8>,
}

impl Distinct {
    /// True if the key is new and its row can be used now. `row`: writes what is needed of it later.
    pub(super) fn offer(
        &mut self,
        key: &[u8],
        env: &StatementEnv,
        row: impl FnOnce(&mut Vec<u8>),
    ) -> SqlResult<bool> {
        let Some(aside) = &mut self.aside else {
            if !self.seen.insert(key).1 {
                return Ok(false);
            }
            if self.seen.memory() > env.table_room() {
                env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
                self.aside = Some(Partitions::new());
            }
            return Ok(true);
        };
        if self.seen.get(key).is_none() {
            self.body.clear();
            self.body.extend_from_slice(&self.count.to_be_bytes());
            self.count += 1;
            row(&mut self.body);
            aside.push(key, &[&self.body], env)?;
        }
        Ok(false)
    }

    /// Hands on the rows that were set aside, each key's first, in the order in which they came. False = enough.
    pub(super) fn finish(
        self,
        env: &StatementEnv,
        f: &mut dyn FnMut(&[u8]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        let Some(aside) = self.aside else {
            return Ok(());
        };
        drop(self.seen);
        let mut runs = Spilled::new(env)?;
        for part in aside.finish()?.into_iter().flatten() {
            first_of_each(part, env, &mut runs)?;
        }
        runs.each(env, &mut |c| f(c.parts().0))
    }
}

/// Writes the first row of each key of a file to runs, sorted by their numbers: a row begins with its number.
pub(super) fn first_of_each(part: Part, env: &StatementEnv, runs: &mut Spilled) -> SqlResult<()> {
    let mut seen = KeyTable::default();
    let mut aside: Option<Partitions> = None;
    runs.run(env, |runs| {
        part.each(env, &mut |key, body| {
            match &mut aside {
                None => {
                    if seen.insert(key).1 {
                        let mut row = body;
                        let n = take_u64(&mut row)?;
                        runs.record(&n.to_be_bytes(), row, &[])?;
                        if seen.memory() > env.table_room() {
                            aside = Some(Partitions::new());
                        }
                    }
                }
                Some(aside) if seen.get(key).is_none() => aside.push(key, &[body], env)?,
                Some(_) => {}
            }
            Ok(true)
        })
    })?;
    drop((part, seen));
    if let Some(aside) = aside {
        for part in aside.finish()?.into_iter().flatten() {
            first_of_each(part, env, runs)?;
        }
    }
    Ok(())
}
