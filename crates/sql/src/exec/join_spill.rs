//! Joins whose kept source does not fit into memory. Its rows go to temporary files by a hash of their keys. If the rows of
//! the sources before it come in one sweep, they are set aside in the same way, and pairs of files are joined one by one
//! (a grace hash join); a pair that is still too large is divided again. Where that can't be, or doesn't help since most rows
//! have one key, the rows are sorted by their keys and looked up in the file.

use super::byte_sorter::ByteSorter;
use super::partition::{Part, Partitions};
use super::sorted_rows::SortedRows;
use super::value_bytes::{put_bytes, take_bytes};
use crate::env::StatementEnv;
use crate::exec::join_run::{Build, Grace, Overflow};
use crate::exec::join_run::{Cache, Next, Run, row_key_of};
use crate::plan::query::{Kept, Node};
use crate::status_counts::StatusCount;
use narwal_engine::Transaction;
use narwal_types::{RowLayout, SqlResult};
use std::rc::Rc;

impl Overflow {
    /// Begins with the rows that there are.
    pub(super) fn of(
        cache: &Cache,
        kept: &Kept,
        layout: &RowLayout,
        env: &StatementEnv,
    ) -> SqlResult<Self> {
        let mut to = match &kept.hash {
            Some(_) => {
                env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
                Overflow::Parts(Partitions::new())
            }
            None => Overflow::Listed(Box::default()),
        };
        let mut key = Vec::new();
        for n in 0..cache.rows.len() {
            let row = cache.rows.get(n);
            if let Some(hash) = &kept.hash {
                row_key_of(hash, layout, row, &mut key)?;
            }
            to.push(&key, row, env)?;
        }
        Ok(to)
    }

    /// Appends a row.
    pub(super) fn push(&mut self, key: &[u8], row: &[u8], env: &StatementEnv) -> SqlResult<()> {
        match self {
            // What the list holds in memory besides the rest of the statement is little.
            Overflow::Listed(list) => list.push(row, env.join_room() / 2, env),
            Overflow::Parts(parts) => parts.push(key, &[row], env),
        }
    }
}

/// Divisions of one pair of files at most.
const MAX_DEPTH: u32 = 5;

/// The rows of files, sorted by their keys.
fn sorted(parts: &[&Part], env: &StatementEnv) -> SqlResult<SortedRows> {
    let mut sorter = ByteSorter::new(env.join_room());
    for part in parts {
        part.each(env, &mut |key, row| {
            sorter.push(key, row, env).map(|()| true)
        })?;
    }
    SortedRows::of(sorter, false, env)
}

impl<'p> Run<'p> {
    /// What becomes of a kept source that did not fit.
    pub(super) fn overflowed(&mut self, i: usize, rows: Overflow) -> SqlResult<Build> {
        let parts = match rows {
            Overflow::Listed(mut list) => {
                list.finish()?;
                return Ok(Build::Listed(*list));
            }
            Overflow::Parts(parts) => parts,
        };
        let probe = Partitions::by(parts.hasher());
        let build = parts.finish()?;
        if !self.comes_in_one_sweep(i) {
            let all: Vec<&Part> = build.iter().flatten().collect();
            return Ok(Build::Sorted(sorted(&all, self.ctx.env)?));
        }
        let before = self.plan.order();
        let before = before.into_iter().take_while(|l| *l != i).collect();
        self.graces.push((
            i,
            Grace {
                build,
                probe,
                before,
            },
        ));
        Ok(Build::Parts)
    }

    /// True if the sources before this one are read through once, and it is joined to their rows.
    fn comes_in_one_sweep(&self, i: usize) -> bool {
        let mut node = &self.plan.root;
        loop {
            match node {
                Node::Leaf(_) => return false,
                Node::Inner { left, right, .. } | Node::Outer { left, right, .. } => {
                    if matches!(**right, Node::Leaf(leaf) if leaf == i) {
                        return true;
                    }
                    node = left;
                }
            }
        }
    }

    /// As [`Run::kept`] for rows that are not all in memory. `key`: that of the current rows.
    pub(super) fn spilled(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        kept: &'p Kept,
        build: &Build,
        key: &[u8],
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let mut row = Vec::new();
        match build {
            Build::Memory(_) => {}
            Build::Parts => {
                self.waits = true;
                self.set_aside(i, key)?;
            }
            Build::Listed(list) => {
                let mut reader = list.reader();
                while reader.next(list, &mut row)? {
                    self.step()?;
                    self.rows[i].set(&row);
                    if self.all(txn, &kept.on)? && !next(self, txn)? {
                        return Ok(false);
                    }
                }
            }
            Build::Sorted(sorted) => {
                let mut reader = sorted.seek(key);
                let mut found = Vec::new();
                while reader.read_record(&sorted.file, &mut found)? {
                    reader.read_record(&sorted.file, &mut row)?;
                    self.step()?;
                    match found.as_slice().cmp(key) {
                        std::cmp::Ordering::Less => continue,
                        std::cmp::Ordering::Equal => {}
                        std::cmp::Ordering::Greater => break,
                    }
                    self.rows[i].set(&row);
                    if self.all(txn, &kept.on)? && !next(self, txn)? {
                        return Ok(false);
                    }
                }
            }
        }
        Ok(true)
    }

    /// Writes the current rows of the sources before one to a file.
    fn set_aside(&mut self, i: usize, key: &[u8]) -> SqlResult<()> {
        let Some((_, grace)) = self.graces.iter_mut().find(|(leaf, _)| *leaf == i) else {
            return Ok(());
        };
        let mut body = Vec::new();
        for l in &*grace.before {
            let row = &self.rows[*l];
            body.push(row.is_row.into());
            put_bytes(if row.is_row { &row.bytes } else { &[] }, &mut body);
        }
        grace.probe.push(key, &[&body], self.ctx.env)
    }

    /// All rows of a node's left side were read: joins those that were set aside. False if `next` had enough.
    pub(super) fn join_parts(
        &mut self,
        txn: &mut Transaction,
        i: usize,
        node: &'p Node,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let Some(at) = self.graces.iter().position(|(leaf, _)| *leaf == i) else {
            return Ok(true);
        };
        let (_, grace) = self.graces.swap_remove(at);
        let before = grace.before;
        for (probe, build) in grace.probe.finish()?.into_iter().zip(grace.build) {
            if let Some(probe) = probe
                && !self.join_pair(txn, (i, node), (build, probe), &before, 1, next)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn join_pair(
        &mut self,
        txn: &mut Transaction,
        (i, node): (usize, &'p Node),
        (build, probe): (Option<Part>, Part),
        before: &[usize],
        depth: u32,
        next: &mut Next<'_, 'p>,
    ) -> SqlResult<bool> {
        let env = self.ctx.env;
        let mut cache = Cache::default();
        let mut fits = true;
        if let Some(build) = &build {
            build.each(env, &mut |key, row| {
                cache.push(Some(key), |to| to.extend_from_slice(row));
                fits = cache.memory() <= env.join_room();
                Ok(fits)
            })?;
        }
        let mut rows = Build::Memory(cache);
        if let (Some(build), false) = (build, fits) {
            // Its memory is needed for the files.
            drop(rows);
            let mut builds = Partitions::new();
            let mut probes = Partitions::by(builds.hasher());
            build.each(env, &mut |key, row| {
                builds.push(key, &[row], env).map(|()| true)
            })?;
            let builds = builds.finish()?;
            let largest = builds.iter().flatten().map(Part::len).max();
            if depth < MAX_DEPTH && largest < Some(build.len() / 4 * 3) {
                drop(build);
                probe.each(env, &mut |key, row| {
                    probes.push(key, &[row], env).map(|()| true)
                })?;
                drop(probe);
                for (probe, build) in probes.finish()?.into_iter().zip(builds) {
                    if let Some(probe) = probe
                        && !self.join_pair(
                            txn,
                            (i, node),
                            (build, probe),
                            before,
                            depth + 1,
                            next,
                        )?
                    {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
            drop(builds);
            rows = Build::Sorted(sorted(&[&build], env)?);
        }
        self.caches[i] = Some(Rc::new(rows));
        let mut more = true;
        probe.each(env, &mut |_, mut body| {
            for l in before {
                let (is_row, rest) = body.split_first().unwrap_or((&0, &[]));
                body = rest;
                self.rows[*l].set(take_bytes(&mut body)?);
                self.rows[*l].is_row = *is_row != 0;
            }
            more = self.right(txn, node, next)?;
            Ok(more)
        })?;
        self.caches[i] = Some(Rc::new(Build::Parts));
        Ok(more)
    }
}
