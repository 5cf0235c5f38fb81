//! ANALYZE TABLE: counts the different values of each index.

use crate::env::StatementEnv;
use crate::plan::index_rows::GroupPrefix;
use narwal_engine::{KeyRange, ReadView, Table, TableStats, Transaction};
use narwal_types::SqlResult;
use std::sync::Arc;

/// Reads every index of a table, in the transaction's snapshot.
pub fn analyze(
    txn: &mut Transaction,
    table: &Arc<Table>,
    env: &StatementEnv,
) -> SqlResult<TableStats> {
    let mut stats = TableStats::default();
    for (i, index) in table.indexes.iter().enumerate() {
        let prefixes: Vec<Option<GroupPrefix>> = (1..=index.parts.len())
            .map(|n| GroupPrefix::of(table, i, n))
            .collect();
        let mut counts = vec![0u64; prefixes.len()];
        let mut last: Vec<u8> = Vec::new();
        let mut rows = 0u64;
        let view = ReadView::Snapshot;
        txn.scan(table, i, KeyRange::all(), false, view, true)?
            .each(|item| -> SqlResult<bool> {
                rows += 1;
                if rows & 0xff == 0 {
                    env.check_interrupt()?;
                }
                let own = GroupPrefix::Whole.cut(i, item.key, item.pk)?;
                if rows > 1 && own == last.as_slice() {
                    return Ok(true);
                }
                for (prefix, count) in prefixes.iter().zip(&mut counts) {
                    let Some(prefix) = prefix else { continue };
                    let cut = prefix.cut(i, item.key, item.pk)?;
                    *count += u64::from(rows == 1 || !last.starts_with(cut));
                }
                last.clear();
                last.extend_from_slice(own);
                Ok(true)
            })?;
        if i == 0 {
            stats.rows = rows;
        }
        stats.distinct.push((index.id, counts));
    }
    Ok(stats)
}
