//! Foreign keys: parent rows are there when child rows come, and child rows follow when parent rows go or change their keys.
//!
//! Both look at the newest committed rows and the transaction's own, never at its snapshot. A child takes its parent row's lock
//! shared and keeps it, so nobody removes the parent before the child's commit is settled. A transaction that removes a parent
//! holds its lock exclusively when it looks for children, so it sees every child that was there in time.
//!
//! What a cascade changes stands in the log as changes of its own, and the row events say that no foreign keys are to be looked
//! at (`NO_FOREIGN_KEY_CHECKS`): a replica has nothing to find out. A source of MariaDB's logs the parent's change alone, so
//! its events make the cascade happen here ([`ForeignKeyMode::Follow`]).

use crate::catalog::def::{ColumnDef, ForeignAction};
use crate::catalog::foreign::{ForeignKeyMode, index_on, positions, quoted};
use crate::catalog::table::{CompleteRow, Table};
use crate::key::KeyRange;
use crate::locks::types::LockMode;
use crate::store::row::Row;
use crate::txn::reads::ReadView;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::key::encode_value;
use narwal_types::{SqlError, ValueRef};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Cascades within cascades at most, as in InnoDB.
const MAX_DEPTH: u32 = 14;

/// The error of more: a deletion has another one than a change.
fn too_deep(child: &Table, key: usize, deletes: bool) -> EngineError {
    EngineError::Sql(match deletes {
        true => {
            let clause = child.def.foreign_keys[key].clause(&child.def.db);
            let (db, name) = (quoted(&child.def.db), quoted(&child.def.name));
            errors::GET_ERRMSG.with([&193, &format!("{db}.{name}, {clause}"), &"InnoDB"])
        }
        false => errors::FK_DEPTH_EXCEEDED.plain(),
    })
}

fn failed(code: u16, what: &str, child: &Table, key: usize) -> EngineError {
    EngineError::Sql(SqlError::new(
        code,
        b"23000",
        format!(
            "Cannot {what}: a foreign key constraint fails ({}.{}, {})",
            quoted(&child.def.db),
            quoted(&child.def.name),
            child.def.foreign_keys[key].clause(&child.def.db)
        ),
    ))
}

fn has_children(child: &Table, key: usize) -> EngineError {
    failed(
        codes::ROW_IS_REFERENCED_2,
        "delete or update a parent row",
        child,
        key,
    )
}

fn no_parent(child: &Table, key: usize) -> EngineError {
    failed(
        codes::NO_REFERENCED_ROW_2,
        "add or update a child row",
        child,
        key,
    )
}

/// The beginning of an index key that these columns of a row stand for; `None` if one is NULL.
pub(crate) fn prefix(
    row_table: &Table,
    row: &[u8],
    columns: &[usize],
    table: &Table,
    index: usize,
) -> Result<Option<Vec<u8>>> {
    let mut out = Vec::with_capacity(16);
    for (c, part) in columns.iter().zip(&table.indexes[index].parts) {
        let v = row_table.layout.column(row, *c)?;
        if v.is_null() {
            return Ok(None);
        }
        encode_value(v, &table.def.columns[part.column].ty, part, &mut out)?;
    }
    Ok(Some(out))
}

impl Transaction {
    /// What the changes from here on do about foreign keys.
    pub fn set_foreign_keys(&mut self, mode: ForeignKeyMode) {
        self.foreign.mode = mode;
    }

    /// How rows that a cascade changes get the values of their generated columns. Without it such a cascade is refused.
    pub fn regenerate_by(&mut self, regenerate: CompleteRow) {
        self.foreign.regenerate = Some(regenerate);
    }

    /// The image of a row that a cascade has changed, with the values that its generated columns have now.
    fn regenerated(&self, table: &Arc<Table>, image: Vec<u8>) -> Result<Vec<u8>> {
        let generated = |c: &ColumnDef| c.generated.as_ref().is_some_and(|g| !g.late);
        if !table.def.columns.iter().any(generated) {
            return Ok(image);
        }
        let Some(regenerate) = self.foreign.regenerate else {
            return Err(EngineError::Sql(SqlError::unsupported(
                "a cascade to generated columns without SQL",
            )));
        };
        regenerate(table, image).map_err(EngineError::Sql)
    }

    /// True if changes of the table's rows have to look at rows of other tables.
    #[inline]
    pub(crate) fn follows_foreign_keys(&self, table: &Table) -> bool {
        table.counters.referenced.load(Ordering::Relaxed)
            && self.foreign.mode != ForeignKeyMode::Off
    }

    /// Checks that a row's parents are there and locks them, as inserting it would: for rows that get a foreign key. What
    /// refers to its own table is passed over.
    ///
    /// # Errors
    /// 1452, and those of locking.
    pub fn check_foreign_keys(&mut self, table: &Arc<Table>, row: &[u8]) -> Result<()> {
        for (i, key) in table.foreign.iter().enumerate() {
            let def = &table.def.foreign_keys[i];
            let own = def.parent_db == table.def.db && def.parent == table.def.name;
            let mut has_null = false;
            for c in &key.columns {
                has_null |= table.layout.column(row, *c)?.is_null();
            }
            if !own && !has_null {
                self.check_parent(table, row, i)?;
            }
        }
        Ok(())
    }

    /// Before a row comes, or changes (`old`): its parents must be there. They stay locked.
    pub(crate) fn check_parents(
        &mut self,
        table: &Arc<Table>,
        row: &[u8],
        old: Option<&[u8]>,
    ) -> Result<()> {
        if self.foreign.mode != ForeignKeyMode::Check {
            return Ok(());
        }
        for (i, key) in table.foreign.iter().enumerate() {
            let same = |c: &usize| -> Result<bool> {
                Ok(match old {
                    Some(old) => table.layout.column(old, *c)? == table.layout.column(row, *c)?,
                    None => false,
                })
            };
            let mut changed = false;
            let mut has_null = false;
            for c in &key.columns {
                changed |= !same(c)?;
                has_null |= table.layout.column(row, *c)?.is_null();
            }
            if !changed || has_null {
                continue;
            }
            self.check_parent(table, row, i)?;
        }
        Ok(())
    }

    fn check_parent(&mut self, table: &Arc<Table>, row: &[u8], number: usize) -> Result<()> {
        let def = &table.def.foreign_keys[number];
        let key = &table.foreign[number];
        let own = def.parent_db == table.def.db && def.parent == table.def.name;
        let parent = if own {
            table.clone()
        } else {
            match self
                .db
                .catalogs
                .current
                .load()
                .table(&def.parent_db, &def.parent)
            {
                Some(t) => t.clone(),
                None => return Err(no_parent(table, number)),
            }
        };
        self.lock_table(&parent)?;
        let Some(columns) = positions(&parent.def, &def.parent_columns) else {
            return Err(no_parent(table, number));
        };
        let Some(index) = index_on(&parent.indexes, &columns) else {
            return Err(no_parent(table, number));
        };
        let Some(parts) = prefix(table, row, &key.columns, &parent, index)? else {
            return Ok(());
        };
        if own && prefix(table, row, &columns, &parent, index)?.as_ref() == Some(&parts) {
            return Ok(());
        }
        let whole = parent.indexes[index].parts.len() == columns.len();
        if index == 0 && whole {
            if self
                .lock_newest(&parent, &parts, LockMode::Shared)?
                .is_some()
            {
                return Ok(());
            }
            return Err(self.after_reads(no_parent(table, number)));
        }
        if whole && parent.indexes[index].unique {
            // Waits for transactions that insert or remove this value.
            self.lock_key(&parent, index, &parts, LockMode::Shared)?;
        }
        for pk in self.keys_with(&parent, index, &parts)? {
            if let Some(found) = self.lock_newest(&parent, &pk, LockMode::Shared)?
                && prefix(&parent, &found, &columns, &parent, index)?.as_ref() == Some(&parts)
            {
                return Ok(());
            }
        }
        Err(self.after_reads(no_parent(table, number)))
    }

    /// What an error tells is something read: it waits until that is durable.
    fn after_reads(&mut self, e: EngineError) -> EngineError {
        self.wait_reads_durable().err().unwrap_or(e)
    }

    /// Clustered keys of the newest rows whose key in an index begins so.
    fn keys_with(
        &mut self,
        table: &Arc<Table>,
        index: usize,
        parts: &[u8],
    ) -> Result<Vec<Vec<u8>>> {
        let range = KeyRange::prefix(parts.to_vec());
        let mut scan = self.scan(table, index, range, false, ReadView::Current, true)?;
        let mut keys = Vec::new();
        while let Some(item) = scan.next()? {
            keys.push(item.pk.to_vec());
        }
        Ok(keys)
    }

    /// After a row went (`new` is `None`) or changed: what that means for the rows that refer to it. On an error the caller
    /// undoes the row's change, too.
    pub(crate) fn follow(
        &mut self,
        table: &Arc<Table>,
        old: &[u8],
        new: Option<&[u8]>,
    ) -> Result<()> {
        if new.is_none() {
            return self.follow_all(table, old, new);
        }
        self.foreign.changing.push(table.def.id);
        let done = self.follow_all(table, old, new);
        self.foreign.changing.pop();
        done
    }

    fn follow_all(&mut self, table: &Arc<Table>, old: &[u8], new: Option<&[u8]>) -> Result<()> {
        let references = self
            .db
            .catalogs
            .current
            .load()
            .references_to(&table.def.db, &table.def.name);
        for (child, number) in references {
            let def = &child.def.foreign_keys[number];
            let Some(columns) = positions(&table.def, &def.parent_columns) else {
                continue;
            };
            if let Some(new) = new {
                let mut same = true;
                for c in &columns {
                    same &= table.layout.column(old, *c)? == table.layout.column(new, *c)?;
                }
                if same {
                    continue;
                }
            }
            let action = if new.is_some() {
                def.on_update
            } else {
                def.on_delete
            };
            self.follow_one(table, old, new, &columns, &child, number, action)?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn follow_one(
        &mut self,
        table: &Arc<Table>,
        old: &[u8],
        new: Option<&[u8]>,
        columns: &[usize],
        child: &Arc<Table>,
        number: usize,
        action: ForeignAction,
    ) -> Result<()> {
        let key = &child.foreign[number];
        let Some(index) = key.index else {
            return Err(EngineError::Catalog(format!(
                "foreign key {} of {}.{} has no index",
                child.def.foreign_keys[number].name, child.def.db, child.def.name
            )));
        };
        let Some(parts) = prefix(table, old, columns, child, index)? else {
            return Ok(());
        };
        let restrict = matches!(action, ForeignAction::Restrict | ForeignAction::NoAction);
        if restrict && self.foreign.mode == ForeignKeyMode::Follow {
            return Ok(());
        }
        if restrict
            && child.def.id == table.def.id
            && prefix(table, old, &key.columns, child, index)?.as_ref() == Some(&parts)
        {
            // As in InnoDB, a row that refers to itself holds itself back.
            return Err(has_children(child, number));
        }
        self.lock_table(child)?;
        for pk in self.keys_with(child, index, &parts)? {
            let mode = if restrict {
                LockMode::Shared
            } else {
                LockMode::Exclusive
            };
            let Some(row) = self.lock_newest(child, &pk, mode)? else {
                continue;
            };
            if prefix(child, &row, &key.columns, child, index)?.as_ref() != Some(&parts) {
                continue;
            }
            // As in InnoDB, rows of a table that a cascade goes through already can be deleted, not changed once more.
            let goes = action == ForeignAction::Cascade && new.is_none();
            if restrict || !goes && self.foreign.changing.contains(&child.def.id) {
                return Err(self.after_reads(has_children(child, number)));
            }
            self.foreign.depth += 1;
            let done = if self.foreign.depth > MAX_DEPTH {
                Err(too_deep(child, number, new.is_none()))
            } else {
                self.follow_row(table, new, columns, child, number, action, &pk, &row)
            };
            self.foreign.depth -= 1;
            done?;
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn follow_row(
        &mut self,
        table: &Arc<Table>,
        new: Option<&[u8]>,
        columns: &[usize],
        child: &Arc<Table>,
        number: usize,
        action: ForeignAction,
        pk: &[u8],
        row: &Row,
    ) -> Result<()> {
        if action == ForeignAction::Cascade && new.is_none() {
            return self.delete(child, pk, row);
        }
        let mut changes: SmallVec<[(usize, ValueRef<'_>); 4]> = SmallVec::new();
        for (own, parent) in child.foreign[number].columns.iter().zip(columns) {
            let v = match (action, new) {
                (ForeignAction::Cascade, Some(new)) => table.layout.column(new, *parent)?,
                _ => ValueRef::Null,
            };
            if v.is_null() && !child.def.columns[*own].nullable {
                return Err(self.after_reads(has_children(child, number)));
            }
            changes.push((*own, v));
        }
        let mut image = Vec::with_capacity(row.len() + 8);
        child.layout.patch(row, &changes, &mut image)?;
        let image = self.regenerated(child, image)?;
        match self.update(child, pk, row, image) {
            // A unique key of the child is in the way.
            Err(EngineError::Duplicate { .. }) => Err(EngineError::Sql(
                errors::FOREIGN_DUPLICATE_KEY_WITH_CHILD_INFO
                    .with([&table.def.name, &child.def.name]),
            )),
            r => r,
        }
    }
}
