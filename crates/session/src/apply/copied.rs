//! Row events of tables of the schema `mysql` that are made of accounts and programs: they change a copy, and what they have
//! made of it is changed in those at the group's end. The log here gets the statement that the source has told beside its rows.

use super::copied_rows::CopiedRows;
use super::{Applied, Applier, Executed, Group, StatusVars};
use crate::apply_error::ApplyError;
use crate::applying::{Applying, EMPTY_TRANSACTION};
use crate::system_schemas::MYSQL;
use narwal_binlog::TableMap;
use narwal_sql::SqlMode;

fn refused(why: &str) -> ApplyError {
    ApplyError::unsupported(format!(
        "row events of the tables of accounts and programs {why}"
    ))
}

impl Applier {
    /// Takes a table map of such a table; false if it is another one.
    ///
    /// # Errors
    /// 1235 for what has no place in one statement of the log, and those of reading the table.
    pub(super) fn copy_for(&mut self, map: &TableMap<'_>, body: &[u8]) -> Result<bool, ApplyError> {
        let Some(table) = self.session()?.made_table(map.table) else {
            return Ok(false);
        };
        let Some(group) = &mut self.group else {
            return Ok(false);
        };
        let mut rows = match group.copied.take() {
            Some(rows) if rows.ended || rows.name != map.table => {
                return Err(refused("in a transaction of several statements"));
            }
            Some(rows) => rows,
            None => {
                let text = group.annotate.as_deref().ok_or_else(|| {
                    refused(
                        "without their statement (set binlog_annotate_row_events=ON on the source)",
                    )
                })?;
                Box::new(CopiedRows {
                    text: String::from_utf8_lossy(text).into_owned(),
                    copied: self.session()?.copy_for_rows(table)?,
                    name: map.table.to_string(),
                    ended: false,
                })
            }
        };
        rows.ended = false;
        let mapped = self.rows.table_map_to(&rows.copied.copy, map, body);
        if let Some(group) = &mut self.group {
            group.copied = Some(rows);
        }
        mapped.map_err(|e| ApplyError::from(e).on(format!("{MYSQL}.{}", map.table)))?;
        Ok(true)
    }

    /// The end of a group with such rows.
    pub(super) fn take_copied(&mut self, mut group: Group) -> Result<Executed, ApplyError> {
        if let Some(txn) = group.txn.take() {
            if !txn.is_read_only() {
                return Err(refused("together with those of other tables"));
            }
            txn.commit()?;
        }
        if let Some(rows) = group.copied.take() {
            let gtid = self.choice(group.gtid);
            let session = self.fit_session(group.timestamp, MYSQL, &StatusVars::default())?;
            session.applying = Some(Applying {
                gtid,
                origin: group.origin.clone(),
            });
            let taken = session.take_copy(&rows.copied, rows.text.clone());
            session.applying = None;
            taken.map_err(|e| ApplyError::from(e).of(&rows.text))?;
        }
        let nothing = !self.is_logged(&group);
        if nothing {
            self.log_without_effect(&group, EMPTY_TRANSACTION, "", SqlMode::DEFAULT.0, 0)?;
        }
        Ok(Executed::Done(Applied {
            gtid: group.gtid,
            rows: group.rows,
            statement: false,
            nothing,
        }))
    }
}
