//! What a subquery gave, in memory or temporary files.

use super::byte_sorter::ByteSorter;
use super::order::push_key;
use super::sorted_rows::SortedRows;
use super::value_list::ValueList;
use crate::env::StatementEnv;
use crate::exec::value_list::row_memory;
use crate::expr::compare::compare;
use crate::expr::node::{CmpOp, SubqueryUse};
use crate::status_counts::StatusCount;
use ahash::AHashSet;
use narwal_types::{Collation, SqlResult, Value, ValueRef};
use std::cmp::Ordering;

/// The rows that a subquery gave, as far as what is asked of it needs them.
#[derive(Default)]
pub struct SubqueryRows {
    /// Their values, row by row, unless they are in files. Not all are needed: of a subquery that may give one row, the
    /// first two; of one that is compared with `<` or the like by keys, the smallest, the largest, and a NULL if there is one.
    values: Vec<Value>,
    /// Number of rows, equal ones perhaps counted once.
    rows: usize,
    /// Keys of the rows without NULL, if they are looked up so.
    keys: AHashSet<Vec<u8>>,
    /// Some value is NULL.
    has_null: bool,
    files: Option<Box<Files>>,
}

/// Rows that did not fit into memory.
#[derive(Default)]
struct Files {
    /// All, where keys don't decide each comparison.
    rows: Option<ValueList>,
    keys: Option<SortedRows>,
}

/// Takes the rows of a subquery.
pub(crate) struct SubqueryTaker<'p> {
    used: SubqueryUse,
    collations: &'p [Collation],
    /// Equal values have equal keys.
    by_key: bool,
    /// The smallest and the largest value say all.
    ends: bool,
    out: SubqueryRows,
    memory: u64,
    /// Keys that go to a file.
    sorter: Option<ByteSorter>,
    key: Vec<u8>,
}

impl<'p> SubqueryTaker<'p> {
    /// No rows yet.
    pub(crate) fn new(used: SubqueryUse, collations: &'p [Collation], by_key: bool) -> Self {
        let is_in = matches!(
            used,
            SubqueryUse::Any(CmpOp::Eq) | SubqueryUse::All(CmpOp::Ne)
        );
        let compared = matches!(used, SubqueryUse::Any(_) | SubqueryUse::All(_));
        SubqueryTaker {
            used,
            collations,
            by_key,
            ends: by_key && compared && !is_in && collations.len() == 1,
            out: SubqueryRows::default(),
            memory: 0,
            sorter: None,
            key: Vec::new(),
        }
    }

    /// Takes a row.
    pub(crate) fn push(&mut self, row: &[ValueRef<'_>], env: &StatementEnv) -> SqlResult<()> {
        let out = &mut self.out;
        out.rows += 1;
        let null = row.iter().any(|v| v.is_null());
        let keyed = match self.used {
            SubqueryUse::Exists => return Ok(()),
            SubqueryUse::Value | SubqueryUse::Field(_) | SubqueryUse::Row(_) => {
                // More is an error wherever it is looked at.
                if out.rows <= 2 {
                    out.values.extend(row.iter().map(ValueRef::to_value));
                }
                return Ok(());
            }
            _ if self.ends => {
                self.take_ends(row, env);
                return Ok(());
            }
            SubqueryUse::Any(_) | SubqueryUse::All(_) => self.by_key,
        };
        out.has_null |= null;
        if keyed && !null {
            self.key.clear();
            for (v, c) in row.iter().zip(self.collations) {
                push_key(*v, *c, &mut self.key);
            }
            if let Some(sorter) = &mut self.sorter {
                sorter.push(&self.key, &[], env)?;
            } else if out.keys.insert(self.key.clone()) {
                self.memory += self.key.len() as u64 + 64;
            } else {
                out.rows -= 1;
                return Ok(());
            }
        }
        if out.files.is_none() {
            self.memory += row_memory(row) + 64;
            if self.memory <= env.table_room() {
                out.values.extend(row.iter().map(ValueRef::to_value));
                return Ok(());
            }
            self.spill(row.len(), keyed, env)?;
        }
        // The keys of a single column, and that there are NULLs, say all of it.
        match self.out.files.as_mut().and_then(|f| f.rows.as_mut()) {
            Some(rows) => rows.push(row.iter().copied(), env),
            None => Ok(()),
        }
    }

    /// Keeps the smallest and the largest value.
    fn take_ends(&mut self, row: &[ValueRef<'_>], env: &StatementEnv) {
        let Some(v) = row.first().copied() else {
            return;
        };
        let out = &mut self.out;
        if v.is_null() {
            out.has_null = true;
            return;
        }
        let collation = self.collations.first().copied().unwrap_or_default();
        let is = |kept: &Value, wanted| compare(v, kept.as_ref(), collation, env) == Some(wanted);
        match out.values.as_mut_slice() {
            [] => out.values.extend([v.to_value(), v.to_value()]),
            [least, most, ..] => {
                if is(least, Ordering::Less) {
                    *least = v.to_value();
                } else if is(most, Ordering::Greater) {
                    *most = v.to_value();
                }
            }
            [_] => {}
        }
    }

    /// What is in memory goes to files.
    fn spill(&mut self, width: usize, keyed: bool, env: &StatementEnv) -> SqlResult<()> {
        env.status_counts.add(StatusCount::CreatedTmpDiskTables, 1);
        let out = &mut self.out;
        let mut files = Files::default();
        if keyed {
            let mut sorter = ByteSorter::new(env.table_room());
            for key in std::mem::take(&mut out.keys) {
                sorter.push(&key, &[], env)?;
            }
            self.sorter = Some(sorter);
        }
        if !keyed || width > 1 {
            let mut rows = ValueList::default();
            for row in out.values.chunks(width.max(1)) {
                rows.push(row.iter().map(Value::as_ref), env)?;
            }
            files.rows = Some(rows);
        }
        out.values = Vec::new();
        out.files = Some(Box::new(files));
        Ok(())
    }

    /// All rows were pushed.
    pub(crate) fn finish(self, env: &StatementEnv) -> SqlResult<SubqueryRows> {
        let mut out = self.out;
        if let Some(files) = &mut out.files {
            if let Some(sorter) = self.sorter {
                files.keys = Some(SortedRows::of(sorter, true, env)?);
            }
            if let Some(rows) = &mut files.rows {
                rows.finish()?;
            }
        } else if self.ends && out.has_null {
            // Where the ends don't decide a comparison it is unknown.
            out.values.push(Value::Null);
        }
        Ok(out)
    }
}

impl SubqueryRows {
    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// How many there are, equal ones perhaps counted once.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Some value is NULL.
    pub fn has_null(&self) -> bool {
        self.has_null
    }

    /// The values, row by row; `None` if they are in files.
    pub fn values(&self) -> Option<&[Value]> {
        self.files.is_none().then_some(&self.values)
    }

    /// True if a row without NULL has this key, as [`push_key`] makes it of its values.
    pub(crate) fn has_key(&self, key: &[u8]) -> SqlResult<bool> {
        match self.files.as_ref().and_then(|f| f.keys.as_ref()) {
            Some(keys) => keys.contains(key),
            None => Ok(self.keys.contains(key)),
        }
    }

    /// Calls `f` with the values of each row, which has `width` of them. False = enough.
    pub(crate) fn each(
        &self,
        width: usize,
        f: &mut dyn FnMut(&[Value]) -> SqlResult<bool>,
    ) -> SqlResult<()> {
        if let Some(rows) = self.files.as_ref().and_then(|f| f.rows.as_ref()) {
            let mut values: Vec<Value> = Vec::new();
            return rows.each(&mut |row| {
                values.clear();
                values.extend(row.iter().map(ValueRef::to_value));
                f(&values)
            });
        }
        for row in self.values.chunks(width.max(1)) {
            if !f(row)? {
                break;
            }
        }
        Ok(())
    }
}
