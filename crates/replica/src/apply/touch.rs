//! Which groups must wait for which.

use ahash::RandomState;
use narwal_binlog::{Event, EventReader, event_type};
use narwal_engine::Catalog;
use narwal_engine::apply::{RowKeys, TouchedKeys};
use narwal_session::apply::ApplyOptions;
use std::collections::HashMap;

/// Keys remembered, before those of finished groups are thrown out.
const KEYS: usize = 1 << 16;

#[derive(Debug, Clone, Copy, Default)]
struct TableUse {
    /// The last group that touched it.
    any: u64,
    /// The last group that touched all of it.
    whole: u64,
}

/// The last group to touch each key and table.
pub(super) struct Touched {
    reader: RowKeys,
    group: TouchedKeys,
    last: HashMap<u64, u64, RandomState>,
    tables: HashMap<u64, TableUse, RandomState>,
}

impl Touched {
    pub(super) fn new(options: &ApplyOptions) -> Self {
        Touched {
            reader: RowKeys::new(options.conversions),
            group: TouchedKeys::default(),
            last: HashMap::default(),
            tables: HashMap::default(),
        }
    }

    /// Reads what group number `n` touches. Gives the last group before it that touches something of that; `None` if it
    /// can't be told: the group has to be alone. `done`: all groups up to this one have ended.
    pub(super) fn group(
        &mut self,
        n: u64,
        done: u64,
        catalog: &Catalog,
        options: &ApplyOptions,
        events: &[u8],
    ) -> Option<u64> {
        self.group.clear();
        self.reader.clear();
        if !self.read(catalog, options, events) {
            return None;
        }
        if self.last.len() > KEYS {
            self.last.retain(|_, n| *n > done);
        }
        let mut after = 0;
        for &(table, whole) in &self.group.tables {
            let used = self.tables.entry(table).or_default();
            after = after.max(if whole { used.any } else { used.whole });
            used.any = n;
            if whole {
                used.whole = n;
            }
        }
        for &key in &self.group.keys {
            match self.last.insert(key, n) {
                // A key occurs twice in the group: before and after a change.
                Some(earlier) if earlier != n => after = after.max(earlier),
                _ => {}
            }
        }
        Some(after)
    }

    fn read(&mut self, catalog: &Catalog, options: &ApplyOptions, events: &[u8]) -> bool {
        for event in EventReader::new(events).without_checksums() {
            let Ok(event) = event else { return false };
            match event.header.event_type {
                event_type::TABLE_MAP => {
                    if self.reader.known_map(catalog, event.body) {
                        continue;
                    }
                    let Ok(Event::TableMap(map)) = event.decode() else {
                        return false;
                    };
                    let wanted = options.filter.wants_table(map.db, map.table);
                    if !wanted {
                        self.reader.skip_table(&map);
                    } else if self.reader.table_map(catalog, &map, event.body).is_err() {
                        // What is wrong with it is told by who applies it.
                        return false;
                    }
                }
                event_type::XID | event_type::ANNOTATE_ROWS => {}
                event_type::QUERY => match event.decode() {
                    Ok(Event::Query(q)) if matches!(q.sql, b"BEGIN" | b"COMMIT") => {}
                    _ => return false,
                },
                _ => match event.decode() {
                    Ok(Event::Rows(rows)) => {
                        if !rows.data.is_empty() && !self.reader.rows(&rows, &mut self.group) {
                            return false;
                        }
                    }
                    _ => return false,
                },
            }
        }
        true
    }
}
