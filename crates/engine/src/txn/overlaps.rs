//! Keys WITHOUT OVERLAPS: rows that are the same in the key's columns before its period form a group, and no two rows of a
//! group have a time in common.
//!
//! A write locks the key of its whole group, exclusively and until its transaction ends. So two transactions that want to put
//! rows into the same time of a group come one after the other, and the second one sees what the first has done. The group's
//! key is the beginning of all keys of its rows, and none of them, so locks of rows and of unique values do not meet it.

use crate::Result;
use crate::catalog::table::Table;
use crate::key::KeyRange;
use crate::txn::reads::ReadView;
use crate::txn::transaction::Transaction;
use narwal_types::key::{encode_from_row, encode_value, successor};
use std::ops::Bound;
use std::sync::Arc;

/// The key of the group that a row belongs to; `None` if a column is NULL: such rows are in nobody's way.
pub(crate) fn group_of(table: &Table, index: usize, row: &[u8]) -> Result<Option<Vec<u8>>> {
    let parts = table.indexes[index].parts_before_period();
    let mut key = Vec::with_capacity(32);
    let has_null = encode_from_row(&table.layout, row, parts, &mut key)?;
    Ok((!has_null).then_some(key))
}

/// The table's keys WITHOUT OVERLAPS.
fn keys_of(table: &Table) -> impl Iterator<Item = usize> {
    let all = table.indexes.iter().enumerate();
    all.filter(|(_, i)| i.without_overlaps).map(|(at, _)| at)
}

impl Transaction {
    /// A row goes: whoever wants its time in its groups waits until that is settled.
    pub(super) fn lock_groups(&mut self, table: &Arc<Table>, row: &[u8]) -> Result<()> {
        keys_of(table).try_for_each(|i| self.lock_group(table, i, row))
    }

    fn lock_group(&mut self, table: &Arc<Table>, index: usize, row: &[u8]) -> Result<()> {
        match group_of(table, index, row)? {
            Some(group) => self.lock_for_write(table.indexes[index].id, &group),
            None => Ok(()),
        }
    }

    /// Locks the groups of a new row and checks that its time is free there. As in MariaDB this comes before all other unique
    /// keys are looked at.
    ///
    /// # Errors
    /// `Duplicate`, and those of locks and reading.
    pub(super) fn check_overlaps(&mut self, table: &Arc<Table>, row: &[u8]) -> Result<()> {
        for i in keys_of(table) {
            self.lock_group(table, i, row)?;
            self.find_overlap(table, i, row, None)?;
        }
        Ok(())
    }

    /// The same for a row that is to replace `old`, whose clustered key is `pk`.
    ///
    /// # Errors
    /// As there.
    pub(super) fn check_new_overlaps(
        &mut self,
        table: &Arc<Table>,
        pk: &[u8],
        old: &[u8],
        new: &[u8],
    ) -> Result<()> {
        for i in keys_of(table) {
            let parts = &table.indexes[i].parts;
            let (mut from, mut to) = (Vec::with_capacity(32), Vec::with_capacity(32));
            encode_from_row(&table.layout, old, parts, &mut from)?;
            encode_from_row(&table.layout, new, parts, &mut to)?;
            if from != to {
                self.lock_group(table, i, old)?;
                self.lock_group(table, i, new)?;
                self.find_overlap(table, i, new, Some(pk))?;
            }
        }
        Ok(())
    }

    /// The same for a row of a table that nobody else writes; `checked`: the keys that are looked at.
    ///
    /// # Errors
    /// `Duplicate`, and those of reading.
    pub(super) fn find_overlaps(
        &mut self,
        table: &Arc<Table>,
        row: &[u8],
        checked: &[usize],
    ) -> Result<()> {
        let mut keys = keys_of(table).filter(|i| checked.contains(i));
        keys.try_for_each(|i| self.find_overlap(table, i, row, None))
    }

    /// Checks that a row's time is free in its group, but for the row `own`.
    fn find_overlap(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        row: &[u8],
        own: Option<&[u8]>,
    ) -> Result<()> {
        let Some(group) = group_of(table, index, row)? else {
            return Ok(());
        };
        let [.., end, start] = &table.indexes[index].parts[..] else {
            return Ok(());
        };
        let ty = |column: usize| &table.layout.columns()[column];
        let encoded = |row: &[u8], column: usize| -> Result<Vec<u8>> {
            let mut key = Vec::with_capacity(8);
            encode_value(
                table.layout.column(row, column)?,
                ty(start.column),
                start,
                &mut key,
            )?;
            Ok(key)
        };
        // The group's rows stand in the order of their ends. The first one that ends behind the new row's start is the only
        // one that can overlap: those behind it begin when it has ended.
        let mut from = group.clone();
        from.extend_from_slice(&encoded(row, start.column)?);
        let Some(first) = successor(&from) else {
            return Ok(());
        };
        let range = KeyRange {
            start: Bound::Included(first),
            end: successor(&group).map_or(Bound::Unbounded, Bound::Excluded),
        };
        let until = encoded(row, end.column)?;
        let mut scan = self.scan(table, index, range, false, ReadView::Current, false)?;
        let mut taken = None;
        while let Some(item) = scan.next()? {
            if own == Some(item.pk) {
                continue;
            }
            if encoded(item.row, start.column)? < until {
                taken = Some(item.pk.to_vec());
            }
            break;
        }
        drop(scan);
        match taken {
            Some(pk) => Err(self.duplicate(table, index, pk)),
            None => Ok(()),
        }
    }
}
