//! Sequences.

use super::table;
use crate::ast::{DdlStmt, SequenceOptions};
use narwal_syntax::SqlMode;
use narwal_syntax::ast::ddl::{AlterSequence, CreateSequence, SequenceOption};
use narwal_types::SqlResult;

/// CREATE SEQUENCE.
pub(super) fn create(s: CreateSequence, sql_mode: SqlMode) -> SqlResult<DdlStmt> {
    let mut options = options(s.options);
    options.table = table::options(s.table, sql_mode)?;
    Ok(DdlStmt::CreateSequence {
        temporary: s.temporary,
        or_replace: s.creation.or_replace,
        if_not_exists: s.creation.if_not_exists,
        name: s.name,
        options,
    })
}

/// ALTER SEQUENCE.
pub(super) fn alter(s: AlterSequence) -> DdlStmt {
    DdlStmt::AlterSequence {
        if_exists: s.if_exists,
        name: s.name,
        options: options(s.options),
    }
}

fn options(list: Vec<SequenceOption>) -> SequenceOptions {
    let mut o = SequenceOptions::default();
    for option in list {
        match option {
            SequenceOption::Start(n) => o.start = Some(n),
            SequenceOption::Increment(n) => o.increment = Some(n),
            SequenceOption::Min(n) => o.min = Some(n),
            SequenceOption::Max(n) => o.max = Some(n),
            SequenceOption::Cache(n) => o.cache = Some(n),
            SequenceOption::Cycle(on) => o.cycle = Some(on),
            SequenceOption::Restart(n) => o.restart = Some(n),
        }
    }
    o
}
