//! Lists of GTIDs as text.

use crate::{EngineError, Result};
use narwal_binlog::{Gtid, GtidSet};
use narwal_types::errors;

/// The GTIDs of a list, which may be empty.
pub(crate) fn parse_list(list: &str) -> Result<Vec<Gtid>> {
    let list = list.trim();
    if list.is_empty() {
        return Ok(Vec::new());
    }
    list.split(',')
        .map(|g| g.parse::<Gtid>())
        .collect::<std::result::Result<_, _>>()
        .map_err(|_| EngineError::Sql(errors::INCORRECT_GTID_STATE.plain()))
}

/// Looks whether a list is one; `one_each`: a domain may be named once only.
pub(crate) fn check_list(list: &str, one_each: bool) -> Result<()> {
    let gtids = parse_list(list)?;
    for (i, g) in gtids.iter().enumerate() {
        if let Some(other) = gtids[..i].iter().find(|o| one_each && o.domain == g.domain) {
            return Err(EngineError::Sql(
                errors::DUPLICATE_GTID_DOMAIN.with([&g, &other, &g.domain]),
            ));
        }
    }
    Ok(())
}

/// Looks whether a set of MySQL's GTIDs is one.
pub(crate) fn check_set(set: &str) -> Result<()> {
    set.parse::<GtidSet>()
        .map(drop)
        .map_err(|_| EngineError::Sql(errors::MALFORMED_GTID_SET_SPECIFICATION.with([&set])))
}
